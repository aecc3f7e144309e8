"""What the job reads is what the log says, by the plain fold; and it is of one moment."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Engine

from connector.adapters.sql import database, migrate, snapshots, vote_columns
from connector.adapters.sql.snapshots import SqlReader
from connector.adapters.sql.store import open_store
from connector.domain.records import TopicPartition
from tests.oracle.fold import PlainFold, Record
from tests.oracle.logs import random_log
from tests.pipeline.folding import folded, records_of


def fold_into(engine: Engine, log: Sequence[Record]) -> PlainFold:
    store = open_store(engine.url.render_as_string(hide_password=False))
    try:
        folded(store, records_of(log))
    finally:
        store.close()
    fold = PlainFold()
    for record in log:
        fold.feed(record)
    return fold


def script(*events: dict[str, Any]) -> list[Record]:
    return [
        Record(0, n, n * 1000, json.dumps({"project": "p", **e}).encode(), None, ())
        for n, e in enumerate(events)
    ]


def vote(task: str, worker: str, label: str, **more: Any) -> dict[str, Any]:
    return {"type": "annotation.submitted", "task": task, "worker": worker, "label": label, **more}


DECLARED = {"type": "project.declared", "kind": "binary", "classes": ["n", "y"]}


@pytest.mark.parametrize("seed", [1, 2])
def test_it_holds_the_counting_votes_in_order_of_arrival(engine: Engine, seed: int) -> None:
    fold = fold_into(engine, random_log(seed, 1200, tasks=25, workers=12))
    reader = SqlReader(engine)
    seen = 0
    for name, project in fold.projects.items():
        s = reader.snapshot(name)
        want = sorted(
            (v.offset, task.name, v.worker, v.label)
            for task in project.tasks.values()
            for v in task.votes
            if not project.workers[v.worker].blocked
        )
        got = [
            (s.tasks[i], s.workers[j], s.config.classes[x])
            for i, j, x in zip(s.task.tolist(), s.worker.tolist(), s.label.tolist(), strict=True)
        ]
        assert got == [row[1:] for row in want]
        known = {
            s.tasks.index(t.name): s.config.classes.index(t.gold)
            for t in project.tasks.values()
            if t.gold is not None and t.name in s.tasks
        }
        assert dict(s.truth) == known
        own = {s.tasks[i] for i in s.priors}
        assert own == {
            t.name for t in project.tasks.values() if t.prior is not None and t.name in s.tasks
        }
        assert s.upto == reader.next_offset(s.partition)
        seen += len(got)
    assert seen > 50


def test_the_priors_are_the_tasks_own(engine: Engine) -> None:
    fold_into(
        engine,
        script(
            DECLARED,
            {"type": "task.added", "task": "t2", "prior": [1, 3]},
            vote("t1", "w1", "y"),
            vote("t2", "w1", "n"),
        ),
    )
    s = SqlReader(engine).snapshot("p")
    assert list(s.tasks) == ["t2", "t1"]
    np.testing.assert_allclose(np.exp(s.log_prior), [[0.25, 0.75], [0.5, 0.5]])


def test_a_snapshot_is_of_one_moment(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written between its votes and its names is not in it."""
    log = script(DECLARED, *(vote(f"t{n}", "w1", "y") for n in range(5)))
    fold_into(engine, log)
    more = script(
        DECLARED,
        *(vote(f"t{n}", "w1", "y") for n in range(5)),
        {"type": "task.gold", "task": "t0", "label": "n"},
        {"type": "worker.blocked", "worker": "w1"},
        vote("t9", "w9", "n"),
    )[len(log) :]
    read = vote_columns.vote_columns

    def between(*arguments: Any) -> Any:
        found = read(*arguments)
        store = open_store(engine.url.render_as_string(hide_password=False))
        folded(store, records_of(more))
        store.close()
        return found

    monkeypatch.setattr(snapshots, "vote_columns", between)
    s = SqlReader(engine).snapshot("p")
    assert (s.upto, s.V, dict(s.truth), list(s.workers)) == (6, 5, {}, ["w1"])
    monkeypatch.undo()
    s = SqlReader(engine).snapshot("p")
    assert (s.upto, s.V, list(s.workers)) == (9, 1, ["w9"])


def test_many_votes_come_in_blocks_and_progress_is_told(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vote_columns, "PAGE", 7)
    votes = [vote(f"t{n % 9}", f"w{n // 9}", "yn"[n % 2]) for n in range(100)]
    fold_into(engine, script(DECLARED, *votes))
    told: list[tuple[int, int]] = []
    s = SqlReader(engine).snapshot("p", lambda done, total: told.append((done, total)))
    assert s.V == 100
    assert len(told) > 10
    assert told[-1] == (100, 100)
    assert [s.tasks[i] for i in s.task] == [v["task"] for v in votes]


def mark_after(engine: Engine, *events: dict[str, Any]) -> Any:
    fold_into(engine, script(DECLARED, *events))
    (standing,) = SqlReader(engine).standings("p")
    return standing.mark


BEFORE = [vote("t1", "w1", "y", annotation_id="a"), vote("t2", "w1", "n"), vote("t3", "w2", "y")]


@pytest.mark.parametrize(
    ("event", "due_at_five"),
    [
        (vote("t4", "w1", "y"), False),
        (vote("t2", "w1", "y"), False),
        ({"type": "annotation.retracted", "annotation_id": "a"}, False),
        ({"type": "annotation.skipped", "task": "t1", "worker": "w1"}, False),
        ({"type": "task.gold", "task": "t1", "label": "n"}, True),
        ({"type": "worker.blocked", "worker": "w2"}, True),
        ({**DECLARED, "classes": ["n", "y"], "model": {"worker_prior": [3, 1]}}, True),
    ],
    ids=["vote", "replaced", "retracted", "skipped", "gold", "blocked", "declared"],
)
def test_every_change_of_the_votes_makes_a_run_due(
    tmp_path: Any, event: dict[str, Any], due_at_five: bool
) -> None:
    marks = []
    for name, events in (("one", BEFORE), ("two", [*BEFORE, event])):
        engine = database.engine(f"sqlite:///{tmp_path}/{name}.db")
        migrate.ensure(engine)
        marks.append(mark_after(engine, *events))
        engine.dispose()
    before, after = marks
    assert not before.due(before, 1)
    assert after.due(before, 1)
    assert after.due(before, 5) == due_at_five


def test_what_changes_no_vote_makes_no_run_due(tmp_path: Any) -> None:
    engine = database.engine(f"sqlite:///{tmp_path}/p.db")
    migrate.ensure(engine)
    before = mark_after(engine, *BEFORE)
    engine.dispose()
    engine = database.engine(f"sqlite:///{tmp_path}/q.db")
    migrate.ensure(engine)
    again = {"type": "task.added", "task": "t9"}
    after = mark_after(engine, *BEFORE, BEFORE[0], again, {"type": "nonsense"})
    engine.dispose()
    assert not after.due(before, 1)


def test_a_project_without_votes_is_never_due(engine: Engine) -> None:
    mark = mark_after(engine, {"type": "task.gold", "task": "t1", "label": "y"})
    assert not mark.due(None, 1)


def test_standings_say_where_a_project_lives(engine: Engine) -> None:
    fold_into(engine, script({**DECLARED, "reconcile": {"algorithm": "cola"}}, *BEFORE))
    (standing,) = SqlReader(engine).standings()
    assert standing.project == "p"
    assert standing.partition == TopicPartition("annotations", 0)
    assert (standing.algorithm, standing.next_offset) == ("cola", 4)
    assert (standing.leased, standing.awaited, standing.in_doubt) == (False, False, False)
