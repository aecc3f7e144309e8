"""What the stop rule and the policy save against the same number of labels for every task.

Given labels are asked for once more: workers come in random order, each with the labels that they
have in the dataset and no others, and get the task that the service would give them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from aggregators import FastSBIC, MajorityVote
from aggregators.base import TIE
from connector.engine.choosing import NO_OPEN_TASK, Chooser, Rules

from .crowd import ARRIVALS, Arrival
from .dataset import Dataset, order
from .errors import Misused
from .parallel import Progress, each, silent
from .stopping import Board, configured

STOPS = (0.8, 0.9, 0.95, 0.99)
FIXED = ("majority", "fast_sbic")
COLUMNS = ("dataset", "way", "arrival", "setting", "run", "labels_per_task", "error")


class Point(NamedTuple):
    """One run; the fields are the columns of the CSV.

    Attributes:
        way: "uncertainty" or "uniform" (with the stop rule), or the method of a fixed overlap.
        setting: the confidence that resolves a task, or how many labels every task gets.
        labels_per_task: mean of the labels used.
    """

    dataset: str
    way: str
    arrival: Arrival
    setting: float
    run: int
    labels_per_task: float
    error: float


@dataclass(frozen=True)
class Plan:
    """What to run.

    Attributes:
        runs: orders of arrival per dataset.
        seed: of them.
        stops: confidences at which a task resolves.
        policies: "uncertainty", "uniform".
        arrival: as in `crowd.draw`.
        probes: as in a project file, of the policy "uncertainty".
        kind: of the classes; by default binary for two, else categorical.
    """

    runs: int = 5
    seed: int = 0
    stops: Sequence[float] = STOPS
    policies: Sequence[str] = ("uncertainty", "uniform")
    arrival: Arrival = "interleaved"
    probes: Literal["auto"] | int = "auto"
    kind: str | None = None

    def __post_init__(self) -> None:
        if self.arrival not in ARRIVALS:
            raise Misused(f"there is no arrival {self.arrival!r}; there are {', '.join(ARRIVALS)}")
        if not all(0.0 < c < 1.0 for c in self.stops):
            raise Misused("confidences lie between 0 and 1")


class _Job(NamedTuple):
    data: Dataset
    plan: Plan
    run: int


def saved(
    datasets: Sequence[Dataset], plan: Plan, processes: int = 1, progress: Progress = silent
) -> list[Point]:
    """All runs of all datasets, in order."""
    jobs = [_Job(data, plan, run) for data in datasets for run in range(plan.runs)]
    return [point for points in each(_run, jobs, processes, progress) for point in points]


def asked(
    data: Dataset, pairs: Sequence[tuple[int, int]], plan: Plan, policy: str, stop: float, seed: int
) -> Board:
    """Where the project stands once nobody who comes can be given anything more."""
    kind = plan.kind or ("binary" if len(data.classes) == 2 else "categorical")
    config = configured(
        kind,
        data.classes,
        resolve={"confidence": stop},
        assign={"policy": policy, "probes": plan.probes, "gold_rate": 0.0},
    )
    board = Board(config, data.tasks, data.workers)
    chooser = Chooser(Rules.of(config, seed))
    chooser.fill(((t + 1, board.facts(t)) for t in range(data.tasks)), {})
    # Nobody can be asked for a label that the dataset does not have.
    has: dict[int, set[int]] = {}
    for task, worker in pairs:
        has.setdefault(worker, set()).add(task + 1)
    every = set(range(1, data.tasks + 1))
    given = [0] * data.workers
    for _, worker in pairs:
        if not chooser.knows(worker + 1):
            chooser.meet(worker + 1, every - has[worker])
        choice = chooser.choose(worker + 1, given[worker] + 1)
        if choice == NO_OPEN_TASK:
            break
        if isinstance(choice, str):
            continue
        given[worker] += 1
        task = choice.task - 1
        chooser.saw(choice.task, worker + 1)
        board.vote(task, worker, data.labels[task, worker])
        chooser.put(choice.task, board.facts(task))
    return board


def fixed(
    data: Dataset, pairs: Sequence[tuple[int, int]], n: int, method: str
) -> tuple[float, float]:
    """Labels per task and error where every task gets its first n labels; ties count in part."""
    counts = [0] * data.tasks
    kept = []
    for task, worker in pairs:
        if counts[task] < n:
            counts[task] += 1
            kept.append((task, worker, data.labels[task, worker]))
    task_, worker_, label_ = np.array(kept).T
    classes = list(range(len(data.classes)))
    model = MajorityVote(classes=classes) if method == "majority" else FastSBIC(classes=classes)
    p = model.fit(task_, worker_, label_).probas_
    row = {task: i for i, task in enumerate(model.tasks_)}
    close = p >= p.max(axis=1, keepdims=True) - TIE
    right = [close[row[t], x] / close[row[t]].sum() for t, x in data.truth.items() if t in row]
    errors = len(data.truth) - float(np.sum(right))
    return len(kept) / data.tasks, errors / len(data.truth)


def error(data: Dataset, labels: Sequence[int]) -> float:
    """Share of the tasks with a known truth that have another label; none counts as wrong."""
    return float(np.mean([labels[t] != x for t, x in data.truth.items()]))


def curve(points: Sequence[Point], dataset: str, way: str) -> dict[float, tuple[float, float]]:
    """By setting (labels per task, error), means over the runs."""
    found: dict[float, list[Point]] = {}
    for p in points:
        if (p.dataset, p.way) == (dataset, way):
            found.setdefault(p.setting, []).append(p)
    return {
        setting: (
            float(np.mean([p.labels_per_task for p in of])),
            float(np.mean([p.error for p in of])),
        )
        for setting, of in found.items()
    }


def labels_for(error: float, line: Mapping[float, tuple[float, float]]) -> float | None:
    """Labels per task at which a fixed overlap first has that error, between two of its points.

    None where it never has.
    """
    before: tuple[float, float] | None = None
    for labels, found in sorted(line.values()):
        if found <= error:
            if before is None or before[1] <= found:
                return labels
            share = (before[1] - error) / (before[1] - found)
            return before[0] + share * (labels - before[0])
        before = (labels, found)
    return None


def _run(job: _Job) -> list[Point]:
    data, plan, run = job
    pairs = order(data, plan.arrival, plan.seed + run)
    found = []
    for policy in plan.policies:
        for stop in plan.stops:
            board = asked(data, pairs, plan, policy, stop, plan.seed + run)
            labels = sum(board.votes) / data.tasks
            found.append((policy, stop, labels, error(data, board.labels)))
    most = max(np.bincount([t for t, _ in pairs]))
    for method in FIXED:
        for n in range(1, int(most) + 1):
            found.append((method, float(n), *fixed(data, pairs, n, method)))
    return [
        Point(data.name, way, plan.arrival, setting, run, labels, wrong)
        for way, setting, labels, wrong in found
    ]
