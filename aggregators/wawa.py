"""Wawa: the majority, weighted by each worker's agreement with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._types import FloatArray, Progress
from .base import Aggregator, Solution
from .majority import agreement
from .priors import Prior, fixed_prior
from .votes import Votes


class Wawa(Aggregator):
    """Worker agreement with aggregate: one majority vote, then one weighted by its judgement.

    A worker's weight is the share of their votes that equal the majority's label (where several
    classes tie for it, the share of those). Source: Appen's (CrowdFlower's) "trust" and
    "confidence" scores, as commonly stated.

    Args:
        classes: as in `Aggregator`.
        prior: counts as one more vote of weight 1 that is split accordingly; None is none.
        seed: not used.
        n_jobs: not used.

    Example:
        >>> model = Wawa().fit([1, 1, 1, 2, 2, 2], ["a", "b", "c"] * 2, [0, 0, 1, 1, 1, 1])
        >>> model.skills_.tolist()
        [1.0, 1.0, 0.5]
    """

    def __init__(
        self,
        *,
        classes: Sequence[Any] | None = None,
        prior: Prior = None,
        seed: int = 0,
        n_jobs: int = 1,
    ) -> None:
        self.classes = classes
        self.prior = prior
        self.seed = seed
        self.n_jobs = n_jobs

    def _solve(self, votes: Votes, progress: Progress) -> Solution:
        extra = None if self.prior is None else fixed_prior(self.prior, votes.K)
        counts = votes.per_task().astype(np.float64)
        weight = agreement(votes, majority(counts if extra is None else counts + extra))
        sums = weighted_counts(votes, weight)
        if extra is not None:
            sums = sums + extra
        total = sums.sum(axis=1, keepdims=True)
        # Where nobody has any weight the plain counts are all there is.
        probas = np.where(total > 0.0, sums, counts)
        probas /= probas.sum(axis=1, keepdims=True)
        progress(1, 1)
        return Solution(probas, weight)


def majority(counts: FloatArray) -> FloatArray:
    """M x K: 1 for the most frequent class, shared between those that tie."""
    best = (counts >= counts.max(axis=1, keepdims=True)).astype(np.float64)
    shared: FloatArray = best / best.sum(axis=1, keepdims=True)
    return shared


def weighted_counts(votes: Votes, weight: FloatArray) -> FloatArray:
    """M x K: sum of the voters' weights (length N)."""
    flat = np.bincount(votes.task * votes.K + votes.label, weight[votes.worker], votes.M * votes.K)
    return np.asarray(flat.reshape(votes.M, votes.K), dtype=np.float64)
