"""What a vote costs as one worker's history grows: it must not matter."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from statistics import median

from connector.domain.records import Record
from connector.pipeline.batch import decoded

from .crowd import declaration
from .folding import Nothing, new_shard
from .stage import Stage
from .table import Cell, Table

OTHERS = 4
"""Votes of other workers on each task."""
WINDOW = 2000
"""Votes of the one worker that one figure is made of."""
TARGET = 1.2


def measure_history(stage: Stage, say: Callable[[str], None], *, quick: bool) -> list[Table]:
    """Processor time a vote of a worker with 100 votes behind them, and with 100,000."""
    longest = 20_000 if quick else 100_000
    shard, storage, offset = new_shard(), Nothing(), 0
    say("history: one worker, growing")

    def record(task: int, worker: str) -> Record:
        nonlocal offset
        value = json.dumps(
            {
                "type": "annotation.submitted",
                "project": "bench",
                "task": task,
                "worker": worker,
                "label": str((task + len(worker)) % 2),
            }
        ).encode()
        made = Record("annotations", 0, offset, offset * 1000, None, value)
        offset += 1
        return made

    project = json.loads(declaration("bench"))
    declared = Record("annotations", 0, 0, 0, None, json.dumps(project).encode())
    offset = 1
    shard.apply(storage, declared, decoded([declared])[0])
    marks = [m for m in (100, 1000, 10_000, 50_000, 100_000) if m <= longest]
    rows: list[list[Cell]] = []
    task, first = 0, None
    for mark in marks:
        while task < mark:
            for worker in (*(f"w{(task * 7 + i) % 300}" for i in range(OTHERS)), "the one"):
                r = record(task, worker)
                shard.apply(storage, r, decoded([r])[0])
            task += 1
            if task % 1000 == 0:
                shard.collect()
        costs = []
        for _ in range(WINDOW // 100):
            # The others' votes come first, uncounted: the one meets tasks of one and the same kind.
            mine = []
            for _ in range(100):
                for i in range(OTHERS):
                    r = record(task, f"w{(task * 7 + i) % 300}")
                    shard.apply(storage, r, decoded([r])[0])
                mine.append(record(task, "the one"))
                task += 1
            events = decoded(mine)
            start = time.process_time()
            for r, event in zip(mine, events, strict=True):
                shard.apply(storage, r, event)
            costs.append((time.process_time() - start) / len(mine) * 1e6)
        shard.collect()
        first = first or median(costs)
        rows.append([f"{mark:,}", median(costs), median(costs) / first])
        say(f"history: {mark:,} votes")
    return [
        Table(
            "history",
            "Cost of a vote as its worker's history grows",
            ["votes before", "µs of processor time", "against 100"],
            rows,
            [f"To reach: at most {TARGET}. The votes alone, {OTHERS} others on each task."],
        )
    ]
