"""The SBIC paper's Figure 2: error against labels per task, under both policies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from aggregators._types import IntArray

from .crowd import Arrival, Crowd, Setting, draw
from .methods import COMPARED, check, make
from .parallel import Progress, each, silent
from .sampling import sample
from .uniform import uniform

Policy: TypeAlias = Literal["UNI", "US"]
Probes: TypeAlias = Literal["auto"] | int

COLUMNS = ("policy", "algorithm", "arrival", "labels_per_task", "run", "error")
OWN = "own"


class Point(NamedTuple):
    """One run: the fields are the columns of the CSV."""

    policy: Policy
    algorithm: str
    arrival: Arrival
    labels_per_task: int
    run: int
    error: float


@dataclass(frozen=True)
class Plan:
    """What to run.

    Attributes:
        setting: of the crowds.
        labels_per_task: the budgets R, each with crowds of its own.
        runs: crowds per budget; every method and policy meets the same ones.
        seed: of everything.
        algorithms: names in `aggregators.METHODS`.
        policies: UNI, US or both.
        arrival: as in `crowd.draw`.
        probes: of the uncertainty policy, as a project file has them.
        every: votes between two fits of a method that cannot follow each vote, in US.
        collect: whose estimates choose in US: "own", each method its own, as in the paper; or a
            method's name: all aggregate the labels that it collected.
    """

    setting: Setting = field(default_factory=Setting)
    labels_per_task: Sequence[int] = (10, 20, 30, 40, 50, 60)
    runs: int = 5
    seed: int = 0
    algorithms: Sequence[str] = COMPARED
    policies: Sequence[Policy] = ("UNI", "US")
    arrival: Arrival = "interleaved"
    probes: Probes = 0
    every: int | None = None
    collect: str = OWN

    def __post_init__(self) -> None:
        check(self.algorithms)
        if self.collect != OWN:
            check([self.collect])
        for R in self.labels_per_task:
            draw(self.setting, R, self.arrival, self.seed)

    @property
    def between_fits(self) -> int:
        """`every`, by default M/2."""
        return self.every or max(1, self.setting.tasks // 2)


class _Job(NamedTuple):
    plan: Plan
    policy: Policy
    R: int
    run: int
    collector: str | None
    algorithms: tuple[str, ...]


def figure2(plan: Plan, processes: int = 1, progress: Progress = silent) -> list[Point]:
    """All runs, in order of policy, budget, run and method, whatever ``processes`` is."""
    jobs = [
        job
        for policy in plan.policies
        for R in plan.labels_per_task
        for run in range(plan.runs)
        for job in _jobs(plan, policy, R, run)
    ]
    return [point for points in each(_run, jobs, processes, progress) for point in points]


def means(points: Iterable[Point]) -> dict[tuple[Policy, str], dict[int, float]]:
    """By (policy, algorithm), then by labels per task: mean error over the runs."""
    found: dict[tuple[Policy, str], dict[int, list[float]]] = {}
    for p in points:
        of = found.setdefault((p.policy, p.algorithm), {})
        of.setdefault(p.labels_per_task, []).append(p.error)
    return {
        key: {R: float(np.mean(errors)) for R, errors in of.items()} for key, of in found.items()
    }


def error(labels: IntArray, truth: IntArray) -> float:
    """Share of tasks with another label than the truth; -1, no label, is half an error."""
    return float(np.where(labels < 0, 0.5, labels != truth).mean())


def aggregated(name: str, setting: Setting, crowd: Crowd, task: IntArray, seed: int) -> float:
    """Error of a method on the labels that the crowd gives to these tasks, in that order."""
    model = make(name, setting, seed)
    model.fit(task, crowd.arrivals[: len(task)], crowd.answers(task))
    labels = np.full(setting.tasks, -1)
    labels[np.asarray(model.tasks_)] = model.labels_
    return error(labels, crowd.truth)


def _jobs(plan: Plan, policy: Policy, R: int, run: int) -> Iterable[_Job]:
    every = tuple(plan.algorithms)
    if policy == "UNI":
        yield _Job(plan, policy, R, run, None, every)
    elif plan.collect != OWN:
        yield _Job(plan, policy, R, run, plan.collect, every)
    else:
        yield from (_Job(plan, policy, R, run, name, (name,)) for name in every)


def _run(job: _Job) -> list[Point]:
    plan, setting = job.plan, job.plan.setting
    seed = plan.seed + job.run
    crowd = draw(setting, job.R, plan.arrival, seed)
    if job.collector is None:
        task = uniform(crowd, seed)
    else:
        task = sample(crowd, setting, job.collector, plan.probes, plan.between_fits, seed).task
    return [
        Point(
            job.policy,
            name,
            plan.arrival,
            job.R,
            job.run,
            aggregated(name, setting, crowd, task, seed),
        )
        for name in job.algorithms
    ]
