"""What is found, and in which order."""

from __future__ import annotations

from connector.adapters.sql import database, migrate
from connector.adapters.sql.store import open_store

from .rows import P0, PROJECT, Store, changes, no_vote, pair, project, task, worker


def test_pairs_come_in_order_of_task_and_arrival_and_those_without_a_vote_last(
    store: Store,
) -> None:
    rows = [
        pair(2, 1, arrival=9),
        pair(1, 3, arrival=2),
        no_vote(1, 2),
        pair(1, 4, arrival=1),
        no_vote(1, 1),
        pair(2, 2, arrival=3),
    ]
    with store.transaction(P0) as transaction:
        transaction.advance(0, 1)
        transaction.save(changes(new_tasks=[task(1), task(2)], new_pairs=rows))
        here = transaction.tasks_named(PROJECT, ["t2", "t1"])
    with store.transaction(P0) as transaction:
        later = transaction.tasks_numbered(PROJECT, [2, 1])
    for page in (here, later):
        order = [(row.task_id, row.worker_id) for row in page.pairs]
        assert order == [(1, 4), (1, 3), (1, 1), (1, 2), (2, 2), (2, 1)]


def test_only_what_exists_is_found_once(store: Store) -> None:
    with store.transaction(P0) as transaction:
        transaction.advance(0, 1)
        transaction.save(changes(new_tasks=[task(1), task(2)], new_workers=[worker(1)]))
    with store.transaction(P0) as transaction:
        assert [t.id for t in transaction.tasks_named(PROJECT, ["t2", "t9", "t1"]).tasks] == [1, 2]
        assert [t.id for t in transaction.tasks_numbered(PROJECT, {9, 2}).tasks] == [2]
        assert [w.id for w in transaction.workers_named(PROJECT, ["w1", "w2"])] == [1]
        assert [w.id for w in transaction.workers_numbered(PROJECT, [1, 2])] == [1]
        assert len(transaction.tasks_named(PROJECT, ["t1", "t1"]).tasks) == 1
        assert len(transaction.workers_numbered(PROJECT, [1, 1])) == 1
        for nothing in ([], ["T1"], ["t1 "]):
            assert not transaction.tasks_named(PROJECT, nothing).tasks
        assert not transaction.tasks_numbered(PROJECT, []).pairs
        assert not transaction.workers_numbered(PROJECT, [])
        assert not transaction.annotations(PROJECT, [])
        assert not transaction.tasks_named(PROJECT + 1, ["t1"]).tasks


def test_a_transaction_sees_what_it_has_saved(store: Store) -> None:
    with store.transaction(P0) as transaction:
        transaction.advance(0, 1)
        transaction.save(
            changes(new_tasks=[task(1)], new_workers=[worker(1)], new_pairs=[pair(1, 1)])
        )
        transaction.save(
            changes(
                tasks=[task(1, votes=5)],
                workers=[worker(1, n=5)],
                pairs=[pair(1, 1, x=2)],
                new_pairs=[pair(1, 2, arrival=2)],
                projects=[project()],
            )
        )
        page = transaction.tasks_named(PROJECT, ["t1"])
        assert page.tasks[0].votes == 5
        assert [p.x for p in page.pairs] == [2, 0]
        assert transaction.workers_named(PROJECT, ["w1"])[0].n == 5
        assert transaction.project("rte") == project()


def test_the_tasks_of_a_worker_are_those_with_a_present_vote(store: Store) -> None:
    with store.transaction(P0) as transaction:
        transaction.advance(0, 1)
        rows = [pair(3, 1), pair(1, 1), pair(2, 1), pair(5, 2), no_vote(4, 1)]
        transaction.save(changes(new_pairs=rows))
        assert transaction.task_ids_of(PROJECT, 1) == [1, 2, 3]
    with store.transaction(P0) as transaction:
        transaction.advance(1, 2)
        transaction.save(changes(pairs=[no_vote(2, 1), pair(4, 1)], new_pairs=[pair(6, 1)]))
        assert transaction.task_ids_of(PROJECT, 1) == [1, 3, 4, 6]
    with store.transaction(P0) as transaction:
        assert transaction.task_ids_of(PROJECT, 1) == [1, 3, 4, 6]
        assert transaction.task_ids_of(PROJECT, 9) == []
        assert transaction.task_ids_of(PROJECT + 1, 1) == []


def test_the_number_of_partitions_is_the_first_one_ever_seen(store: Store) -> None:
    assert store.partitions("annotations", 4) == 4
    assert store.partitions("annotations", 6) == 4
    assert store.partitions("other", 6) == 6


def test_a_name_is_looked_up_by_its_index_on_sqlite(sqlite_url: str) -> None:
    """Not by a walk through the project, which would save sorting the few that are found."""
    engine = database.engine(sqlite_url)
    migrate.ensure(engine)
    store = open_store(sqlite_url)
    try:
        with store.lookups() as storage:
            for statement, index in (
                (storage._sql.tasks_named, "tasks_by_name"),
                (storage._sql.workers_named, "workers_by_name"),
            ):
                explain = f"EXPLAIN QUERY PLAN {statement}"
                plan = str(storage._connection.execute(explain, (1, '["a"]')).fetchall())
                assert f"{index} (project_id=? AND name=?)" in plan
    finally:
        store.close()
        engine.dispose()
