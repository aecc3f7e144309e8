"""Workers who give nearly one answer, whatever the question.

Only votes on tasks that are probably something else speak: where most tasks are of one class,
the good workers give nearly one answer too.  On a task that is x with probability q by the others,
an honest worker says x with a probability of at most

    h = q + (1 - q) e,    e = (1 + the crowd's share of x on tasks that are not x) / 2,

half way from what the crowd does to always; one who says x whatever the question does it in 97
of 100.  The product of the likelihood ratios over such votes exceeds K / level, ever, with a
probability of at most ``level`` for an honest worker (Ville's inequality; there are K answers to
choose from).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from aggregators._types import BoolArray, FloatArray, IntArray

from .beliefs import Beliefs, crowd_confusion

ALWAYS = 0.97
SHARE = 0.9
"""Of a worker's votes that are one answer, at least."""


class Constant(NamedTuple):
    """Length N each.

    Attributes:
        answer: index of the class that the worker gave most.
        given: votes that gave it.
        elsewhere: expected number of the worker's tasks that are another class.
        found: whether it is shown.
    """

    answer: IntArray
    given: IntArray
    elsewhere: FloatArray
    found: BoolArray


def constants(found: Beliefs, workers: int, level: float) -> Constant:
    """Test every worker's most frequent answer."""
    pair, count = np.unique(found.worker * found.K + found.label, return_counts=True)
    order = np.lexsort((-pair, count))  # the last of a worker: most votes, then the first class
    answer = np.zeros(workers, dtype=np.int64)
    most = np.zeros(workers, dtype=np.int64)
    answer[pair[order] // found.K] = pair[order] % found.K
    most[pair[order] // found.K] = count[order]

    x = answer[found.worker]
    q = found.of(x)
    crowd = crowd_confusion(found)
    mass = found.frequencies[:, None] * crowd
    others = 1.0 - found.frequencies
    slip = (mass.sum(axis=0) - np.diag(mass)) / np.maximum(others, 1e-12)
    e = (1.0 + np.clip(slip, 0.0, 1.0)) / 2.0
    h = q + (1.0 - q) * e[x]
    always = np.maximum(h, ALWAYS)
    said = found.label == x
    gain = np.where(
        said, np.log(always / h), np.log((1.0 - always) / np.maximum(1.0 - h, 1e-12) + 1e-300)
    )
    gain = np.where(q < 0.5, gain, 0.0)
    total = np.bincount(found.worker, gain, workers)
    n = np.bincount(found.worker, minlength=workers)
    shown = (total >= np.log(found.K / level)) & (most >= SHARE * n)
    elsewhere = np.bincount(found.worker, 1.0 - q, workers).astype(np.float64)
    return Constant(answer, most, elsewhere, shown)
