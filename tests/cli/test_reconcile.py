"""`crowdresolve reconcile` as people call it: what it refuses, what it says, its exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from connector.adapters.sql import database, migrate
from connector.adapters.sql.store import open_store
from connector.cli import app, moments
from connector.cli.reconciling import code_of
from connector.domain.errors import ConfigurationError, DependencyError
from connector.reconcile.completed import completed
from connector.reconcile.flags import flags
from connector.reconcile.job import Round
from connector.reconcile.parts import parts
from connector.reconcile.ports import Outcome
from connector.reconcile.result import compute
from connector.reconcile.run import Done
from tests.oracle.fold import Record
from tests.pipeline.folding import folded, records_of
from tests.reconcile.crowds import crowd, snapshot
from tests.reconcile.test_parts import START

Call = Callable[..., Result]
NOWHERE = ("--bootstrap-servers", "127.0.0.1:1", "--kafka", "bootstrap_timeout_ms=300")


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A database with the schema."""
    made = f"sqlite:///{tmp_path}/service.db"
    engine = database.engine(made)
    migrate.ensure(engine)
    engine.dispose()
    return made


@pytest.fixture
def call(url: str) -> Call:
    def called(*arguments: str) -> Result:
        return CliRunner().invoke(app, ["reconcile", *arguments, "--database", url])

    return called


def fold(url: str, values: Sequence[bytes], start: int = 0) -> None:
    log = [Record(0, n, n * 1000, v, None, ()) for n, v in enumerate(values, start)]
    store = open_store(url)
    folded(store, records_of(log), largest=500)
    store.close()


def events(flip: float = 0.2) -> list[bytes]:
    """Eight good workers on 60 tasks, and what declares their project."""
    votes, _ = crowd(2)
    declared = {
        "type": "project.declared",
        "project": "p",
        "kind": "binary",
        "classes": ["a", "b"],
        "reconcile": {"max_flip_fraction": flip},
    }
    submitted = [
        {
            "type": "annotation.submitted",
            "project": "p",
            "task": f"t{i}",
            "worker": f"w{j}",
            "label": "ab"[x],
        }
        for i, j, x in votes
    ]
    return [json.dumps(e).encode() for e in (declared, *submitted)]


def held(url: str) -> None:
    """A run that turns every answer round."""
    votes, truth = crowd(2)
    fold(url, events(0.0))
    result = compute(snapshot(votes, 2), "sorted_sbic")
    result.base[range(len(truth)), truth] = -30.0
    values = list(parts(result, "turned", flags(result)))
    end = completed(result, "turned", len(values), START, START, {"read": 1.0})
    fold(url, [*values, end], start=len(votes) + 1)


def test_it_must_be_told_when(call: Call) -> None:
    for flags_ in ((), ("--once", "--every", "15m")):
        shown = call(*flags_)
        assert shown.exit_code == 2
        assert "give one of --once and --every" in shown.output
    assert call("--every", "soon").exit_code == 2


def test_flags_before_a_command_are_refused_instead_of_ignored() -> None:
    shown = CliRunner().invoke(app, ["reconcile", "--project", "p", "list"])
    assert shown.exit_code == 2
    assert "give it behind `list`" in shown.output


def test_without_a_database_or_a_schema_it_says_what_to_do(tmp_path: Path) -> None:
    for path in (tmp_path / "none.db", tmp_path / "empty.db"):
        if path.name == "empty.db":
            path.touch()
        shown = CliRunner().invoke(
            app, ["reconcile", "--once", "--database", f"sqlite:///{path}", *NOWHERE]
        )
        assert shown.exit_code == 3
        assert "crowdresolve db upgrade" in shown.output


def test_an_unknown_project_is_refused(call: Call) -> None:
    shown = call("--once", "--project", "q", *NOWHERE)
    assert shown.exit_code == 1
    assert "there is no project q" in shown.output


def test_where_nothing_is_due_no_broker_is_needed(call: Call) -> None:
    assert call("--once", *NOWHERE).exit_code == 0


def test_a_broker_that_is_away_is_exit_code_4(call: Call, url: str) -> None:
    fold(url, events())
    shown = call("--once", *NOWHERE)
    assert shown.exit_code == 4, shown.output


def test_the_exit_code_is_the_first_failures() -> None:
    done = Done("p", "r", "cola", Outcome("adopted", None))
    assert code_of(Round([done], {})) == 0
    assert code_of(Round([done], {"a": DependencyError("away")})) == 4
    assert code_of(Round([], {"a": ConfigurationError("x"), "b": DependencyError("y")})) == 3
    assert code_of(Round([], {"a": ZeroDivisionError()})) == 1
    assert code_of(Round([done._replace(algorithm=None)], {})) == 1, "a run that failed"


def test_runs_are_listed_with_what_a_held_one_would_change(call: Call, url: str) -> None:
    held(url)
    shown = call("list").output
    assert "turned" in shown
    assert "max_flip_fraction" in shown
    assert "most certain of its" in shown
    (run,) = json.loads(call("list", "--json").output)
    assert (run["project"], run["run"], run["status"]) == ("p", "turned", "held")
    assert run["changes"]
    assert run["summary"]["tasks"] == 60
    told = [line.split() for line in shown.splitlines() if line.startswith("t")][1:]
    assert [line[:3] for line in told] == [[c["task"], c["from"], c["to"]] for c in run["changes"]]
    assert 0 < len(told) <= 10
    assert run["changed"] > len(told)


def test_only_a_run_that_is_held_can_be_decided_on(call: Call, url: str) -> None:
    held(url)
    shown = call("approve", "nonsense", *NOWHERE)
    assert shown.exit_code == 1
    assert "there is no run nonsense: turned is held" in shown.output
    assert "there is no run turned" in call("reject", "turned", "--project", "q", *NOWHERE).output
    assert call("approve", "turned", *NOWHERE).exit_code == 4


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("15m", 900), ("12h", 43_200), ("7d", 604_800)]
)
def test_a_span_is_a_number_and_a_unit(text: str, seconds: int) -> None:
    assert moments.span(text, "--every") == seconds


@pytest.mark.parametrize("text", ["", "15", "m", "0m", "-1m", "1.5h", "1w"])
def test_anything_else_is_no_span(text: str) -> None:
    with pytest.raises(typer.BadParameter):
        moments.span(text, "--every")
