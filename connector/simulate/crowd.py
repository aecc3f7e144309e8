"""Synthetic crowds of the one-coin model, and the order in which their workers come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from aggregators._types import FloatArray, IntArray

from .errors import Misused

Arrival: TypeAlias = Literal["interleaved", "sessions"]
ARRIVALS: tuple[Arrival, ...] = get_args(Arrival)


@dataclass(frozen=True)
class Setting:
    """What a crowd is drawn from; the defaults are those of the SBIC paper's Figure 2.

    Attributes:
        tasks: M.
        labels_per_worker: L, so many labels each worker gives.
        alpha: workers' accuracies are Beta(alpha, beta).
        beta: likewise.
        q: the share of tasks whose truth is class 1.
    """

    tasks: int = 1000
    labels_per_worker: int = 10
    alpha: float = 4.0
    beta: float = 3.0
    q: float = 0.5

    def __post_init__(self) -> None:
        if self.tasks < 1:
            raise Misused(f"there must be at least one task, not {self.tasks}")
        if not 1 <= self.labels_per_worker <= self.tasks:
            raise Misused(
                f"a worker can give 1 to {self.tasks} labels, one a task,"
                f" not {self.labels_per_worker}"
            )
        if not (self.alpha > 0 and self.beta > 0):
            raise Misused(f"alpha and beta must be positive, not {self.alpha:g}, {self.beta:g}")
        if not 0 < self.q < 1:
            raise Misused(f"q must lie between 0 and 1, not {self.q:g}")

    def workers(self, labels_per_task: int) -> int:
        """N = M R / L, rounded up: each budget has a crowd of its own."""
        return -(-self.tasks * labels_per_task // self.labels_per_worker)


@dataclass(frozen=True)
class Crowd:
    """One draw.

    Attributes:
        truth: length M, 0 or 1.
        accuracy: length N, the chance of a right answer.
        arrivals: length M R, which worker gives each label, in order.
    """

    truth: IntArray
    accuracy: FloatArray
    arrivals: IntArray
    _chance: FloatArray

    def answer(self, number: int, task: int) -> int:
        """What the worker of the ``number``-th label says of ``task``."""
        truth = int(self.truth[task])
        right = self._chance[number] < self.accuracy[self.arrivals[number]]
        return truth if right else 1 - truth

    def answers(self, task: IntArray) -> IntArray:
        """`answer`, for the tasks of all labels at once."""
        right = self._chance[: len(task)] < self.accuracy[self.arrivals[: len(task)]]
        return np.where(right, self.truth[task], 1 - self.truth[task])


def draw(setting: Setting, labels_per_task: int, arrival: Arrival, seed: int) -> Crowd:
    """A crowd for a budget of ``labels_per_task`` (R), all of it from the seed.

    Args:
        setting: what from.
        labels_per_task: R; at most the number of workers that it gives, since nobody labels a
            task twice.
        arrival: "interleaved", each label comes from a random worker who has labels left, as in
            the paper; "sessions", a worker gives all of theirs in one sitting, as real ones do.
        seed: of everything random.

    Raises:
        Misused: R is no budget of this setting.
    """
    n = setting.workers(labels_per_task)
    if not 1 <= labels_per_task <= n:
        raise Misused(
            f"{labels_per_task} labels per task with {setting.labels_per_worker} per worker:"
            f" that is a crowd of {n}, and nobody labels a task twice"
        )
    random = np.random.default_rng([seed, labels_per_task])
    votes = setting.tasks * labels_per_task
    slots = np.repeat(np.arange(n), setting.labels_per_worker)[:votes]
    return Crowd(
        truth=(random.random(setting.tasks) < setting.q).astype(np.int64),
        accuracy=random.beta(setting.alpha, setting.beta, n),
        arrivals=random.permutation(slots) if arrival == "interleaved" else slots,
        _chance=random.random(votes),
    )
