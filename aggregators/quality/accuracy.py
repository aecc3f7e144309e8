"""Intervals of workers' accuracies that hold at every look, with truths that are uncertain.

A vote x on a task that is of class c with probability q[c] by the others has, under accuracy a, the
likelihood sum_c q[c] P(x | c, a).  Nominal classes: P is a for x = c, else (1 - a) / (K - 1).
Ordinal ones: P is proportional to exp(-t |x - c|), so that near misses speak for a worker; t = 0
answers by chance, and a is the share of right answers that t gives on the project's classes.
Where the truth is certain the nominal likelihood is the binomial's.

The interval is {a : L(a) >= level * mixture}, mixture = L(chance) / 2 + (the mean of L over all
a) / 2.  By Ville's inequality an accuracy that is the true one leaves it, ever, with a probability
of at most ``level``: as often as one likes may be looked.
Source: H. Robbins, "Statistical methods related to the law of the iterated logarithm" (1970).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aggregators._types import FloatArray, IntArray

from .beliefs import Beliefs

_CELLS = 100
_ORDINAL_T = (-3.0, 5.0)
_ROOM = 10_000_000
"""Numbers that a block of votes may take in memory."""


@dataclass(frozen=True)
class Grid:
    """Where likelihoods are computed.

    Attributes:
        accuracy: length G, ascending; has ``chance`` exactly.
        weight: length G, of each in a mean over all accuracies; sums to 1.
        t: length G, ordinal only.
    """

    accuracy: FloatArray
    weight: FloatArray
    chance: int
    t: FloatArray | None = None


@dataclass(frozen=True)
class Accuracy:
    """Length N each: what the votes say of each worker's accuracy.

    Attributes:
        estimate: mean of the normalised likelihood.
        lower: of the interval.
        upper: likewise.
    """

    estimate: FloatArray
    lower: FloatArray
    upper: FloatArray


def grid(K: int, ordinal: bool, frequencies: FloatArray) -> Grid:
    """The accuracies to look at, for K classes of those frequencies."""
    if not ordinal:
        inner = (np.arange(_CELLS) + 0.5) / _CELLS
        near = np.isclose(inner, 1.0 / K)
        accuracy = np.sort(np.append(inner[~near], 1.0 / K))
        chance = int(np.searchsorted(accuracy, 1.0 / K))
        weight = np.full(len(accuracy), 1.0 / len(inner))
        if not near.any():
            weight[chance] = 0.0
        return Grid(accuracy, weight, chance)
    t = np.linspace(*_ORDINAL_T, _CELLS * 4 // 5 + 1)
    distance = np.abs(np.arange(K)[:, None] - np.arange(K)[None, :])
    norm = np.exp(-t[:, None, None] * distance[None]).sum(axis=2)  # G x K
    accuracy = (frequencies / norm).sum(axis=1)
    weight = np.gradient(accuracy)
    return Grid(accuracy, weight / weight.sum(), int(np.abs(t).argmin()), t)


def log_likelihoods(found: Beliefs, at: Grid, workers: int, votes: IntArray) -> FloatArray:
    """N x G: of the votes with those indices, each worker's log-likelihood on the grid."""
    G = len(at.accuracy)
    out = np.zeros((workers, G))
    votes = votes[np.argsort(found.worker[votes], kind="stable")]
    size = max(1, _ROOM // max(G, found.K))
    for first in range(0, len(votes), size):
        part = votes[first : first + size]
        density = _nominal(found, at, part) if at.t is None else _ordinal(found, at.t, part)
        who = found.worker[part]
        starts = np.flatnonzero(np.diff(who, prepend=-1))
        out[who[starts]] += np.add.reduceat(np.log(np.maximum(density, 1e-300)), starts, axis=0)
    return out


def _nominal(found: Beliefs, at: Grid, votes: IntArray) -> FloatArray:
    q = found.of(found.label)[votes][:, None]
    other = (1.0 - at.accuracy)[None, :] / (found.K - 1)
    density: FloatArray = q * at.accuracy[None, :] + (1.0 - q) * other
    return density


def _ordinal(found: Beliefs, t: FloatArray, votes: IntArray) -> FloatArray:
    distance = np.abs(np.arange(found.K)[:, None] - np.arange(found.K)[None, :])
    table = np.exp(-t[None, None, :] * distance[:, :, None])  # true x given x G
    table /= table.sum(axis=1, keepdims=True)
    rows = found.rows(votes)
    density = np.empty((len(votes), len(t)))
    label = found.label[votes]
    for x in np.unique(label):
        mine = label == x
        density[mine] = rows[mine] @ table[:, x, :]
    return density


def intervals(logs: FloatArray, at: Grid, level: float) -> Accuracy:
    """Estimates and the intervals that leave the truth out, ever, with probability ``level``."""
    top = logs.max(axis=1, keepdims=True)
    L = np.exp(logs - top)
    mean = L @ at.weight
    limit = np.log(level) + np.log(0.5 * L[:, at.chance] + 0.5 * mean) + top[:, 0]
    inside = logs >= limit[:, None]
    first, last = inside.argmax(axis=1), logs.shape[1] - 1 - inside[:, ::-1].argmax(axis=1)
    return Accuracy(
        (L * at.weight * at.accuracy).sum(axis=1) / mean,
        np.where(first == 0, 0.0, _crossing(logs, at.accuracy, limit, first, -1)),
        np.where(last == logs.shape[1] - 1, 1.0, _crossing(logs, at.accuracy, limit, last, 1)),
    )


def _crossing(
    logs: FloatArray, accuracy: FloatArray, limit: FloatArray, inner: IntArray, step: int
) -> FloatArray:
    """Where the log-likelihood falls below the limit, between ``inner`` and its neighbour."""
    rows = np.arange(len(inner))
    outer = np.clip(inner + step, 0, logs.shape[1] - 1)
    high, low = logs[rows, inner], logs[rows, outer]
    share = np.clip((high - limit) / np.maximum(high - low, 1e-12), 0.0, 1.0)
    place: FloatArray = accuracy[inner] + share * (accuracy[outer] - accuracy[inner])
    return place
