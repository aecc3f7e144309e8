"""The SBIC paper's Figure 3: how long one run under uncertainty sampling takes, by method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import NamedTuple

from .crowd import Arrival, Setting, draw
from .errors import Misused
from .estimates import PER_VOTE
from .methods import COMPARED, check
from .parallel import Progress, silent
from .sampling import Sampled, sample

YARDSTICK = "majority"

COLUMNS = (
    "algorithm",
    "labels_per_task",
    "votes_between_fits",
    "run_s",
    "choosing_s",
    "estimating_s",
    "keeping_s",
    "run_ratio",
    "ratio_without_choice",
)


@dataclass(frozen=True)
class Plan:
    """What to time.

    Attributes:
        setting: of the crowds.
        labels_per_task: the budgets R.
        runs: per budget and method; the medians count.
        seed: of the crowds.
        algorithms: names in `aggregators.METHODS`; the ratios are to majority's time.
        arrival: as in `crowd.draw`.
        every: votes between two fits of a method that cannot follow each vote; by default M/2.
    """

    setting: Setting = field(default_factory=Setting)
    labels_per_task: Sequence[int] = (10, 20, 30, 40)
    runs: int = 3
    seed: int = 0
    algorithms: Sequence[str] = COMPARED
    arrival: Arrival = "interleaved"
    every: int | None = None

    def __post_init__(self) -> None:
        check(self.algorithms)
        if YARDSTICK not in self.algorithms:
            raise Misused(f"the ratios are to {YARDSTICK}: name it among the methods")
        for R in self.labels_per_task:
            draw(self.setting, R, self.arrival, self.seed)

    def between_fits(self, name: str) -> int:
        """Votes between two fits of that method."""
        return 1 if name in PER_VOTE else self.every or max(1, self.setting.tasks // 2)


class Timing(NamedTuple):
    """Medians over the runs; the fields are the columns of the CSV.

    Attributes:
        run_s: processor seconds of the whole run, the choices included.
        choosing_s: of the choices alone.
        estimating_s: of the method alone.
        keeping_s: of all else: answers, and keeping the order that the choices are made by.
        run_ratio: run_s to that of a run with majority right before it.
        ratio_without_choice: likewise, of run_s less choosing_s.
    """

    algorithm: str
    labels_per_task: int
    votes_between_fits: int
    run_s: float
    choosing_s: float
    estimating_s: float
    keeping_s: float
    run_ratio: float
    ratio_without_choice: float


def figure3(plan: Plan, progress: Progress = silent) -> list[Timing]:
    """Time every method on the same crowds in this process, each beside majority."""
    total = len(plan.labels_per_task) * plan.runs * len(plan.algorithms)
    done = 0
    _warm(plan)
    found = []
    for R in plan.labels_per_task:
        pairs: dict[str, list[tuple[Sampled, Sampled]]] = {name: [] for name in plan.algorithms}
        for run in range(plan.runs):
            seed = plan.seed + run
            crowd = draw(plan.setting, R, plan.arrival, seed)
            for name in plan.algorithms:
                # Majority right before each: what else the machine does changes by the minute.
                yardstick = sample(crowd, plan.setting, YARDSTICK, 0, 1, seed)
                own = (
                    yardstick
                    if name == YARDSTICK
                    else sample(crowd, plan.setting, name, 0, plan.between_fits(name), seed)
                )
                pairs[name].append((own, yardstick))
                done += 1
                progress(done, total)
        found += [_timing(plan, name, R, pairs[name]) for name in plan.algorithms]
    return found


def _timing(plan: Plan, name: str, R: int, against: list[tuple[Sampled, Sampled]]) -> Timing:
    own = [a for a, _ in against]
    return Timing(
        name,
        R,
        plan.between_fits(name),
        median(map(_whole, own)),
        median(s.choosing_s for s in own),
        median(s.estimating_s for s in own),
        median(s.keeping_s for s in own),
        median(_whole(a) / _whole(b) for a, b in against),
        median(_rest(a) / _rest(b) for a, b in against),
    )


def _whole(s: Sampled) -> float:
    return s.choosing_s + s.estimating_s + s.keeping_s


def _rest(s: Sampled) -> float:
    return s.estimating_s + s.keeping_s


def _warm(plan: Plan) -> None:
    """What is compiled at the first use is compiled before anything is timed."""
    small = Setting(tasks=20, labels_per_worker=2, alpha=plan.setting.alpha, beta=plan.setting.beta)
    crowd = draw(small, 2, plan.arrival, 0)
    for name in plan.algorithms:
        sample(crowd, small, name, 0, 20, 0)
