"""All or nothing, and only one of two that begin at the same offset."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from connector.adapters.memory.store import MemoryStore
from connector.domain.errors import DependencyError, Fenced
from connector.domain.records import Cursor, TopicPartition
from connector.domain.rows import PairRow, ProgressRow, ProjectRow, TaskRow, WorkerRow

from .conftest import Database
from .rows import P0, P1, PROJECT, Store, changes, message, pair, project, task, worker, write


class Stop(Exception):
    """A test's own."""


def test_nothing_is_left_of_a_transaction_that_raises(db: Database) -> None:
    store = db.open()
    write(store, 0, 1)
    with pytest.raises(Stop), store.transaction(P0) as transaction:  # noqa: PT012
        transaction.advance(1, 5)
        transaction.save(
            changes(
                projects=[project()],
                new_tasks=[task(1)],
                new_workers=[worker(1)],
                new_pairs=[pair(1, 1)],
                outgoing=[message(1)],
            )
        )
        transaction.trim_outbox(P0, Cursor(0))
        raise Stop
    assert [db.table(kind) for kind in (ProjectRow, TaskRow, WorkerRow, PairRow)] == [[]] * 4
    assert store.outbox(P0, Cursor(0), 10) == []
    assert db.table(ProgressRow) == [ProgressRow("annotations", 0, 1, 0, 0, 0, 0, 0, 0)]
    write(store, 1, 2)


def test_nothing_is_seen_before_the_end_of_a_transaction(db: Database) -> None:
    store, other = db.open(), db.open()
    with store.transaction(P0) as transaction:
        transaction.advance(0, 5)
        transaction.save(changes(outgoing=[message(1)]))
        assert store.outbox(P0, Cursor(0), 10) == []
        assert other.progress(P0) is None
    assert len(other.outbox(P0, Cursor(0), 10)) == 1
    assert other.progress(P0) is not None


def test_a_partition_goes_on_only_from_where_it_is(store: Store) -> None:
    assert store.progress(P0) is None
    write(store, 17, 20)
    for elsewhere in (0, 17, 19, 21):
        with pytest.raises(Fenced, match="not at offset"):
            write(store, elsewhere, 30)
    write(store, 20, 21)
    progress = store.progress(P0)
    assert progress is not None
    assert progress.next_offset == 21
    assert store.progress(P1) is None


def test_a_zombie_writes_nothing(db: Database) -> None:
    zombie, successor = db.open(), db.open()
    write(zombie, 0, 10)
    write(successor, 10, 20)
    with pytest.raises(Fenced):
        write(zombie, 10, 15, new_tasks=[task(1)])
    assert db.table(TaskRow) == []


@pytest.mark.parametrize("expected", [0, 7], ids=["begin", "go_on_with"])
def test_of_two_at_one_offset_of_a_partition_one_is_refused(db: Database, expected: int) -> None:
    if expected:
        write(db.open(), 0, expected)

    def advance(store: Store, at: TopicPartition) -> Iterator[None]:
        with store.transaction(P0) as transaction:
            transaction.advance(expected, expected + 10)
            yield

    assert race(db, advance) == ["done", "fenced"]


def race(db: Database, steps: Callable[[Store, TopicPartition], Iterator[None]]) -> list[str]:
    """Two transactions, both begun before either ends; what became of them.

    Each goes on to its `yield` by itself, and from there when the other has had its time.
    """
    outcomes: list[str] = []
    ready, go = threading.Event(), threading.Event()

    def run(store: Store, at: TopicPartition) -> None:
        try:
            for _ in steps(store, at):
                if at == P0:
                    ready.set()
                    go.wait(5)
        except Fenced:
            outcomes.append("fenced")
        except DependencyError:
            outcomes.append("refused")
        else:
            outcomes.append("done")

    threads = [threading.Thread(target=run, args=(db.open(), at)) for at in (P0, P1)]
    threads[0].start()
    assert ready.wait(5)
    threads[1].start()
    # The second waits for the first one's lock now, or (in memory) has already been done.
    threads[1].join(0.3)
    go.set()
    for thread in threads:
        thread.join(15)
    return sorted(outcomes)


