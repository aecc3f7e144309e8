"""Leases, and what an index of open tasks is made from."""

from __future__ import annotations

from connector.domain.rows import LeaseRow

from .conftest import Database
from .rows import (
    P0,
    P1,
    PROJECT,
    Store,
    lease,
    no_vote,
    pair,
    project,
    task,
    worker,
    write,
)


def test_a_lease_is_there_until_it_ends(db: Database, store: Store) -> None:
    write(
        store,
        0,
        1,
        projects=[project()],
        new_tasks=[task(1), task(2)],
        new_workers=[worker(1)],
        new_leases=[lease(1, 1), lease(2, 1, expires_at=2**60)],
    )
    with store.lookups() as storage:
        found = sorted(storage.leases(*P0))
    assert [h.row for h in found] == [lease(1, 1), lease(2, 1, expires_at=2**60)]
    assert [h[1:] for h in found] == [("rte", "t1", "w1"), ("rte", "t2", "w1")]
    with store.lookups() as storage:
        assert not storage.leases(*P1)
    write(store, 1, 2, ended_leases=[lease(1, 1)])
    assert db.table(LeaseRow) == [lease(2, 1, expires_at=2**60)]


def test_a_lease_can_end_and_another_of_the_pair_begin_in_one_batch(
    db: Database, store: Store
) -> None:
    write(store, 0, 1, new_leases=[lease(1, 1)])
    again = lease(1, 1, lease="annotations/0/9/0", expires_at=5)
    write(store, 1, 2, ended_leases=[lease(1, 1)], new_leases=[again])
    assert db.table(LeaseRow) == [again]


def test_open_leases_use_up_budget(db: Database, store: Store) -> None:
    write(store, 0, 1, projects=[project(pairs=7)], new_leases=[lease(1, 1), lease(2, 1)])
    (row,) = db.view("project_progress")
    assert row["budget_used"] == 9


def test_tasks_in_brief_come_page_by_page(store: Store) -> None:
    rows = [task(i, priority=i / 2, margin=0.1 * i, withdrawn=i == 2) for i in range(1, 6)]
    write(store, 0, 1, new_tasks=rows)
    with store.lookups() as storage:
        first = list(storage.brief_tasks(PROJECT, 0, 3))
        rest = list(storage.brief_tasks(PROJECT, 3, 3))
        assert not storage.brief_tasks(PROJECT, 5, 3)
        assert not storage.brief_tasks(PROJECT + 1, 0, 3)
    assert [tuple(row) for row in first + rest] == [
        (r.id, r.name, r.priority, None, r.withdrawn, "open", 0, r.margin) for r in rows
    ]


def test_a_worker_has_seen_what_they_voted_on_or_skipped(store: Store) -> None:
    rows = [
        pair(1, 1),
        no_vote(2, 1),
        no_vote(3, 1, voted=False, skipped=True),
        no_vote(4, 1, voted=False),
        pair(5, 2),
    ]
    write(store, 0, 1, new_pairs=rows)
    with store.lookups() as storage:
        assert sorted(storage.seen_task_ids(PROJECT, 1)) == [1, 2, 3]
        assert sorted(storage.seen_task_ids(PROJECT, 9)) == []
