"""Runs made by hand, adopted through the real broker and database, killed on the way."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from connector.adapters.sql import database, queries
from tests.oracle.fold import Record
from tests.oracle.logs import random_log
from tests.pipeline.test_to_the_last_bit import KINDS, bits
from tests.replay.files import wrapped, write_jsonl

from .crowd import encoded
from .deployment import Deployment
from .test_kill import died_at

Deploy = Callable[..., Deployment]


def project(name: str = "p", **more: Any) -> bytes:
    """Two votes resolve nothing; no run is held."""
    sections = {"resolve": {"confidence": 0.75}, "reconcile": {"max_flip_fraction": 1}}
    kind = {"kind": "binary", "classes": ["0", "1"]}
    return encoded(type="project.declared", project=name, **kind, **(sections | more))


def votes(tasks: int, each: int = 2, start: int = 0, project: str = "p") -> list[bytes]:
    return [
        encoded(
            type="annotation.submitted",
            project=project,
            task=t,
            worker=(t * each + k) % (tasks // 4 + each),
            label=(t + k) % 2,
        )
        for t in range(start, start + tasks)
        for k in range(each)
    ]


def parts(name: str, tasks: int, size: int = 4_000) -> list[bytes]:
    """A run that is sure of every task's class, another one for each."""
    head = {"type": "reconciliation.part", "project": "p", "run": name}
    bases = [{"task": t, "base": [0.0, 12.0 if t % 3 else -12.0]} for t in range(tasks)]
    workers = [{"worker": w, "p": 0.55 + w % 40 / 100} for w in range(tasks // 4 + 2)]
    found: list[dict[str, Any]] = [{"tasks": bases[at : at + size]} for at in range(0, tasks, size)]
    found.append({"workers": workers})
    return [encoded(**head, part=n, **part) for n, part in enumerate(found)]


def end(name: str, upto: int, parts: int) -> bytes:
    kind = {"type": "reconciliation.completed", "project": "p", "algorithm": "cola"}
    return encoded(**kind, run=name, upto=upto, parts=parts)


def killed_while_adopting(d: Deployment, name: str, tasks: int, *, passes: int = 1) -> list[bytes]:
    """All but the run's end is consumed; the process that reads that dies at the failpoint."""
    log = [project(), *votes(tasks)]
    upto = len(log)
    found = parts("r", tasks)
    log += found
    first = d.run(CROWDRESOLVE_INSTANCE="one")
    d.send(log)
    d.wait_applied(len(log))
    d.wait_published()
    assert first.terminate() == 0
    second = d.run(CROWDRESOLVE_INSTANCE="one", CROWDRESOLVE_FAILPOINT=f"{name}:{passes}")
    late = [end("r", upto, len(found)), *votes(20, start=3)]
    d.send(late)
    died_at(second, name)
    return log + late


def then_it_is_exact(d: Deployment, log: list[bytes]) -> None:
    third = d.run(CROWDRESOLVE_INSTANCE="one")
    d.wait_applied(len(log))
    d.wait_published()
    assert third.terminate() == 0
    fold = d.assert_exact()
    (run,) = fold.reconciliation_runs()
    assert run["status"] == "adopted"


@pytest.mark.parametrize(
    "name", ["after_apply", "before_database_commit", "after_database_commit", "after_send"]
)
def test_killed_while_a_run_is_adopted_at(name: str, deploy: Deploy, postgres_url: str) -> None:
    d = deploy(postgres_url)
    log = killed_while_adopting(d, name, 60)
    then_it_is_exact(d, log)


def test_killed_on_sqlite_while_a_run_is_adopted(deploy: Deploy, sqlite_url: str) -> None:
    d = deploy(sqlite_url)
    log = killed_while_adopting(d, "before_database_commit", 60)
    then_it_is_exact(d, log)


def test_a_run_with_more_messages_than_a_kafka_transaction_is_killed_in_between(
    deploy: Deploy, postgres_url: str
) -> None:
    d = deploy(postgres_url)
    log = killed_while_adopting(d, "after_send", 21_000, passes=2)
    seen = d.read(d.resolved, now=True)
    assert len(seen) == 20_000, "the first transaction is out, the second is not"
    then_it_is_exact(d, log)


def test_a_replay_of_a_log_with_runs_gives_the_same_tables_and_messages(
    deploy: Deploy, postgres_url: str, tmp_path: Path
) -> None:
    """It needs nothing but the log."""
    d = deploy(postgres_url)
    log = [r.value for r in random_log(8, 500, cloudevents=0.0, runs=0.03)]
    process = d.run("--batch-size", "60")
    d.send(log)
    d.wait_applied(len(log))
    d.wait_published()
    assert process.terminate() == 0
    d.assert_exact()
    assert "adopted" in {row["status"] for row in d.rows("reconciliation_runs")}

    records = [
        Record(r.partition, r.offset, r.timestamp, r.value, r.key, tuple(r.headers))
        for r in d.read(d.annotations)
    ]
    file = write_jsonl(tmp_path / "log.jsonl", wrapped(records))
    replayed, events = f"sqlite:///{tmp_path / 'replayed.db'}", tmp_path / "events.jsonl"
    d.command("replay", str(file), "--database", replayed, "--events-out", str(events))
    assert tables(replayed) == tables(postgres_url)
    lines = [json.loads(line) for line in events.read_text().splitlines()]
    values = [m["value"] for m in lines if m["topic"] == d.resolved]
    published = [json.loads(r.value) for r in d.read(d.resolved)]
    assert len(values) == len(published)
    for task in {(m["project"], m["task"]) for m in published}:
        mine, theirs = (
            [
                {**m, "cause": m["cause"]["offset"]}
                for m in found
                if (m["project"], m["task"]) == task
            ]
            for found in (values, published)
        )
        assert mine == theirs


def tables(url: str) -> dict[str, Any]:
    """Every table's rows that do not name the topic, doubles by their bits."""
    engine = database.engine(url)
    try:
        return {
            kind.__name__: [tuple(map(bits, row)) for row in queries.table(engine, kind)]
            for kind in KINDS
            if "topic" not in kind._fields
        }
    finally:
        engine.dispose()
