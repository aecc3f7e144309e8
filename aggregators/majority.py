"""Majority vote: the baseline of both papers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._types import Progress
from .base import Aggregator, Solution
from .priors import Prior, fixed_prior
from .votes import Votes


class MajorityVote(Aggregator):
    """The most frequent label of each task.

    ``probas_`` are the shares of votes; ``skills_`` the mean share that a worker's votes have.
    With a ``prior``, it counts as one more vote that is split accordingly; the default is none.

    Example:
        >>> model = MajorityVote().fit((["t", "t", "t"], ["a", "b", "c"], ["no", "yes", "yes"]))
        >>> str(model.labels_[0])
        'yes'
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
        counts = votes.per_task().astype(np.float64)
        if self.prior is not None:
            counts += fixed_prior(self.prior, votes.K)
        probas = counts / counts.sum(axis=1, keepdims=True)
        progress(1, 1)
        return Solution(probas, agreement(votes, probas))


def agreement(votes: Votes, probas: np.ndarray[Any, np.dtype[np.float64]]) -> Any:
    """Length N: the mean probability of what each worker said."""
    hits = probas[votes.task, votes.label]
    return np.bincount(votes.worker, hits, votes.N) / votes.per_worker()
