"""What COLA's updates need of the votes, and its features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._sparse import indicator
from ._types import FloatArray
from .votes import Votes


@dataclass(frozen=True)
class Crowd:
    """Votes as sparse matrices, and the ordinal features.

    Attributes:
        M: tasks.
        N: workers.
        m: classes.
        by_task: (M m) x N, 1 where worker i gave class k to task j; row j * m + k.
        by_worker: its transpose.
        answers: M x (N m), column i * m + k.
        counted: its transpose.
        shares: M x m, the share of each task's votes; certainty where the truth is known.
        clamp: sets the rows of an M x m table whose truth is known to certainty.
        side: (m-1) x m, side[s, c] = 1 if c >= s + 1 else 0, for the splits s.
        half: (m-1) x m, +1/2 if k >= s + 1 else -1/2.
    """

    M: int
    N: int
    m: int
    by_task: Any
    by_worker: Any
    answers: Any
    counted: Any
    shares: FloatArray
    clamp: Callable[[FloatArray], FloatArray]
    side: FloatArray
    half: FloatArray


def crowd(votes: Votes) -> Crowd:
    """Prepare the votes once for all restarts."""
    from scipy.sparse import csr_array

    M, N, m = votes.M, votes.N, votes.K
    ones = np.ones(votes.V)
    by_task = csr_array((ones, (votes.task * m + votes.label, votes.worker)), shape=(M * m, N))
    answers = indicator(votes)
    counts = votes.per_task() + 0.001
    side = (np.arange(m)[None, :] >= np.arange(1, m)[:, None]).astype(np.float64)
    return Crowd(
        M,
        N,
        m,
        by_task,
        by_task.T.tocsr(),
        answers,
        answers.T.tocsr(),
        votes.clamp(counts / counts.sum(axis=1, keepdims=True)),
        votes.clamp,
        side,
        side - 0.5,
    )


def scores(data: Crowd, mu: FloatArray) -> FloatArray:
    """L x m x m: e_ck . mu_l for every cluster l, true class c and answer k.

    ``mu`` is L x (m-1) x 2: per split s and side of the truth the log-odds of the answer s + 1
    against s. Of the paper's four indicators per split, two cancel in the softmax; these two
    centred ones are the same model with half the coordinates and a tighter bound.
    """
    # the side of s that c is on decides which of the two log-odds counts
    by_class = mu[:, :, 1, None] * data.side + mu[:, :, 0, None] * (1.0 - data.side)
    out: FloatArray = np.swapaxes(by_class, 1, 2) @ data.half
    return out


def scores_gradient(data: Crowd, residual: FloatArray) -> FloatArray:
    """L x (m-1) x 2: the derivative by mu of sum residual[l, c, k] (e_ck . mu_l)."""
    by_split = data.half @ np.swapaxes(residual, 1, 2)  # L x s x c
    upper = (by_split * data.side).sum(axis=2)
    lower = (by_split * (1.0 - data.side)).sum(axis=2)
    return np.stack([lower, upper], axis=2)


def penalty(data: Crowd, v: FloatArray) -> FloatArray:
    """L x m: what the uncertainty v of mu costs by true class, (1/8) sum_s v[s, side of c]."""
    return 0.125 * (v[:, :, 1] @ data.side + v[:, :, 0] @ (1.0 - data.side))


def sides(data: Crowd, by_class: FloatArray) -> FloatArray:
    """L x (m-1) x 2: votes with the truth on either side of each split, from L x m by class."""
    return np.stack([by_class @ (1.0 - data.side.T), by_class @ data.side.T], axis=2)
