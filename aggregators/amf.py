"""AMF: mean field for the one-coin model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._sparse import normalise_logs, shares
from ._types import FloatArray, Progress
from .base import Aggregator, Solution, require
from .fast_sbic import check_beta_prior
from .majority import agreement
from .one_coin import one_coin_logs
from .priors import Prior, fixed_prior, is_learned
from .votes import Votes


class AMF(Aggregator):
    """(Approximate) mean field: EM's cousin that keeps a Beta posterior of each accuracy.

    Source: Liu, Peng, Ihler, "Variational Inference for Crowdsourcing" (NIPS 2012), section 3.2:
    mu_i(y) ~ prior(y) prod_j a_j^[x = y] b_j^[x != y], with a_j = exp E log p_j. The approximate
    form takes the mean (S + alpha) / (n + alpha + beta) for exp E log p (log(1 + x) ~ x), which
    is the EM update with alpha for alpha - 1. It starts from the shares of votes.

    Args:
        alpha: of the Beta prior of a worker's accuracy, > 0.
        beta: likewise.
        exact: take E log p by the digamma function; the approximation is the paper's AMF.
        n_iter: rounds at most.
        tol: largest change of a probability at which to stop; negative: never.
        classes: as in `Aggregator`.
        prior: as in `Aggregator`; None is uniform.
        seed: not used.
        n_jobs: not used.

    Fitted: also ``n_iter_`` and ``converged_``.

    Example:
        >>> task, worker = [1, 1, 1, 2, 2, 2], ["a", "b", "c"] * 2
        >>> AMF().fit_predict(task, worker, [0, 0, 1, 1, 1, 1]).tolist()
        [0, 1]
    """

    n_iter_: int
    converged_: bool

    def __init__(
        self,
        *,
        alpha: float = 2.0,
        beta: float = 1.0,
        exact: bool = False,
        n_iter: int = 100,
        tol: float = 1e-5,
        classes: Sequence[Any] | None = None,
        prior: Prior = None,
        seed: int = 0,
        n_jobs: int = 1,
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.exact = exact
        self.n_iter = n_iter
        self.tol = tol
        self.classes = classes
        self.prior = prior
        self.seed = seed
        self.n_jobs = n_jobs

    def _check(self) -> None:
        check_beta_prior(self.alpha, self.beta)
        require(self.n_iter >= 1, f"n_iter must be at least 1, it is {self.n_iter}")

    def _solve(self, votes: Votes, progress: Progress) -> Solution:
        n = votes.per_worker()
        learned = is_learned(self.prior, default=False)
        prior = np.full(votes.K, 1.0 / votes.K) if learned else fixed_prior(self.prior, votes.K)
        probas = shares(votes)
        rounds, converged = 0, False
        while not converged and rounds < self.n_iter:
            S = agreement(votes, probas) * n
            if learned:
                prior = (probas.sum(axis=0) + 1.0) / (votes.M + votes.K)
            right, wrong = self._logs(S + self.alpha, n - S + self.beta)
            logs = one_coin_logs(votes, right, wrong - np.log(votes.K - 1)) + np.log(prior)
            new = normalise_logs(logs)[0]
            converged = bool(np.abs(new - probas).max() <= self.tol)
            probas = new
            rounds += 1
            progress(rounds, self.n_iter)
        S = agreement(votes, probas) * n
        skills = (S + self.alpha) / (n + self.alpha + self.beta)
        return Solution(probas, skills, {"n_iter_": rounds, "converged_": converged})

    def _logs(self, a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
        """E log p and E log(1 - p) of Beta(a, b), or their approximation."""
        if not self.exact:
            return np.log(a / (a + b)), np.log(b / (a + b))
        from scipy.special import digamma

        both = digamma(a + b)
        return np.asarray(digamma(a) - both), np.asarray(digamma(b) - both)
