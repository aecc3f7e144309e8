"""What is put in comes out the same, to the last bit."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from connector.domain.records import Cursor
from connector.domain.rows import (
    AnnotationRow,
    DeadRow,
    HistoryRow,
    PairRow,
    ProgressRow,
    ProjectRow,
    TaskRow,
    WorkerRow,
)
from connector.engine.storage import RecordRow

from .conftest import Database
from .rows import (
    DOUBLES,
    LARGEST,
    NAMES,
    P0,
    PROJECT,
    SMALLEST,
    Store,
    annotation,
    changes,
    message,
    no_vote,
    pair,
    project,
    task,
    worker,
)


def bits(rows: Any) -> Any:
    """The rows with each double as its bytes: -0.0 is not 0.0 then, and True is not 1."""
    if isinstance(rows, float):
        return struct.pack(">d", rows)
    if isinstance(rows, tuple | list):
        return type(rows).__name__ if not rows else [bits(value) for value in rows]
    return type(rows), rows


TASKS = [
    task(
        i,
        name,
        priority=DOUBLES[i % len(DOUBLES)],
        max_labels=2**31 - 1,
        prior=struct.pack("<8d", *DOUBLES),
        base=bytes(range(256)),
        run=LARGEST,
        withdrawn=True,
        truth=999,
        status="confident",
        label=2,
        confidence=DOUBLES[-1 - i % len(DOUBLES)],
        probabilities='{"\u00c4":1e-300}',
        votes=LARGEST,
        version=7,
        algorithm="cola",
        resolved_at=LARGEST,
        updated_at=SMALLEST,
        record_z=DOUBLES[i % len(DOUBLES)],
        record_hit=i % 2 == 0,
        record_seq=i,
    )
    for i, name in enumerate(NAMES, 1)
]
WORKERS = [
    worker(
        i,
        name,
        S=DOUBLES[i % len(DOUBLES)],
        n=LARGEST,
        accuracy=DOUBLES[(i + 1) % len(DOUBLES)],
        lower=DOUBLES[(i + 2) % len(DOUBLES)],
        upper=DOUBLES[(i + 3) % len(DOUBLES)],
        blocked=i % 2 == 0,
        block_reason=name if i % 3 else None,
        resolved_votes=LARGEST,
        agreed=i,
        mark=100,
        updated_at=1,
    )
    for i, name in enumerate(NAMES, 1)
]
PAIRS = [
    pair(
        1,
        i,
        x=i % 3,
        p=value,
        arrival=i,
        offset=LARGEST,
        revision=SMALLEST,
        at=0,
        annotation_id=NAMES[i],
        voted=i % 2 == 0,
        skipped=i % 3 == 0,
        gone=i % 5 == 0,
        gone_revision=LARGEST,
        gone_at=1,
    )
    for i, value in enumerate(DOUBLES, 1)
]


@pytest.mark.parametrize("many", [False, True], ids=["few", "many"])
def test_rows_come_back_bit_for_bit(store: Store, many: bool) -> None:
    """Many rows take another way into PostgreSQL than few."""
    fillers = range(100, 200) if many else range(0)
    tasks = TASKS + [task(i) for i in fillers]
    workers = WORKERS + [worker(i) for i in fillers]
    pairs = PAIRS + [pair(1, i, arrival=i) for i in fillers]
    with store.transaction(P0) as transaction:
        transaction.advance(0, 1)
        transaction.save(changes(new_tasks=tasks, new_workers=workers, new_pairs=pairs))
    with store.transaction(P0) as transaction:
        found = transaction.tasks_named(PROJECT, [t.name for t in tasks])
        assert bits(found.tasks) == bits(tasks)
        assert bits(found.pairs) == bits(pairs)
        found = transaction.tasks_numbered(PROJECT, [t.id for t in tasks])
        assert bits(found.tasks) == bits(tasks)
        by_name = transaction.workers_named(PROJECT, [w.name for w in workers])
        assert bits(by_name) == bits(workers)
        by_id = transaction.workers_numbered(PROJECT, [w.id for w in workers])
        assert bits(by_id) == bits(workers)


@pytest.mark.parametrize("many", [False, True], ids=["few", "many"])
def test_changed_rows_replace_all_but_the_name(store: Store, many: bool) -> None:
    fillers = range(100, 200) if many else range(0)
    ids = [*range(1, len(NAMES) + 1), *fillers]
    named = dict(enumerate(NAMES, 1))
    with store.transaction(P0) as transaction:
        transaction.advance(0, 1)
        transaction.save(
            changes(
                new_tasks=[task(i, named.get(i)) for i in ids],
                new_workers=[worker(i, named.get(i)) for i in ids],
                new_pairs=[pair(1, i, arrival=i) for i in ids],
            )
        )
    with store.transaction(P0) as transaction:
        transaction.advance(1, 2)
        transaction.save(changes(tasks=TASKS, workers=WORKERS, pairs=PAIRS))
    with store.transaction(P0) as transaction:
        some = range(1, 100)
        assert bits(transaction.tasks_numbered(PROJECT, some).tasks) == bits(TASKS)
        assert bits(transaction.workers_numbered(PROJECT, some)) == bits(WORKERS)
        pairs = [p for p in transaction.tasks_numbered(PROJECT, [1]).pairs if p.worker_id < 9]
        assert bits(pairs) == bits(PAIRS)


def test_a_value_can_be_taken_away_again(store: Store) -> None:
    with store.transaction(P0) as transaction:
        transaction.advance(0, 1)
        transaction.save(changes(new_tasks=TASKS, new_pairs=PAIRS))
        transaction.save(changes(tasks=[task(1, NAMES[0])], pairs=[no_vote(1, 1)]))
        page = transaction.tasks_numbered(PROJECT, [1])
    assert bits(page.tasks) == bits([task(1, NAMES[0])])
    assert bits([p for p in page.pairs if p.worker_id == 1]) == bits([no_vote(1, 1)])


def test_projects_come_back_and_are_replaced(store: Store) -> None:
    first = project(b=DOUBLES[0], gold_lower=-0.0, gold_upper=1e308, gold_stated=0.1)
    second = first._replace(b=-0.0, arrivals=LARGEST, uses="[1]", gold_lower=None, declared_at=5)
    for step, row in enumerate((first, second)):
        with store.transaction(P0) as transaction:
            assert transaction.project("nobody") is None
            transaction.advance(step, step + 1)
            transaction.save(changes(projects=[row]))
            assert bits(transaction.project("rte")) == bits(row)
        with store.transaction(P0) as transaction:
            assert bits(transaction.project("rte")) == bits(row)


def test_annotations_come_back_and_are_replaced(store: Store) -> None:
    rows = [
        annotation(
            name,
            task_id=None if i % 2 else LARGEST,
            worker_id=i,
            gone=i % 3 == 0,
            gone_revision=SMALLEST,
            gone_at=i,
        )
        for i, name in enumerate(sorted(NAMES))
    ]
    with store.transaction(P0) as transaction:
        transaction.advance(0, 1)
        transaction.save(changes(annotations=[annotation(name) for name in NAMES[:5]]))
        transaction.save(changes(annotations=rows))
    with store.transaction(P0) as transaction:
        found = transaction.annotations(PROJECT, [*NAMES, "nobody's"])
        assert bits(found) == bits(rows)
        assert list(transaction.annotations(PROJECT + 1, NAMES)) == []


def test_history_and_dead_letters_come_back(db: Database) -> None:
    history = [HistoryRow(PROJECT, 1, i, i, v, v, v) for i, v in enumerate(DOUBLES)]
    dead = [
        DeadRow("annotations", 0, i, i, "invalid_json", name, -1) for i, name in enumerate(NAMES)
    ]
    store = db.open()
    with store.transaction(P0) as transaction:
        transaction.advance(0, 1)
        transaction.save(changes(history=history, dead=dead))
    assert bits(db.table(HistoryRow)) == bits(history)
    assert bits(db.table(DeadRow)) == bits(dead)


def test_messages_come_back_bit_for_bit(store: Store) -> None:
    every = bytes(range(256))
    messages = [
        message(0, key=None, value=None, headers=()),
        message(0, 1, topic="annotations.dead", key=b"", value=b"", headers=(("", None),)),
        message(
            LARGEST, LARGEST, key=every, value=every * 5000, headers=(("Ä", every), ("Ä", b""))
        ),
    ]
    more = [message(i) for i in range(1, 100)]
    with store.transaction(P0) as transaction:
        transaction.advance(0, 1)
        transaction.save(changes(outgoing=messages[:2]))
        transaction.save(changes(outgoing=[*more, messages[2]]))
    assert bits(store.outbox(P0, Cursor(0), 1000)) == bits([*messages[:2], *more, messages[2]])


def test_what_no_database_can_keep_of_free_text_is_replaced(db: Database) -> None:
    told = "nul \0 half \ud800 and \udfff whole \U0001f600"
    kept = "nul \ufffd half \ufffd and \ufffd whole \U0001f600"
    store = db.open()
    with store.transaction(P0) as transaction:
        transaction.advance(0, 1)
        transaction.save(
            changes(
                dead=[DeadRow("annotations", 0, 0, 0, "invalid_json", told, 1)],
                new_workers=[worker(1, blocked=True, block_reason=told)],
            )
        )
        transaction.save(changes(workers=[worker(1, blocked=False, block_reason=told)]))
    assert db.table(DeadRow)[0].message == kept
    assert db.table(WorkerRow)[0].block_reason == kept


def test_counters_are_kept_and_the_offset_is_the_swaps(db: Database) -> None:
    store = db.open()
    counted = ProgressRow("annotations", 0, 999, LARGEST, 6, 1, 2, 3, 0)
    with store.transaction(P0) as transaction:
        transaction.advance(0, 6)
        transaction.save(changes(progress=counted))
    assert store.progress(P0) == counted._replace(next_offset=6)
    assert db.table(ProgressRow) == [counted._replace(next_offset=6)]


def test_calibration_records_come_in_order_of_their_last_update(store: Store) -> None:
    gold = [
        task(i, truth=0, record_z=DOUBLES[i], record_hit=i == 2, record_seq=10 - i)
        for i in range(1, 4)
    ]
    with store.transaction(P0) as transaction:
        transaction.advance(0, 1)
        transaction.save(changes(new_tasks=[*gold, task(4)]))
        expected = [RecordRow(i, DOUBLES[i], i == 2, 10 - i) for i in (3, 2, 1)]
        assert bits(transaction.calibration_records(PROJECT)) == bits(expected)
    with store.transaction(P0) as transaction:
        assert bits(transaction.calibration_records(PROJECT)) == bits(expected)
        transaction.advance(1, 2)
        transaction.save(changes(tasks=[task(3), gold[1]._replace(record_seq=20)]))
        found = transaction.calibration_records(PROJECT)
        assert [(row.task_id, row.place) for row in found] == [(1, 9), (2, 20)]
        assert list(transaction.calibration_records(PROJECT + 1)) == []


def test_a_thousand_rows_of_each_kind_are_all_found(db: Database) -> None:
    store = db.open()
    ids = range(1, 1001)
    with store.transaction(P0) as transaction:
        transaction.advance(0, 1)
        transaction.save(
            changes(
                new_tasks=[task(i) for i in ids],
                new_workers=[worker(i) for i in ids],
                new_pairs=[pair(i, i, arrival=i) for i in ids],
                annotations=[annotation(f"a{i}") for i in ids],
                projects=[project()],
            )
        )
    with store.transaction(P0) as transaction:
        page = transaction.tasks_named(PROJECT, [f"t{i}" for i in ids])
        assert [t.id for t in page.tasks] == list(ids)
        assert [p.task_id for p in page.pairs] == list(ids)
        assert len(transaction.workers_named(PROJECT, [f"w{i}" for i in ids])) == 1000
        assert len(transaction.annotations(PROJECT, [f"a{i}" for i in ids])) == 1000
    sizes = {kind: len(db.table(kind)) for kind in (TaskRow, WorkerRow, PairRow, AnnotationRow)}
    assert set(sizes.values()) == {1000}
    assert db.table(ProjectRow) == [project()]
