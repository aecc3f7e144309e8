"""What is stated at the stop value against what is right: as it is, with doubt, and calibrated.

Each dataset's votes in random orders through the engine itself.  A task takes no more votes once
it is resolved, as with a real stop rule; 5 % of the tasks are gold, take all their votes, and are
left out of the measure.
"""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from connector.domain.records import Record
from connector.pipeline.batch import decoded
from tests.conftest import REPOSITORY

from .folding import Nothing, new_shard
from .stage import Stage
from .table import Cell, Table

GOLD_SHARE = 0.05
ORDERS = 20
DATASETS: dict[str, tuple[float | None, float]] = {
    # Stated minus real accuracy in points, as it was seen by a plain implementation when the
    # method was chosen: without doubt (binary only) and with it.
    "rte": (2.2, -0.2),
    "temp": (2.3, 0.0),
    "product": (0.7, -1.0),
    "sp": (3.7, 1.2),
    "sentiment": (3.1, 0.2),
    "zencrowd": (9.8, 5.1),
    "weather": (None, 7.0),
    "dog": (None, 12.0),
    "music": (None, 9.0),
    "face": (None, 27.0),
}
WAYS = {
    "paper": {"doubt": 0.0, "calibrate": False},
    "doubt": {"doubt": 0.1, "calibrate": False},
    "calibrated": {"doubt": 0.1, "calibrate": True},
}


class Dataset(NamedTuple):
    """Votes (task, worker, label) and the truth of the tasks that have one."""

    kind: str
    classes: list[str]
    votes: list[tuple[str, str, str]]
    truth: dict[str, str]


class Stop(NamedTuple):
    """What one run resolved at the stop value: stated and real share, and how many tasks."""

    stated: float
    right: float
    tasks: int


def measure_confidence(stage: Stage, say: Callable[[str], None], *, quick: bool) -> list[Table]:
    """Gap between stated and real accuracy, dataset by dataset."""
    directory = REPOSITORY.parent / "shared" / "data"
    if not directory.is_dir():
        return [
            Table("confidence", "Stated confidence", ["no datasets"], [], ["No datasets here."])
        ]
    rows: list[list[Cell]] = []
    for name, (without, with_doubt) in DATASETS.items():
        data = read(directory / name)
        found: dict[str, list[Stop]] = {way: [] for way in WAYS}
        for order in range(3 if quick else ORDERS):
            say(f"confidence: {name}, order {order + 1}")
            for way, resolve in WAYS.items():
                stop = one_run(data, resolve, order)
                if stop is not None:
                    found[way].append(stop)
        row: list[Cell] = [name, len(data.classes), without, with_doubt]
        for way in WAYS:
            runs = found[way]
            gap = fmean(s.stated - s.right for s in runs) * 100 if runs else None
            row += [gap, fmean(s.tasks for s in runs) if runs else 0]
        rows.append(row)
    return [
        Table(
            "confidence",
            "Stated minus real accuracy at the 0.95 stop, in points",
            [
                "dataset",
                "classes",
                "expected without",
                "expected with doubt",
                "without",
                "tasks",
                "with doubt",
                "tasks",
                "calibrated",
                "tasks",
            ],
            rows,
            [
                (
                    f"{3 if quick else ORDERS} random orders, {GOLD_SHARE:.0%} of the tasks gold"
                    " and left out; a task takes no votes after it is resolved."
                ),
            ],
        )
    ]


def read(directory: Path) -> Dataset:
    """A dataset; of a repeated (task, worker) the last vote counts."""
    meta = json.loads((directory / "meta.json").read_text())
    votes = {(r["task"], r["worker"]): r["label"] for r in _rows(directory / "labels.csv")}
    truth = {r["task"]: r["label"] for r in _rows(directory / "gold.csv")}
    return Dataset(
        meta["kind"],
        [str(c) for c in meta["classes"]],
        [(task, worker, label) for (task, worker), label in votes.items()],
        truth,
    )


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open() as f:
        yield from csv.DictReader(f)


def one_run(data: Dataset, resolve: Mapping[str, object], order: int) -> Stop | None:
    """One order of the votes; None: nothing was resolved at the stop value."""
    rng = random.Random(order)
    votes = data.votes[:]
    rng.shuffle(votes)
    tasks = sorted(data.truth)
    gold = set(rng.sample(tasks, round(len(tasks) * GOLD_SHARE)))
    shard, storage, offset = new_shard(), Nothing(), 0
    resolved: dict[str, tuple[str, float]] = {}

    def apply(**fields: object) -> None:
        nonlocal offset
        value = json.dumps({"project": "p", **fields}).encode()
        record = Record("annotations", 0, offset, offset, None, value)
        shard.apply(storage, record, decoded([record])[0])
        offset += 1

    apply(
        type="project.declared",
        kind=data.kind,
        classes=data.classes,
        resolve={"confidence": 0.95, **resolve},
    )
    for task in sorted(gold):
        apply(type="task.gold", task=task, label=data.truth[task])
    shard.take_outgoing()
    for task, worker, label in votes:
        if task in resolved:
            continue
        apply(type="annotation.submitted", task=task, worker=worker, label=label)
        for message in shard.take_outgoing():
            said = json.loads(message.value or b"{}")
            if said["type"] == "label.resolved":
                resolved[said["task"]] = (said["label"], said["confidence"])
    measured = [
        (confidence, label == data.truth[task])
        for task, (label, confidence) in resolved.items()
        if task in data.truth and task not in gold
    ]
    if not measured:
        return None
    return Stop(fmean(c for c, _ in measured), fmean(hit for _, hit in measured), len(measured))