def test_the_loser_may_begin_where_the_winner_gave_up(db: Database) -> None:
    loser, winner = db.open(), db.open()
    with pytest.raises(Stop), winner.transaction(P0) as transaction:  # noqa: PT012
        transaction.advance(0, 10)
        raise Stop
    write(loser, 0, 5)


def test_a_partition_whose_row_vanished_is_not_begun_anew(sql: Database) -> None:
    """Somebody emptied the database under a running process."""
    store = sql.open()
    write(store, 0, 10)
    assert sql.engine is not None
    with sql.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM partition_progress")
    with pytest.raises(Fenced):
        write(store, 10, 20)
    assert store.progress(P0) is None
    write(store, 0, 5)


def test_a_name_belongs_to_the_partition_that_declared_it_first(db: Database) -> None:
    first, second = db.open(), db.open()
    write(first, 0, 1, projects=[project()])
    with pytest.raises(DependencyError, match="another partition"):
        write(second, 0, 1, P1, projects=[project(partition=1)])
    assert second.progress(P1) is None
    assert db.table(ProjectRow) == [project()]


def test_of_two_partitions_that_declare_one_name_at_once_one_is_refused(db: Database) -> None:
    def declare(store: Store, at: TopicPartition) -> Iterator[None]:
        with store.transaction(at) as transaction:
            transaction.advance(0, 1)
            transaction.save(changes(at, projects=[project(partition=at.partition)]))
            yield

    assert race(db, declare) == ["done", "refused"]
    assert len(db.table(ProjectRow)) == len(db.table(ProgressRow)) == 1


def test_two_names_of_one_hash_are_not_mixed_up(sql: Database) -> None:
    store = sql.open()
    write(store, 0, 1, projects=[project()])
    with pytest.raises(DependencyError):
        write(store, 1, 2, projects=[project("other")])
    assert sql.table(ProjectRow) == [project()]


def test_one_name_under_two_numbers_is_refused(sql: Database) -> None:
    store = sql.open()
    write(store, 0, 1, projects=[project()])
    with pytest.raises(DependencyError):
        write(store, 1, 2, projects=[project(id_=PROJECT + 1)])
    write(store, 1, 2)


@pytest.mark.parametrize(
    "absent",
    [
        {"tasks": [task(7)]},
        {"workers": [worker(7)]},
        {"pairs": [pair(7, 7)]},
        {"tasks": [task(i) for i in range(100)]},
    ],
    ids=["task", "worker", "pair", "many"],
)
def test_a_change_to_a_row_that_is_not_there_is_a_bug(
    store: Store, absent: dict[str, list[Any]]
) -> None:
    with pytest.raises(LookupError):
        write(store, 0, 1, P0, **absent)
    assert store.progress(P0) is None


def test_saving_before_the_swap_is_a_bug(store: Store) -> None:
    with pytest.raises(RuntimeError, match="advance"), store.transaction(P0) as transaction:
        transaction.save(changes())


def test_one_transaction_at_a_time(sql: Database) -> None:
    store = sql.open()
    with store.transaction(P0) as transaction:
        with pytest.raises(RuntimeError, match="one at a time"), store.transaction(P1):
            pass
        with pytest.raises(RuntimeError, match="one at a time"):
            store.progress(P0)
        transaction.advance(0, 1)
    assert store.progress(P0) is not None


@pytest.mark.parametrize("place", ["begin", "advance", "save", "commit"])
def test_a_crash_in_memory_leaves_what_was_committed(place: str) -> None:
    store = MemoryStore()
    write(store, 0, 1)

    def crash(at: str) -> None:
        if at == place:
            raise Stop

    store.hook = crash
    with pytest.raises(Stop):
        write(store, 1, 2, new_tasks=[task(1)], outgoing=[message(1)])
    assert store.table(TaskRow) == []
    assert store.outbox(P0, Cursor(0), 9) == []
    progress = store.progress(P0)
    assert progress is not None
    assert progress.next_offset == 1


def test_a_crash_in_memory_after_the_commit_leaves_all() -> None:
    store = MemoryStore()

    def crash(at: str) -> None:
        if at == "committed":
            raise DependencyError("unknown outcome")

    store.hook = crash
    with pytest.raises(DependencyError):
        write(store, 0, 2, new_tasks=[task(1)], outgoing=[message(1)])
    assert len(store.table(TaskRow)) == 1
    assert len(store.outbox(P0, Cursor(0), 9)) == 1
