"""Dawid-Skene: a full confusion matrix for each worker, by EM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._sparse import indicator, posterior, shares
from ._types import FloatArray, Progress
from .base import Aggregator, Solution, require
from .priors import Prior, fixed_prior, is_learned
from .votes import Votes


class DawidSkene(Aggregator):
    """Expectation maximisation over true classes and workers' confusion matrices.

    Source: A. P. Dawid, A. M. Skene, "Maximum Likelihood Estimation of Observer Error-Rates Using
    the EM Algorithm" (Applied Statistics 28, 1979), equations 2.3 to 2.5. It starts from the
    shares of votes. The likelihood never falls (``history_``); iterations end after ``n_iter``, or
    when no probability moves by more than ``tol``.

    Args:
        n_iter: rounds at most.
        tol: largest change of a probability at which to stop; negative: never.
        smoothing: pseudo votes added to each cell of a confusion matrix, >= 0; 1 helps workers
            with few votes (a Dirichlet prior), the default only keeps logarithms finite.
        classes: as in `Aggregator`.
        prior: as in `Aggregator`; None learns it.
        seed: not used.
        n_jobs: not used.

    Fitted: also ``confusions_`` (N x true x given, rows sum to 1), ``prior_`` (K), ``n_iter_``,
    ``converged_`` and ``history_`` (log posterior of the parameters, up to a constant, by round).
    ``skills_`` are the chances of a right answer on a task drawn from ``prior_``.

    Example:
        >>> task, worker = [1, 1, 1, 2, 2, 2], ["a", "b", "c"] * 2
        >>> DawidSkene().fit_predict(task, worker, [0, 0, 1, 1, 1, 1]).tolist()
        [0, 1]
    """

    _takes_gold = True

    confusions_: FloatArray
    prior_: FloatArray
    n_iter_: int
    converged_: bool
    history_: FloatArray

    def __init__(
        self,
        *,
        n_iter: int = 100,
        tol: float = 1e-5,
        smoothing: float = 1e-6,
        classes: Sequence[Any] | None = None,
        prior: Prior = None,
        seed: int = 0,
        n_jobs: int = 1,
    ) -> None:
        self.n_iter = n_iter
        self.tol = tol
        self.smoothing = smoothing
        self.classes = classes
        self.prior = prior
        self.seed = seed
        self.n_jobs = n_jobs

    def _check(self) -> None:
        require(self.n_iter >= 1, f"n_iter must be at least 1, it is {self.n_iter}")
        require(self.smoothing >= 0, f"smoothing must not be negative, it is {self.smoothing}")

    def _solve(self, votes: Votes, progress: Progress) -> Solution:
        K = votes.K
        answers = indicator(votes)
        counted = answers.T.tocsr()
        learned = is_learned(self.prior, default=True)
        prior = np.full(K, 1.0 / K) if learned else fixed_prior(self.prior, K)
        probas = free = votes.clamp(shares(votes))
        history: list[float] = []
        converged = False
        while not converged and len(history) < self.n_iter:
            # M-step: votes of worker j that say k, by true class c, to rates.
            counts = (counted @ probas).reshape(votes.N, K, K).transpose(0, 2, 1) + self.smoothing
            total = counts.sum(axis=2, keepdims=True)
            rates = np.where(total > 0, counts / np.where(total > 0, total, 1.0), 1.0 / K)
            if learned:
                prior = probas.sum(axis=0) + self.smoothing
                prior /= prior.sum()
            logs = np.log(np.maximum(rates, TINY))
            log_prior = np.log(np.maximum(prior, TINY))
            # E-step.
            rows = logs.transpose(0, 2, 1).reshape(votes.N * K, K)
            free, evidence = posterior(answers @ rows + log_prior, votes)
            new = votes.clamp(free)
            penalty = self.smoothing * (logs.sum() + (log_prior.sum() if learned else 0.0))
            history.append(float(evidence.sum() + penalty))
            converged = bool(np.abs(new - probas).max() <= self.tol)
            probas = new
            progress(len(history), self.n_iter)
        extra = {
            "confusions_": rates,
            "prior_": prior,
            "n_iter_": len(history),
            "converged_": converged,
            "history_": np.array(history),
        }
        skills = np.einsum("jcc,c->j", rates, prior)
        return Solution(probas, np.clip(skills, 0.0, 1.0), extra, free)


TINY = 1e-300
"""Below this a rate counts as this: its logarithm must be finite."""
