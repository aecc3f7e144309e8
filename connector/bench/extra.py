"""The libraries of other people that the bench compares with and draws with."""

from __future__ import annotations

from importlib.util import find_spec

from connector.domain.errors import ConfigurationError

NEEDS = {"crowdkit": "Crowd-Kit", "matplotlib": "Matplotlib"}
"""Modules of the extra `bench`, and what they are called."""


def check_extra() -> None:
    """Raise ConfigurationError, naming the extra, where one is missing."""
    missing = [name for module, name in NEEDS.items() if find_spec(module) is None]
    if missing:
        raise ConfigurationError(
            f"the bench needs {' and '.join(missing)}: pip install 'crowdresolve[bench]'"
        )
