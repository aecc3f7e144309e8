"""What the others say of each vote's task: a worker's own vote must not vouch for itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from aggregators._types import BoolArray, FloatArray, IntArray

_FLOOR = 1e-12
_ROOM = 10_000_000
"""Numbers that a block of votes may take in memory."""


def blocks(votes: int, width: int) -> Iterator[IntArray]:
    """Indices of the votes, so many at a time that ``width`` numbers for each fit in memory."""
    size = max(1, _ROOM // width)
    for first in range(0, votes, size):
        yield np.arange(first, min(first + size, votes))


@dataclass(frozen=True)
class Beliefs:
    """Posteriors of the tasks, with each vote's own weight taken out where it is asked for.

    A worker of accuracy p has multiplied the class given by p and every other by
    (1 - p) / (K - 1); dividing by the same leaves what all others say.

    Attributes:
        task: length V, index of each vote's task.
        worker: length V, index of its worker.
        label: length V, index of the class given.
        tasks: M x K, posteriors; gold is certain, classes as frequent as they are in the project.
        gold: length M, whether the truth is known.
        p: length N, accuracy by which each worker's votes weigh; `nan` where they do not.
        frequencies: length K, of the classes.
    """

    task: IntArray
    worker: IntArray
    label: IntArray
    tasks: FloatArray
    gold: BoolArray
    p: FloatArray
    frequencies: FloatArray

    @property
    def K(self) -> int:
        """Number of classes."""
        return int(self.tasks.shape[1])

    @cached_property
    def _own(self) -> tuple[FloatArray, FloatArray]:
        """Length V: what to divide the class given by, and every other class."""
        p = self.p[self.worker]
        weighs = np.isfinite(p) & ~self.gold[self.task]
        right = np.where(weighs, p, 1.0)
        return right, np.where(weighs, (1.0 - p) / (self.K - 1), 1.0)

    @cached_property
    def _total(self) -> FloatArray:
        right, wrong = self._own
        mine = self.tasks[self.task, self.label]
        return mine / right + (1.0 - mine) / wrong

    def of(self, x: IntArray) -> FloatArray:
        """Length V: probability that the task is of class ``x`` (length V) by the others."""
        right, wrong = self._own
        at: FloatArray = self.tasks[self.task, x]
        share: FloatArray = at / np.where(x == self.label, right, wrong) / self._total
        return np.clip(share, 0.0, 1.0)

    def rows(self, votes: IntArray) -> FloatArray:
        """len(votes) x K: all probabilities by the others, of some votes."""
        right, wrong = (part[votes] for part in self._own)
        found: FloatArray = self.tasks[self.task[votes]] / wrong[:, None]
        at = (np.arange(len(votes)), self.label[votes])
        found[at] *= wrong / right
        found /= found.sum(axis=1, keepdims=True)
        return found

    @cached_property
    def top(self) -> tuple[IntArray, FloatArray]:
        """Length V: the most probable class by the others, and its probability."""
        best = self.tasks.argmax(axis=1)
        rest = self.tasks.copy()
        rest[np.arange(len(best)), best] = -1.0
        second = rest.argmax(axis=1)
        other = np.where(best[self.task] == self.label, second[self.task], best[self.task])
        q_own, q_other = self.of(self.label), self.of(other)
        return np.where(q_own >= q_other, self.label, other), np.maximum(q_own, q_other)


def beliefs(
    task: IntArray,
    worker: IntArray,
    label: IntArray,
    posteriors: FloatArray,
    truth: IntArray,
    *,
    alpha: float,
    beta: float,
    class_prior: FloatArray | None,
    weighs: BoolArray | None,
    workers: int,
) -> Beliefs:
    """Prepare what `flag_workers` was given; its arguments."""
    M, K = posteriors.shape
    known = truth >= 0
    clean = np.maximum(posteriors, _FLOOR)
    clean /= clean.sum(axis=1, keepdims=True)
    clean[known] = 0.0
    clean[known, truth[known]] = 1.0
    S = np.bincount(worker, clean[task, label], workers)
    n = np.bincount(worker, minlength=workers)
    p = np.clip((S + alpha) / (n + alpha + beta), 1e-6, 1.0 - 1e-6)
    if weighs is not None:
        p[~weighs] = np.nan
    voted = np.bincount(task, minlength=M) > 0
    frequencies = np.full(K, 1.0 / K)
    if class_prior is None:
        frequencies = (clean[voted].sum(axis=0) + 1.0 / K) / (voted.sum() + 1.0)
    else:
        evidence = np.where(known[:, None], clean, clean / class_prior)
        for _ in range(_ROUNDS):
            now = evidence * np.where(known[:, None], 1.0, frequencies)
            now /= now.sum(axis=1, keepdims=True)
            frequencies = (now[voted].sum(axis=0) + 1.0 / K) / (voted.sum() + 1.0)
        clean = now
    return Beliefs(task, worker, label, clean, known, p, frequencies)


_ROUNDS = 30


def crowd_confusion(found: Beliefs) -> FloatArray:
    """K x K, rows sum to 1: what the crowd answers to each class, one pseudo vote a row."""
    K = found.K
    counts = np.zeros((K, K))
    for votes in blocks(len(found.task), K):
        rows = found.rows(votes)
        for x in np.unique(found.label[votes]):
            counts[:, x] += rows[found.label[votes] == x].sum(axis=0)
    counts += 1.0 / K
    share: FloatArray = counts / counts.sum(axis=1, keepdims=True)
    return share
