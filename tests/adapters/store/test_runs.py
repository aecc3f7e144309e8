"""Runs: their parts, their ends, and what they say of workers, the same from every store."""

from __future__ import annotations

import json

from connector.domain.rows import ClusterRow, ConfusionRow, FlagRow, PartRow

from .conftest import Database
from .rows import P0, PROJECT, Store, changes, project, run, worker, write
from .test_views import TIME, US, only


def test_views_of_a_run(db: Database) -> None:
    store = db.open()
    confusions = [
        ConfusionRow(PROJECT, 1, "no", "no", 6.0),
        ConfusionRow(PROJECT, 1, "no", "yes", 2.0),
        ConfusionRow(PROJECT, 1, "yes", "yes", 5.0),
        ConfusionRow(PROJECT, 2, "no", "no", 0.0),
    ]
    write(
        store,
        0,
        1,
        projects=[project()],
        new_workers=[worker(1), worker(2)],
        found=[PROJECT],
        confusions=confusions,
        clusters=[
            ClusterRow(PROJECT, 3, "no", "no", 1.0),
            ClusterRow(PROJECT, 3, "no", "Ä", 3.0),
        ],
        flags=[FlagRow(PROJECT, 1, 3, "spammer", "always the same")],
        runs=[run(1, "r1", status="held", parameters='{"k":[1]}', started_at=US)],
    )
    shown = [tuple(row.values()) for row in db.view("worker_confusion", "rte")]
    assert shown == [
        ("rte", "w1", "no", "no", 6.0, 0.75),
        ("rte", "w1", "no", "yes", 2.0, 0.25),
        ("rte", "w1", "yes", "yes", 5.0, 1.0),
        ("rte", "w2", "no", "no", 0.0, None),
    ]
    shown = [tuple(row.values()) for row in db.view("cluster_confusion")]
    assert shown == [("rte", 3, "no", "no", 1.0, 0.25), ("rte", 3, "no", "Ä", 3.0, 0.75)]
    first, second = db.view("worker_quality")
    assert (first["cluster"], first["flag"], first["flag_reason"]) == (
        3,
        "spammer",
        "always the same",
    )
    assert second["flag"] is None
    row = only(db.view("reconciliation_runs"))
    assert (row["run"], row["upto"], row["status"], row["started_at"]) == ("r1", 99, "held", TIME)
    assert json.loads(row["parameters"]) == {"k": [1]}
    assert row["finished_at"] is row["changed"] is None
    assert (row["changes"], row["durations"], row["tasks"]) == ("[]", "{}", 7)


def test_what_a_later_run_says_replaces_what_an_earlier_said(db: Database) -> None:
    store = db.open()
    write(
        store,
        0,
        1,
        projects=[project()],
        new_workers=[worker(1), worker(2)],
        found=[PROJECT],
        confusions=[ConfusionRow(PROJECT, 1, "no", "no", 6.0)],
        clusters=[ClusterRow(PROJECT, 3, "no", "no", 1.0)],
        flags=[FlagRow(PROJECT, 1, 3, "spammer", "\0always")],
        runs=[run(1, "r1", status="held", reason="\0 too many")],
    )
    assert only(db.view("reconciliation_runs"))["reason"] == "\ufffd too many"
    write(
        store,
        1,
        2,
        found=[PROJECT],
        confusions=[ConfusionRow(PROJECT, 2, "no", "no", 4.0)],
        flags=[FlagRow(PROJECT, 2, 1, None, None)],
        runs=[run(1, "r1", status="rejected")],
    )
    assert [row["worker"] for row in db.view("worker_confusion")] == ["w2"]
    assert db.view("cluster_confusion") == []
    assert [row["cluster"] for row in db.view("worker_quality")] == [None, 1]
    assert only(db.view("reconciliation_runs"))["status"] == "rejected"


def test_parts_wait_for_the_end_of_their_run_and_go_with_it(store: Store) -> None:
    parts = [PartRow(PROJECT, name, n, 10 + n, b"%d" % n) for name in ("a", "b") for n in (2, 0)]
    write(store, 0, 1, projects=[project()], new_parts=parts)
    with store.lookups() as storage:
        heads = [("a", 0, 10), ("a", 2, 12), ("b", 0, 10), ("b", 2, 12)]
        assert sorted(storage.waiting_parts(PROJECT)) == heads
        assert list(storage.part_bodies(PROJECT, "a")) == [b"0", b"2"]
        assert storage.run(PROJECT, "a") is None
    write(store, 1, 2, runs=[run(5, "b")], dropped=[(PROJECT, "a", 12)])
    with store.transaction(P0) as transaction:
        transaction.advance(2, 3)
        assert transaction.run(PROJECT, "b") == run(5, "b")
        assert transaction.waiting_parts(PROJECT) == []
        assert list(transaction.part_bodies(PROJECT, "b")) == [b"0", b"2"]
        assert list(transaction.part_bodies(PROJECT, "a")) == []
        transaction.save(changes(dropped=[(PROJECT, "b", 11)], new_parts=parts[:1]))
        assert list(transaction.part_bodies(PROJECT, "b")) == [b"2"]
        assert list(transaction.part_bodies(PROJECT, "a")) == [b"2"]
