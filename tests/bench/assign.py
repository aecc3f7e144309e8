"""Assignments a second in the engine, and how soon a restarted service can assign again."""

from __future__ import annotations

import gc
import json
import random
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from connector.adapters.sql import database, migrate
from connector.adapters.sql.store import SqlStore, open_store
from connector.domain.records import Record, TopicPartition
from connector.domain.rows import Changes, PairRow, ProgressRow, TaskRow, WorkerRow
from connector.engine.messages import Topics
from connector.engine.project import project_id
from connector.engine.shard import Shard
from connector.engine.storage import Storage
from connector.pipeline.batch import decoded, process
from tests.adapters.store import rows as plain

from .crowd import PROJECT, declaration
from .measure import resident_mib
from .stage import Stage
from .table import Cell, Table

SOURCE = TopicPartition("annotations", 0)
CROWD = 200
WINDOW = 50
"""Workers who ask one after the other before they answer."""
OLD = CROWD + 1
PAST = 100_000
PAGE = 10_000
TARGET_S, TARGET_RATIO, TARGET_RATE = 10.0, 2.0, 10_000


def measure_assign(
    stage: Stage, say: Callable[[str], None], *, quick: bool, sizes: tuple[int, ...] = ()
) -> list[Table]:
    """Processor time of assignments at few and at many open tasks, side by side."""
    sizes = sizes or ((10_000, 200_000) if quick else (10_000, 1_000_000))
    rows: list[list[Cell]] = []
    first: float | None = None
    for tasks in sizes:
        found = _measured(stage, say, tasks, asks=1_000 if quick else 5_000)
        first = first or found.crowd_us
        rows.append(
            [
                f"{tasks:,}",
                found.made_s,
                found.mib,
                1e6 / found.crowd_us,
                found.crowd_us,
                found.crowd_us / first,
                found.old_us,
                found.all_seen_us,
            ]
        )
    return [
        Table(
            "assign",
            "Assignments in the engine, by the number of open tasks",
            [
                "open tasks",
                "index made, CPU s",
                "its MiB",
                "assignments/s",
                "µs each",
                "against the first",
                f"µs, {PAST:,} seen before the answer",
                "µs, all seen",
            ],
            rows,
            [
                (
                    f"To reach at a million: at least {TARGET_RATE:,} a second, at most"
                    f" {TARGET_RATIO:g} times as slow as at 10,000; made in under {TARGET_S:g} s."
                ),
                (
                    "Processor time of `worker.available` (one task each) alone, of"
                    f" {CROWD} workers of whom every one answers before they ask again. Made: from"
                    " SQLite, reading included. Of fewer than twice as many tasks the old worker"
                    " has seen half."
                ),
            ],
        )
    ]


class Found(NamedTuple):
    """Of one size."""

    made_s: float
    mib: float
    crowd_us: float
    old_us: float
    all_seen_us: float


