"""Workers who have become worse: the latest votes against all earlier ones.

A worker's votes on tasks of which the others are sure are right or wrong.  Blocks of 10, 20, 40
and so on of them are compared with all that came before: given the total number right, how many of
a block are right is hypergeometric as long as nothing has changed (Fisher's exact test), one factor
for each true class, so that a batch of harder classes is no change.  The k-th block of the i-th
size is tested at the level 2^-i / (k (k - 1)) of the whole: all tests of a life together keep it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from aggregators._types import FloatArray, IntArray

from .beliefs import Beliefs

SMALLEST = 10
SURE = 0.8
"""Probability by the others from which on a task shows a vote to be right or wrong."""


class Change(NamedTuple):
    """A worker's latest block against the votes before it.

    Attributes:
        right: right votes of the block.
        block: its length.
        before: right votes before it.
        earlier: how many there were.
        chance: probability of so few in the block if nothing has changed.
    """

    right: int
    block: int
    before: int
    earlier: int
    chance: float


def changes(found: Beliefs, workers: int, level: float) -> dict[int, Change]:
    """The workers whose latest block is worse than chance explains, with the clearest block."""
    top, sure = found.top
    kept = np.flatnonzero(sure >= SURE)
    kept = kept[np.argsort(found.worker[kept], kind="stable")]  # in order of arrival within each
    who, first, count = np.unique(found.worker[kept], return_index=True, return_counts=True)
    out = {}
    for worker, start, size in zip(who.tolist(), first.tolist(), count.tolist(), strict=True):
        votes = kept[start : start + size]
        if size >= 2 * SMALLEST:
            found_change = _latest(top[votes], found.label[votes] == top[votes], level)
            if found_change is not None:
                out[worker] = found_change
    return out


def _latest(true: IntArray, right: IntArray, level: float) -> Change | None:
    total = np.concatenate([[0], np.cumsum(right)])
    best, size, share = None, SMALLEST, level / 2.0
    while 2 * size <= len(right):
        k = len(right) // size
        end = k * size
        start = end - size
        hits, before = int(total[end] - total[start]), int(total[start])
        allowed = share / (k * (k - 1))
        # At least the chance that one class alone would give: most workers need no convolution.
        if hits * start < before * size:
            chance = _tail(true[:end], right[:end], start)
            if chance <= allowed and (best is None or chance < best.chance):
                best = Change(hits, size, before, start, chance)
        size, share = size * 2, share / 2.0
    return best


def _tail(true: IntArray, right: IntArray, start: int) -> float:
    """P(at most so many right from ``start`` on), given the numbers right of each class."""
    pmf = np.ones(1)
    observed = 0
    for c in np.unique(true[start:]):
        mine = true == c
        n, hits, m = int(mine.sum()), int(right[mine].sum()), int(mine[start:].sum())
        observed += int(right[start:][mine[start:]].sum())
        pmf = np.convolve(pmf, _hypergeometric(n, hits, m))
    return float(min(1.0, pmf[: observed + 1].sum()))


def _hypergeometric(n: int, hits: int, m: int) -> FloatArray:
    """Length m + 1: probability of each number of hits among m of n, ``hits`` of which are."""
    from scipy.special import gammaln

    def choose(a: FloatArray, b: FloatArray) -> FloatArray:
        good = (b >= 0) & (b <= a)
        b = np.where(good, b, 0.0)
        logs: FloatArray = np.where(
            good, gammaln(a + 1.0) - gammaln(b + 1.0) - gammaln(np.maximum(a - b, 0) + 1.0), -np.inf
        )
        return logs

    h = np.arange(m + 1, dtype=np.float64)
    whole = np.full(m + 1, float(n))
    logs = (
        choose(np.full(m + 1, float(hits)), h)
        + choose(whole - hits, m - h)
        - choose(whole, np.full(m + 1, float(m)))
    )
    pmf: FloatArray = np.exp(logs)
    return pmf
