"""The same log gives the same tables and messages to the last bit, however it was folded.

In memory, on SQLite and on PostgreSQL alike; in one batch or many, with everything in memory or
nothing, and read anew from the database as often as one likes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import pytest

from connector.adapters.memory.store import MemoryStore
from connector.adapters.sql import database, migrate, queries
from connector.adapters.sql.store import open_store
from connector.domain.records import Outgoing, Record
from connector.domain.rows import (
    AnnotationRow,
    ClusterRow,
    ConfusionRow,
    DeadRow,
    FlagRow,
    HistoryRow,
    LeaseRow,
    PairRow,
    PartRow,
    ProgressRow,
    ProjectRow,
    RunRow,
    TaskRow,
    WorkerRow,
)
from tests import compare
from tests.engine.plain_chooser import CHOICES
from tests.oracle.fold import PlainFold
from tests.oracle.logs import random_log

from .folding import folded, records_of, sent

KINDS = (
    ProgressRow,
    ProjectRow,
    TaskRow,
    WorkerRow,
    PairRow,
    AnnotationRow,
    HistoryRow,
    LeaseRow,
    DeadRow,
    PartRow,
    RunRow,
    ConfusionRow,
    ClusterRow,
    FlagRow,
)

Tables = dict[str, list[tuple[Any, ...]]]


def bits(value: object) -> object:
    """A double as its bits, so that -0.0 is not 0.0; what a database calls true is true."""
    if isinstance(value, float):
        return struct.pack("<d", value)
    if isinstance(value, bool):
        return int(value)
    return bytes(value) if isinstance(value, memoryview) else value


def tables(table: Callable[[type[Any]], list[Any]]) -> Tables:
    return {
        kind.__name__: sorted((tuple(map(bits, row)) for row in table(kind)), key=repr)
        for kind in KINDS
    }


def in_memory(log: list[Any], **how: Any) -> tuple[Tables, list[Outgoing]]:
    store = MemoryStore()
    messages = folded(store, records_of(log), **how)
    return tables(store.table), messages


def in_database(url: str, log: list[Any], **how: Any) -> tuple[Tables, list[Outgoing]]:
    engine = database.engine(url)
    migrate.ensure(engine)
    store = open_store(url)
    try:
        messages = folded(store, records_of(log), **how)
        return tables(lambda kind: queries.table(engine, kind)), messages
    finally:
        store.close()
        engine.dispose()


@pytest.mark.parametrize("seed", range(6))
def test_batches_restarts_and_evictions_leave_no_trace(seed: int) -> None:
    log = random_log(seed, 500, partitions=1 + seed % 2, runs=0.03)
    whole = in_memory(log, largest=10_000, restarts=0.0)
    assert in_memory(log, largest=1, restarts=0.0) == whole
    assert in_memory(log, largest=20, restarts=1.0, seed=seed) == whole
    assert in_memory(log, largest=60, restarts=0.3, held=0, seed=seed) == whole


@pytest.mark.parametrize("seed", range(6))
def test_an_index_made_lately_or_anew_gives_the_same_tasks(seed: int) -> None:
    log = random_log(seed, 500, partitions=1 + seed % 2, assignments=0.5, choices=CHOICES)
    whole = in_memory(log, largest=10_000, restarts=0.0)
    assert sum(m.topic == "tasks.assigned" for m in whole[1]) > 50
    assert in_memory(log, largest=1, restarts=0.0) == whole
    assert in_memory(log, largest=20, restarts=1.0, seed=seed) == whole
    assert in_memory(log, largest=60, restarts=0.3, held=0, seed=seed) == whole


@pytest.mark.parametrize("seed", [11, 12])
def test_a_database_keeps_what_memory_keeps(seed: int, database_url: str) -> None:
    log = random_log(seed, 300, runs=0.04, assignments=0.3, choices=CHOICES)
    want = in_memory(log, largest=10_000, restarts=0.0)
    assert in_database(database_url, log, largest=40, restarts=0.3, held=0, seed=seed) == want


@pytest.mark.parametrize("seed", [21, 22, 23])
def test_views_equal_the_plain_fold_on_every_database(seed: int, database_url: str) -> None:
    log = random_log(seed, 300, partitions=2, runs=0.04, assignments=0.3, choices=CHOICES)
    fold = PlainFold(choices=CHOICES)
    for record in log:
        fold.feed(record)
    engine = database.engine(database_url)
    migrate.ensure(engine)
    store = open_store(database_url)

    def view(name: str) -> list[dict[str, Any]]:
        columns, rows = queries.view(engine, name)
        return [dict(zip(columns, row, strict=True)) for row in rows]

    try:
        messages = folded(store, records_of(log), seed=seed, restarts=0.1)
        for topic in ("labels.resolved", "tasks.assigned", "annotations.dead"):
            compare.assert_messages(fold, topic, sent(messages, topic))
        compare.assert_views(fold, view)
    finally:
        store.close()
        engine.dispose()


def test_whatever_text_a_run_brings_every_database_shows_it(database_url: str) -> None:
    deep = "[" * 300 + "]" * 300
    free = '{"a":"\\u0000\\ud800","b":' + deep + ',"votes":true,"bound":1e308,"tasks":-1}'
    head = '"project":"p","run":"r\\u0001"'
    failed = '"upto":2,"parts":0,"error":"\\ud800 \\u0000"'
    worker = '{"worker":"w","p":0.5,"flag":"\\u0000","flag_reason":"x"}'
    values = [
        '{"type":"project.declared","project":"p","kind":"binary","classes":["0","1"]}',
        '{"type":"annotation.submitted","project":"p","task":"t","worker":"w","label":"1"}',
        '{"type":"reconciliation.part",' + head + ',"part":0,"workers":[' + worker + "]}",
        '{"type":"reconciliation.part",' + head + ',"part":1,"workers":['
        '{"worker":"w","p":0.5,"flag":"\\ud800","flag_reason":null}]}',
        '{"type":"reconciliation.completed",' + head + ',"upto":2,"parts":1,"algorithm":"x",'
        '"version":"\\u0000","summary":' + free + ',"parameters":' + free + "}",
        '{"type":"reconciliation.completed","project":"p","run":"f",' + failed + "}",
    ]
    records = [
        Record("annotations", 0, n, n * 1000, None, value.encode())
        for n, value in enumerate(values)
    ]
    engine = database.engine(database_url)
    migrate.ensure(engine)
    store = open_store(database_url)
    memory = MemoryStore()
    try:
        folded(memory, records)
        folded(store, records)
        for name in ("reconciliation_runs", "worker_quality", "event_accounting"):
            columns, found = queries.view(engine, name)
            rows = [dict(zip(columns, row, strict=True)) for row in found]
            assert rows == memory.view(name)
        (row,) = memory.view("event_accounting")
        assert (row["applied"], row["dead"]) == (5, 1)
        assert [r["status"] for r in memory.view("reconciliation_runs")] == ["failed", "adopted"]
    finally:
        store.close()
        engine.dispose()
