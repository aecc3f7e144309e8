"""How many labels an error rate needs: the theorems' answer, and what a simulated crowd needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Literal, NamedTuple

import numpy as np

from aggregators import theory

from .crowd import Arrival, Setting
from .errors import Misused
from .figure2 import Plan, Policy, figure2, means
from .parallel import Progress, silent
from .slopes import POLICIES, VARIANTS, predicted

COUNTABLE = 10
"""Errors, over all tasks and runs, below which a share says too little."""
BUDGETS = (3, 4, 5, 7, 9, 12, 16, 22, 30, 40, 54, 73, 99)
"""Labels per task that are simulated, one after the other, as far as is needed."""
_POLICIES: tuple[Policy, ...] = ("UNI", "US")


@dataclass(frozen=True)
class Question:
    """What is to be planned.

    Attributes:
        error: the wished share of wrong labels.
        setting: the crowd, with as many tasks as are simulated.
        algorithms: "fast_sbic", "sorted_sbic".
        arrival: as in `crowd.draw`.
        probes: of the uncertainty policy, as a project file has them.
        runs: crowds that each budget is simulated with.
        seed: of them.
    """

    error: float
    setting: Setting
    algorithms: Sequence[str] = ("fast_sbic",)
    arrival: Arrival = "interleaved"
    probes: Literal["auto"] | int = 0
    runs: int = 3
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0.0 < self.error < 0.5:
            raise Misused(f"--error: between 0 and 0.5, not {self.error:g}")
        if not set(self.algorithms) <= set(VARIANTS):
            raise Misused(f"the theorems speak of {' and '.join(VARIANTS)} alone")
        if self.setting.alpha <= self.setting.beta:
            raise Misused(
                f"Beta({self.setting.alpha:g}, {self.setting.beta:g}) is a crowd that is right no"
                " more often than a coin: no number of labels helps"
            )


class Answer(NamedTuple):
    """Labels per task under one policy.

    Attributes:
        policy: "uniform" or "uncertainty".
        algorithm: as asked.
        theorem: by the theorem, its constant taken as 1/2.
        simulated: what the simulated crowds needed.
        measured: False: the simulation ended above the wished error, and the theorem's slope has
            carried it on from there.
        errors: mean error by labels per task, as simulated.
    """

    policy: str
    algorithm: str
    theorem: int
    simulated: float
    measured: bool
    errors: Mapping[int, float]


def answer(question: Question, progress: Progress = silent) -> list[Answer]:
    """Both policies, each method; ``progress`` counts budgets, of those that may be needed.

    Raises:
        Misused: the error is out of this crowd's reach.
    """
    ways = [(policy, name) for policy in _POLICIES for name in question.algorithms]
    total = len(ways) * len(BUDGETS)
    found: list[Answer] = []

    def simulated(done: int) -> None:
        progress(len(found) * len(BUDGETS) + done, total)

    for policy, name in ways:
        found.append(_answer(question, policy, name, simulated))
    progress(total, total)
    return found


def beta_of(S: Sequence[float], n: Sequence[float]) -> tuple[float, float]:
    """The Beta distribution that accuracies seem to be drawn from, by maximum likelihood.

    Args:
        S: by worker, expected right answers.
        n: by worker, answers.

    Returns:
        alpha and beta, each within 0.05 to 1000: a few workers cannot say more.

    Raises:
        Misused: nobody has answered.
    """
    from scipy.optimize import minimize
    from scipy.special import betaln

    right, answers = np.asarray(S, dtype=np.float64), np.asarray(n, dtype=np.float64)
    right, answers = right[answers > 0], answers[answers > 0]
    if not len(answers):
        raise Misused("nobody has answered yet: give --alpha and --beta")

    def loss(logs: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
        a, b = np.exp(logs)
        return float(-(betaln(right + a, answers - right + b) - betaln(a, b)).sum())

    best = minimize(loss, np.log([2.0, 1.0]), bounds=[(log(0.05), log(1000.0))] * 2)
    return float(exp(best.x[0])), float(exp(best.x[1]))


def labels_for(
    error: float, errors: Mapping[int, float], slope: float, countable: float
) -> tuple[float, bool]:
    """Labels per task at which the simulated error is ``error``.

    Between two budgets the log error is a line, and at 0 labels it is that of a coin. Beyond the
    last error that is at least ``countable`` it falls by ``slope`` a label.

    Returns:
        The labels, and whether they lie within what was simulated.
    """
    R_before, before = 0, 0.5
    for R, found in sorted(errors.items()):
        if found < countable:
            break
        if found <= error:
            share = log(before / error) / log(before / found) if found < before else 1.0
            return R_before + share * (R - R_before), True
        R_before, before = R, found
    return R_before + log(before / error) / slope, False


def _answer(
    question: Question, policy: Policy, algorithm: str, progress: Callable[[int], None]
) -> Answer:
    setting = question.setting
    slope = predicted(policy, algorithm, setting)
    assert slope is not None
    try:
        theorem = theory.labels_needed(
            question.error,
            setting.labels_per_worker,
            setting.alpha,
            setting.beta,
            VARIANTS[algorithm],
            POLICIES[policy],
        )
    except ValueError as error:
        raise Misused(f"--error: {error}") from None
    countable = COUNTABLE / (setting.tasks * question.runs)
    errors: dict[int, float] = {}
    for done, R in enumerate(BUDGETS):
        progress(done)
        plan = Plan(
            setting,
            (R,),
            question.runs,
            question.seed,
            (algorithm,),
            (policy,),
            question.arrival,
            question.probes,
        )
        errors[R] = means(figure2(plan))[policy, algorithm][R]
        if errors[R] <= question.error or errors[R] < countable:
            break
    labels, measured = labels_for(question.error, errors, slope, countable)
    return Answer(POLICIES[policy], algorithm, theorem, labels, measured, errors)
