"""What is believed of each task while labels come in: it says which task is the least decided.

Every estimator keeps its tasks' log-weights ``m`` in `streaming.TaskState`s, where the service's
chooser reads them.  Fast SBIC and majority bring them up to date with each vote; the other methods
must look at all votes again, and do so now and then (`Refitted`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from aggregators import Aggregator
from aggregators._types import FloatArray
from aggregators.streaming import TaskState, VoteState, WorkerState, add_weight, cast, settle

from .crowd import Setting
from .methods import make

PER_VOTE = frozenset({"majority", "fast_sbic"})
"""Methods whose estimates follow each vote."""

LEAST = 1e-300
"""A probability of 0 has no logarithm."""


class Estimate(Protocol):
    """Beliefs about tasks 0..M-1, moved by votes."""

    @property
    def tasks(self) -> Sequence[TaskState]:
        """By number; their ``m`` are current."""
        ...

    def vote(self, task: int, worker: int, x: int) -> Sequence[int]:
        """Count a worker's first vote on a task; which tasks' ``m`` it moved."""
        ...


class Majority:
    """One vote, one unit: the gap is the lead of one class in votes."""

    def __init__(self, tasks: Sequence[TaskState]) -> None:
        self.tasks = tasks

    def vote(self, task: int, worker: int, x: int) -> Sequence[int]:
        self.tasks[task].m[x] += 1.0
        return (task,)


class Fast:
    """Fast SBIC, by the arithmetic that the service runs."""

    def __init__(self, tasks: Sequence[TaskState], workers: int, setting: Setting) -> None:
        self.tasks = tasks
        self._workers = [WorkerState() for _ in range(workers)]
        self._alpha, self._beta = setting.alpha, setting.beta

    def vote(self, task: int, worker: int, x: int) -> Sequence[int]:
        who = self._workers[worker]
        cast(self.tasks[task], worker, who, VoteState(who, x, 0.5), self._alpha, self._beta)
        return (task,)


class Refitted(Fast):
    """A method that looks at all votes anew every so often, as a reconciliation does.

    Its posterior becomes the base of each task; until it is fitted again, votes weigh on top of
    it as in Fast SBIC, with what it makes believe of their workers.

    Args:
        tasks: as they are before any vote.
        workers: how many.
        setting: what the crowd was drawn from.
        fitted: makes a new instance of the method.
        every: votes between two fits.
    """

    def __init__(
        self,
        tasks: Sequence[TaskState],
        workers: int,
        setting: Setting,
        fitted: Callable[[], Aggregator],
        every: int,
    ) -> None:
        super().__init__(tasks, workers, setting)
        self._fitted = fitted
        self._every = every
        self._votes: list[tuple[int, int, int]] = []

    def vote(self, task: int, worker: int, x: int) -> Sequence[int]:
        moved = super().vote(task, worker, x)
        self._votes.append((task, worker, x))
        if len(self._votes) % self._every:
            return moved
        self._refit()
        return range(len(self.tasks))

    def _refit(self) -> None:
        task, worker, x = np.array(self._votes, dtype=np.int64).T
        model = self._fitted().fit(task, worker, x)
        logs: FloatArray = np.log(np.maximum(model.probas_, LEAST))
        for number, row in zip(model.tasks_, logs.tolist(), strict=True):
            state = self.tasks[number]
            votes = [0.0] * len(row)
            for vote in state.votes.values():
                add_weight(votes, vote.x, vote.p)
            state.base = [m - v for m, v in zip(row, votes, strict=True)]
            settle(state)


def estimate(
    name: str,
    tasks: Sequence[TaskState],
    workers: int,
    setting: Setting,
    every: int,
    seed: int,
) -> Estimate:
    """The estimator of a method by its name in `aggregators.METHODS`.

    Args:
        name: of the method.
        tasks: as they are before any vote; they are changed.
        workers: how many there are.
        setting: what the crowd was drawn from.
        every: votes between two fits, of a method that is not in `PER_VOTE`.
        seed: of the method.
    """
    if name == "majority":
        return Majority(tasks)
    if name == "fast_sbic":
        return Fast(tasks, workers, setting)
    # Chains enough to choose by; the final answer has the method's own number of them.
    quick = {"n_chains": 1, "n_samples": 50, "burn_in": 20} if name == "mc" else {}
    return Refitted(tasks, workers, setting, lambda: make(name, setting, seed, **quick), every)
