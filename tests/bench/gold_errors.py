"""Every dataset through the engine, one run on top, and what gold says of both."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime

import msgspec
from sqlalchemy import Engine

from connector.adapters.sql import database, migrate, queries
from connector.adapters.sql.snapshots import SqlReader
from connector.adapters.sql.store import SqlStore, open_store
from connector.bench.datasets import Dataset
from connector.domain.records import Record, TopicPartition
from connector.engine.messages import Topics
from connector.engine.shard import Shard
from connector.pipeline.batch import process
from connector.reconcile.completed import completed
from connector.reconcile.flags import flags
from connector.reconcile.parts import parts
from connector.reconcile.result import compute

from .datasets import DATASETS
from .stage import Stage
from .table import Cell

QUICK = ("rte", "web", "birds", "dog")
SOURCE = TopicPartition("annotations", 0)
BATCH = 1000

_encode = msgspec.json.encode


def errors(stage: Stage, say: Callable[[str], None], *, quick: bool) -> list[list[Cell]]:
    """A row a dataset."""
    rows = []
    for name in DATASETS.names():
        if quick and name not in QUICK:
            continue
        data = DATASETS.read(name)
        if len(data.gold):
            say(f"reconcile: {name}: {len(data.votes):,} votes")
            rows.append(_row(stage, data.shuffled(0)))
    return rows


def _row(stage: Stage, data: Dataset) -> list[Cell]:
    url = stage.database("SQLite")
    engine = database.engine(url)
    migrate.ensure(engine)
    store = open_store(url)
    try:
        shard = Shard(SOURCE, None, Topics())
        offsets = itertools.count()
        _fold(store, shard, offsets, _log(data))
        before = _labels(engine)
        begin = time.perf_counter()
        result = compute(SqlReader(engine).snapshot(data.name), "auto")
        seconds = time.perf_counter() - begin
        values = list(parts(result, "run", flags(result)))
        now = datetime.now(UTC)
        _fold(store, shard, offsets, [*values, completed(result, "run", len(values), now, now, {})])
        columns, runs = queries.view(engine, "reconciliation_runs")
        (run,) = (dict(zip(columns, row, strict=True)) for row in runs)
        after = _labels(engine)
    finally:
        store.close()
        engine.dispose()
    return [
        data.name,
        data.kind,
        len(data.votes),
        len(data.gold),
        100.0 * _error(before, data),
        100.0 * _error(after, data),
        str(run["algorithm"]),
        int(run["changed"]),
        seconds,
    ]


def _log(data: Dataset) -> Iterator[bytes]:
    yield _encode(
        {
            "type": "project.declared",
            "project": data.name,
            "kind": data.kind,
            "classes": data.classes,
            "reconcile": {"max_flip_fraction": 1.0},
        }
    )
    for task, worker, label in data.votes.itertuples(index=False):
        names = {"project": data.name, "task": task, "worker": worker, "label": label}
        yield _encode({"type": "annotation.submitted", **names})


def _fold(store: SqlStore, shard: Shard, offsets: Iterator[int], values: Iterable[bytes]) -> None:
    rest = iter(values)
    while batch := list(itertools.islice(rest, BATCH)):
        records = [
            Record(SOURCE.topic, SOURCE.partition, at, at * 1000, None, value)
            for value, at in zip(batch, offsets, strict=False)
        ]
        process(store, shard, records)


def _labels(engine: Engine) -> dict[str, str]:
    columns, rows = queries.view(engine, "task_labels")
    task, label = columns.index("task"), columns.index("label")
    return {row[task]: row[label] for row in rows}


def _error(labels: dict[str, str], data: Dataset) -> float:
    wrong = sum(labels.get(str(task)) != truth for task, truth in data.gold.items())
    return float(wrong) / len(data.gold)
