"""How much a worker's answers follow the task, whatever the worker's leanings.

One who says "yes" to nearly everything is right half of the time, or nearly always, or hardly ever,
by what the tasks are.  What carries information is the agreement beyond that of the worker's own
answers in any other order:

    J = (A - A0) / (A1 - A0)

with A the mean agreement with what the others say, A0 its mean over all orders of the worker's
answers, A1 that of a perfect worker: 0 for answers that do not depend on the task, 1 for perfect
ones, below 0 for reversed ones; for two classes Youden's index, for a worker who errs evenly
(a - 1/K) / (1 - 1/K).  Agreement is 1 or 0; of ordinal classes 1 - |x - c| / (K - 1).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from aggregators._types import FloatArray, IntArray

from .beliefs import Beliefs, blocks

_LOOKS = 100.0
"""Votes for which the boundary is narrowest."""


class Information(NamedTuple):
    """Length N each.

    Attributes:
        J: the share of answers that follow the task; 0 where nothing can be said.
        error: standard deviation of J over all orders of the answers (exact); infinite likewise.
        variety: expected number of the worker's tasks outside the classes met by chance: how many
            could tell.
    """

    J: FloatArray
    error: FloatArray
    variety: FloatArray

    def reach(self, n: IntArray, level: float) -> FloatArray:
        """Length N: so far from J may the worker's real one be, at every look, but for ``level``.

        The boundary of the normal mixture (Robbins 1970): some 4 standard deviations.
        """
        size = np.maximum(n, 1)
        squared = (1.0 + _LOOKS / size) * (np.log1p(size / _LOOKS) - 2.0 * np.log(level))
        far: FloatArray = np.sqrt(squared) * self.error
        return far


def information(found: Beliefs, workers: int, ordinal: bool) -> Information:
    """J of every worker."""
    K = found.K
    n = np.bincount(found.worker, minlength=workers).astype(np.float64)
    given = np.zeros((workers, K))
    np.add.at(given, (found.worker, found.label), 1.0)
    given /= np.maximum(n, 1.0)[:, None]
    distance = np.abs(np.arange(K)[:, None] - np.arange(K)[None, :])
    near = 1.0 - distance / (K - 1.0)
    first, square = np.zeros((workers, K)), np.zeros((workers, K))
    agreed, perfect, mine, true = (np.zeros(workers) for _ in range(4))
    classes = np.zeros((workers, K))
    for votes in blocks(len(found.task), K):
        q, who, x = found.rows(votes), found.worker[votes], found.label[votes]
        f = q @ near if ordinal else q
        np.add.at(first, who, f)
        np.add.at(square, who, f * f)
        np.add.at(classes, who, q)
        agreed += np.bincount(who, f[np.arange(len(x)), x], workers)
        perfect += np.bincount(who, (q * f).sum(axis=1), workers)
        mine += np.bincount(who, (given[who] * f).sum(axis=1) ** 2, workers)
        true += np.bincount(who, 1.0 - (q * q).sum(axis=1), workers)
    size = np.maximum(n, 1.0)
    first, square, classes = (part / size[:, None] for part in (first, square, classes))
    chance = (given * first).sum(axis=1)
    best = perfect / size - (
        (classes @ near * classes).sum(axis=1) if ordinal else (classes**2).sum(axis=1)
    )
    spread = (given * square).sum(axis=1) - mine / size - (given * first**2).sum(axis=1) + chance**2
    told = (best > 1e-9) & (n > 1)
    scale = np.where(told, best, 1.0)
    J = np.where(told, (agreed / size - chance) / scale, 0.0)
    deviation = np.sqrt(np.maximum(spread, 0.0) / np.maximum(n - 1.0, 1.0)) / scale
    variety = n * np.maximum(1.0 - (classes**2).sum(axis=1), 0.0) - true
    return Information(J, np.where(told, deviation, np.inf), np.maximum(variety, 0.0))
