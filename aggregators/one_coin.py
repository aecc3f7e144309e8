"""One-coin Dawid-Skene: one accuracy for each worker, by EM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._sparse import posterior, shares
from ._types import FloatArray, Progress
from .base import Aggregator, Solution, require
from .priors import Prior, fixed_prior, is_learned
from .streaming import P_MIN
from .votes import Votes


class OneCoinDawidSkene(Aggregator):
    """Expectation maximisation over true classes and one accuracy per worker.

    A worker answers right with probability p, else any other class alike. This is the EM that the
    SBIC paper compares with: its section 2.1's model, fitted as by Dawid and Skene (1979) with a
    Beta(alpha, beta) prior on p (mode; Liu, Peng, Ihler, "Variational Inference for
    Crowdsourcing", NIPS 2012, section 3.3). It starts from the shares of votes.

    Args:
        alpha: of the Beta prior of p, >= 1; 1 and 1 are maximum likelihood.
        beta: likewise.
        n_iter: rounds at most.
        tol: largest change of a probability at which to stop; negative: never.
        classes: as in `Aggregator`.
        prior: as in `Aggregator`; None learns it. "uniform" is better where classes are many or
            the crowd is weak (the learned one drifts to the class of a careless majority).
        seed: not used.
        n_jobs: not used.

    Fitted: also ``prior_`` (K), ``n_iter_``, ``converged_``, ``history_`` (log posterior of the
    parameters, up to a constant, by round; never falls).

    Example:
        >>> task, worker = [1, 1, 1, 2, 2, 2], ["a", "b", "c"] * 2
        >>> OneCoinDawidSkene().fit_predict(task, worker, [0, 0, 1, 1, 1, 1]).tolist()
        [0, 1]
    """

    _takes_gold = True

    prior_: FloatArray
    n_iter_: int
    converged_: bool
    history_: FloatArray

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        beta: float = 1.0,
        n_iter: int = 100,
        tol: float = 1e-5,
        classes: Sequence[Any] | None = None,
        prior: Prior = None,
        seed: int = 0,
        n_jobs: int = 1,
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.n_iter = n_iter
        self.tol = tol
        self.classes = classes
        self.prior = prior
        self.seed = seed
        self.n_jobs = n_jobs

    def _check(self) -> None:
        require(self.n_iter >= 1, f"n_iter must be at least 1, it is {self.n_iter}")
        require(
            self.alpha >= 1 and self.beta >= 1,
            f"alpha and beta must be at least 1, they are {self.alpha}, {self.beta}",
        )

    def _solve(self, votes: Votes, progress: Progress) -> Solution:
        K = votes.K
        n = votes.per_worker()
        learned = is_learned(self.prior, default=True)
        prior = np.full(K, 1.0 / K) if learned else fixed_prior(self.prior, K)
        probas = free = votes.clamp(shares(votes))
        history: list[float] = []
        converged = False
        while not converged and len(history) < self.n_iter:
            S = np.bincount(votes.worker, probas[votes.task, votes.label], votes.N)
            p = (S + self.alpha - 1.0) / (n + self.alpha + self.beta - 2.0)
            p = np.clip(p, P_MIN, 1.0 - P_MIN)
            if learned:
                prior = np.maximum(probas.mean(axis=0), P_MIN / K)
                prior /= prior.sum()
            logs = one_coin_logs(votes, np.log(p), np.log((1.0 - p) / (K - 1))) + np.log(prior)
            free, evidence = posterior(logs, votes)
            new = votes.clamp(free)
            penalty = (self.alpha - 1.0) * np.log(p) + (self.beta - 1.0) * np.log1p(-p)
            history.append(float(evidence.sum() + penalty.sum()))
            converged = bool(np.abs(new - probas).max() <= self.tol)
            probas = new
            progress(len(history), self.n_iter)
        extra = {
            "prior_": prior,
            "n_iter_": len(history),
            "converged_": converged,
            "history_": np.array(history),
        }
        return Solution(probas, p, extra, free)


def one_coin_logs(votes: Votes, log_right: FloatArray, log_wrong: FloatArray) -> FloatArray:
    """M x K: the evidence of all votes.

    Args:
        votes: the votes.
        log_right: length N, of each worker's right answer.
        log_wrong: length N, of one certain wrong answer.
    """
    gain = (log_right - log_wrong)[votes.worker]
    flat = np.bincount(votes.task * votes.K + votes.label, gain, votes.M * votes.K)
    base = np.bincount(votes.task, log_wrong[votes.worker], votes.M)
    return np.asarray(flat.reshape(votes.M, votes.K) + base[:, None], dtype=np.float64)
