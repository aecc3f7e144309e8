"""KOS: message passing between tasks and workers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._types import FloatArray, IntArray, Progress
from .base import Aggregator, Solution, require
from .majority import agreement
from .priors import Prior, fixed_prior
from .stating import softmax_rows
from .votes import Votes


class KOS(Aggregator):
    """The iterative algorithm of Karger, Oh and Shah for binary tasks.

    Source: "Iterative Learning for Reliable Crowdsourcing Systems" (NIPS 2011), Algorithm 1. With
    A = +1 or -1 for a vote, task i tells worker j the weighted sum of the other votes on i, and j
    tells i how well j's other votes fit::

        x_ij = sum of A_ij' y_ij' over j' != j        y_ij = sum of A_i'j x_i'j over i' != i

    from y ~ N(1, 1); finally x_i = sum of A_ij y_ij, and its sign is the label. A sum of zero
    (a task whose workers have no other task) is a tie between the classes.

    With more than two classes each class is a binary problem against the rest (the reduction of
    the authors' multi-class paper, "Efficient Crowdsourcing for Multi-class Labeling", 2013).
    KOS has no probabilities: ``probas_`` is the softmax of the scores in units of their root mean
    square; their order means something, their size does not. ``skills_`` are the mean probability
    of a worker's votes.

    Args:
        n_iter: rounds of messages.
        classes: as in `Aggregator`.
        prior: its logarithm is added to the scores; None is uniform.
        seed: of the first messages.
        n_jobs: not used.

    Fitted: also ``scores_`` (M x K).

    Example:
        >>> model = KOS().fit([1, 1, 1, 2, 2, 2], ["a", "b", "c"] * 2, [0, 0, 1, 1, 1, 1])
        >>> model.labels_.tolist()
        [0, 1]
    """

    scores_: FloatArray

    def __init__(
        self,
        *,
        n_iter: int = 20,
        classes: Sequence[Any] | None = None,
        prior: Prior = None,
        seed: int = 0,
        n_jobs: int = 1,
    ) -> None:
        self.n_iter = n_iter
        self.classes = classes
        self.prior = prior
        self.seed = seed
        self.n_jobs = n_jobs

    def _check(self) -> None:
        require(self.n_iter >= 1, f"n_iter must be at least 1, it is {self.n_iter}")

    def _solve(self, votes: Votes, progress: Progress) -> Solution:
        random = np.random.default_rng(self.seed)
        first = random.normal(1.0, 1.0, votes.V)
        log_prior = np.log(fixed_prior(self.prior, votes.K))
        problems = [1] if votes.K == 2 else list(range(votes.K))
        scores = np.zeros((votes.M, votes.K))
        for done, x in enumerate(problems, start=1):
            sign = np.where(votes.label == x, 1.0, -1.0)
            scores[:, x] = scaled(messages(votes, sign, first, self.n_iter))
            progress(done, len(problems))
        if votes.K == 2:
            scores[:, 0] = -scores[:, 1]
        probas = softmax_rows(scores + log_prior)
        return Solution(probas, agreement(votes, probas), {"scores_": scores})


def messages(votes: Votes, sign: FloatArray, y: FloatArray, rounds: int) -> FloatArray:
    """Length M: the sums x_i after so many rounds, up to a positive factor."""
    for _ in range(rounds):
        x = _others(votes.task, sign * y, votes.M)
        x = scaled(x)
        y = scaled(_others(votes.worker, sign * x, votes.N))
    found: FloatArray = np.bincount(votes.task, sign * y, votes.M).astype(np.float64)
    return found


def _others(group: IntArray, value: FloatArray, groups: int) -> FloatArray:
    """For each vote the sum of ``value`` over the other votes of its group."""
    rest = np.bincount(group, value, groups).astype(np.float64)[group] - value
    # A group of one has no others; what is left of the subtraction is rounding.
    rest[np.bincount(group, minlength=groups)[group] == 1] = 0.0
    return rest


def scaled(value: FloatArray) -> FloatArray:
    """In units of the root mean square; messages grow exponentially otherwise."""
    size = float(np.sqrt(np.mean(value**2)))
    return value / size if size > 0.0 else value
