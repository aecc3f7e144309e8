"""Memory over a long run of new tasks, and how soon a project with many tasks is at work again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from connector.adapters.sql import database, migrate
from connector.adapters.sql.store import open_store
from connector.domain.records import Record, TopicPartition
from connector.engine.messages import Topics
from connector.engine.shard import Shard
from connector.pipeline.batch import process

from .crowd import PROJECT, declaration
from .folding import BATCH
from .measure import resident_mib
from .stage import Stage
from .table import Cell, Table

HELD = 50_000
POINTS = 10
WORKERS = 300
SOURCE = TopicPartition("annotations", 0)


def measure_memory(
    stage: Stage, say: Callable[[str], None], *, quick: bool, tasks: int | None = None
) -> list[Table]:
    """Resident memory as new tasks come, with a bound on what is held."""
    tasks = tasks or (100_000 if quick else 1_000_000)
    url = stage.database("SQLite")
    engine = database.engine(url)
    migrate.ensure(engine)
    engine.dispose()
    store = open_store(url)
    rows: list[list[Cell]] = []
    try:
        shard = new_shard()
        process(store, shard, [_record(0, declaration(PROJECT))])
        for done in range(0, tasks, BATCH):
            process(store, shard, list(new_tasks(done, BATCH)))
            reached = done + BATCH
            if reached % (tasks // POINTS) == 0:
                say(f"memory: {reached:,} of {tasks:,} tasks")
                rows.append([f"{reached:,}", resident_mib()])
        start = time.perf_counter()
        again = Shard(SOURCE, store.progress(SOURCE), Topics(), held=HELD)
        process(store, again, list(new_tasks(tasks, BATCH)))
        seconds = time.perf_counter() - start
    finally:
        store.close()
    size = Path(url.removeprefix("sqlite:///")).stat().st_size / 2**20
    return [
        Table(
            "memory",
            "Resident memory over a run of new tasks",
            ["tasks", "MiB"],
            rows,
            [
                (
                    f"At most {HELD:,} objects are held; {size / tasks * 1e6:,.0f} MiB on the disk"
                    " a million tasks of one vote each (SQLite)."
                ),
                (
                    f"A shard made anew over these {tasks:,} tasks has folded its first batch of"
                    f" {BATCH:,} after {seconds:.2f} s."
                ),
            ],
        )
    ]


def new_shard() -> Shard:
    """An empty one that holds as much as the measurement says."""
    return Shard(SOURCE, None, Topics(), held=HELD)


def new_tasks(first: int, count: int) -> Iterator[Record]:
    """One vote on each of so many tasks that nobody has seen."""
    for task in range(first, first + count):
        value = (
            b'{"type":"annotation.submitted","project":"%s","task":"task-%07d",'
            b'"worker":"worker-%03d","label":"%d"}'
            % (PROJECT.encode(), task, task * 7 % WORKERS, task % 2)
        )
        yield _record(task + 1, value)


def _record(offset: int, value: bytes) -> Record:
    return Record(SOURCE.topic, SOURCE.partition, offset, offset * 1000, None, value)
