"""Labels that somebody has given, with the truth of some tasks: to be asked for once more."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from connector.domain.ids import as_id
from connector.replay.inputs import opened
from connector.replay.rows import rows

from .crowd import Setting, draw
from .errors import Misused
from .uniform import uniform


@dataclass(frozen=True)
class Dataset:
    """Codes count from 0.

    Attributes:
        name: to show.
        classes: K names, in order.
        labels: (task, worker) -> class, every pair once.
        truth: task -> class, of the tasks whose truth is known.
        tasks: how many there are.
        workers: how many.
    """

    name: str
    classes: tuple[str, ...]
    labels: Mapping[tuple[int, int], int]
    truth: Mapping[int, int]
    tasks: int
    workers: int


def read(votes: str, gold: str | None = None) -> Dataset:
    """A dataset from files.

    Args:
        votes: a directory with labels.csv and gold.csv, or a file with the columns task, worker,
            label; of a repeated (task, worker) the last row counts.
        gold: CSV with the columns task and label; by default gold.csv beside the votes.

    Raises:
        Misused: a file lacks what is needed.
        Unreadable: a file.
    """
    place = Path(votes)
    name = place.resolve().name
    if place.is_dir():
        place = place / "labels.csv"
    else:
        name = place.name.split(".")[0]
    found: dict[tuple[str, str], str] = {}
    with opened([place]) as files:
        for row in rows(files[0]):
            try:
                pair = (as_id(row.task), as_id(row.worker))
                label = as_id(row.label)
            except ValueError as error:
                raise Misused(f"{place}, line {row.line}: {error}") from None
            found.pop(pair, None)
            found[pair] = label
    truth = _gold(Path(gold) if gold is not None else place.with_name("gold.csv"))
    names = {*found.values(), *truth.values()}
    numbers = all(n.removeprefix("-").isascii() and n.removeprefix("-").isdigit() for n in names)
    classes = sorted(names, key=int if numbers else None)
    if len(classes) < 2:
        raise Misused(f"{place}: at least two classes are needed, there are {len(classes)}")
    code = {c: x for x, c in enumerate(classes)}
    tasks: dict[str, int] = {}
    workers: dict[str, int] = {}
    labels = {
        (tasks.setdefault(t, len(tasks)), workers.setdefault(w, len(workers))): code[x]
        for (t, w), x in found.items()
    }
    known = {tasks[t]: code[x] for t, x in truth.items() if t in tasks}
    if not known:
        raise Misused(f"{place}: no task with a label has a known truth")
    return Dataset(name, tuple(classes), labels, known, len(tasks), len(workers))


def synthetic(setting: Setting, labels_per_task: int, seed: int) -> Dataset:
    """What a crowd of the one-coin model says where every task is labelled equally often."""
    crowd = draw(setting, labels_per_task, "interleaved", seed)
    task = uniform(crowd, seed)
    pairs = zip(task.tolist(), crowd.arrivals.tolist(), strict=True)
    labels = dict(zip(pairs, crowd.answers(task).tolist(), strict=True))
    truth = dict(enumerate(crowd.truth.tolist()))
    return Dataset("synthetic", ("0", "1"), labels, truth, setting.tasks, len(crowd.accuracy))


def order(data: Dataset, arrival: str, seed: int) -> list[tuple[int, int]]:
    """The pairs (task, worker) in a random order of arrival, of "sessions" worker by worker."""
    random = np.random.default_rng([seed, 2])
    pairs = list(data.labels)
    mixed = [pairs[i] for i in random.permutation(len(pairs)).tolist()]
    if arrival == "sessions":
        turn = random.permutation(data.workers).tolist()
        mixed.sort(key=lambda pair: turn[pair[1]])
    return mixed


def _gold(path: Path) -> dict[str, str]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            if not {"task", "label"} <= set(reader.fieldnames or ()):
                raise Misused(f"{path} needs the columns task and label")
            return {row["task"]: row["label"] for row in reader}
    except OSError as error:
        raise Misused(
            f"the truth is needed to count errors: {path} cannot be read ({error.strerror});"
            " --gold FILE names a CSV with the columns task and label"
        ) from None