def _measured(stage: Stage, say: Callable[[str], None], tasks: int, asks: int) -> Found:
    url = stage.database("SQLite")
    engine = database.engine(url)
    migrate.ensure(engine)
    engine.dispose()
    store = open_store(url)
    try:
        past = min(PAST, tasks // 2)
        _fill(store, tasks, past, lambda done: say(f"assign: {done:,} of {tasks:,} tasks written"))
        shard = Shard(SOURCE, store.progress(SOURCE), Topics(), held=10**9)
        log = _Log(shard.next_offset)
        with store.lookups() as storage:
            gc.collect()
            before, start = resident_mib(), time.process_time()
            _timed(shard, storage, [log.asks(0)])
            made, mib = time.process_time() - start, resident_mib() - before
            say(f"assign: index of {tasks:,} tasks made in {made:.1f} s, {mib:.0f} MiB")
            _timed(shard, storage, [log.asks(w) for w in range(1, CROWD)])
            shard.collect()
            say(f"assign: {asks:,} asks among {tasks:,} tasks")
            spent = 0.0
            shard.take_outgoing()
            for number in range(asks // WINDOW):
                some = [log.asks((number * WINDOW + i) % CROWD) for i in range(WINDOW)]
                spent += _timed(shard, storage, some)
                _timed(shard, storage, list(log.answers(shard)))
            _timed(shard, storage, [log.asks(OLD)])  # what they have seen is read once
            shard.take_outgoing()
            old = _timed(shard, storage, [log.asks(OLD) for _ in range(500)]) / 500
            all_seen = _told_all_seen(shard, storage, log)
    finally:
        store.close()
    return Found(made, mib, spent / asks * 1e6, old * 1e6, all_seen * 1e6)


def _told_all_seen(shard: Shard, storage: Storage, log: _Log) -> float:
    """Seconds to find that somebody has seen all; the seeing itself is not counted."""
    project = shard.projects[PROJECT]
    assert project.desk is not None
    chooser = project.desk.chooser
    assert chooser is not None
    _timed(shard, storage, [log.asks(0)])
    worker = project.worker(storage, "w0")
    assert worker is not None
    for task in range(1, project.task_count + 1):
        chooser.saw(task, worker.id)
    _timed(shard, storage, [log.asks(0)])  # makes the worker's own list, once
    shard.take_outgoing()
    spent = _timed(shard, storage, [log.asks(0) for _ in range(500)]) / 500
    assert all(b"all_seen" in (m.value or b"") for m in shard.take_outgoing())
    return spent


def _timed(shard: Shard, storage: Storage, records: list[Record]) -> float:
    events = decoded(records)
    start = time.process_time()
    for record, event in zip(records, events, strict=True):
        shard.apply(storage, record, event)
    return time.process_time() - start


class _Log:
    """Records that go on from an offset."""

    def __init__(self, offset: int) -> None:
        self.offset = offset
        self._rng = random.Random(0)

    def _record(self, **fields: object) -> Record:
        value = json.dumps({"project": PROJECT, **fields}).encode()
        made = Record(*SOURCE, self.offset, self.offset, None, value)
        self.offset += 1
        return made

    def asks(self, worker: int) -> Record:
        return self._record(type="worker.available", worker=f"w{worker}")

    def answers(self, shard: Shard) -> Iterator[Record]:
        """To all that was assigned since the last time."""
        for message in shard.take_outgoing():
            said = json.loads(message.value or b"{}")
            if said["type"] == "task.assigned":
                yield self._record(
                    type="annotation.submitted",
                    task=said["task"],
                    worker=said["worker"],
                    label=str(self._rng.randrange(2)),
                )


def _fill(store: SqlStore, tasks: int, past: int, say: Callable[[int], None]) -> None:
    """Open tasks of which one worker has seen those that come first by their scores."""
    fold = Shard(SOURCE, None, Topics())
    process(store, fold, [Record(*SOURCE, 0, 0, None, declaration(PROJECT))])
    with store.lookups() as storage:
        row = storage.project(PROJECT)
    assert row is not None
    of, rng = project_id(PROJECT), random.Random(1)
    offset = fold.next_offset
    for first in range(1, tasks + 1, PAGE):
        changes = Changes(SOURCE, ProgressRow(*SOURCE, offset + 1, 0, offset + 1, 1, 0, 0, 0))
        ids = range(first, min(first + PAGE, tasks + 1))
        changes.new_tasks = [_task(of, i, i * 1e-6 if i <= past else rng.random()) for i in ids]
        changes.new_pairs = [_seen(of, i) for i in ids if i <= past]
        if first == 1:
            changes.new_workers = [_worker(of, w) for w in range(OLD + 1)]
            changes.projects = [row._replace(tasks=tasks, workers=OLD + 1)]
        with store.transaction(SOURCE) as transaction:
            transaction.advance(offset, offset + 1)
            transaction.save(changes)
        offset += 1
        if first % (10 * PAGE) == 1:
            say(first - 1)


def _task(of: int, id: int, margin: float) -> TaskRow:
    shown = '{"0":0.5,"1":0.5}'
    name = f"task-{id:07d}"
    return plain.task(id, name, project_id=of, confidence=0.5, probabilities=shown, margin=margin)


def _worker(of: int, number: int) -> WorkerRow:
    return plain.worker(number + 1, f"w{number}", project_id=of, accuracy=0.5)


def _seen(of: int, task: int) -> PairRow:
    return plain.no_vote(task, OLD + 1, project_id=of, voted=False, skipped=True)
