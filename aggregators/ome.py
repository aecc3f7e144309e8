"""OME: ordinal minimax conditional entropy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._climb import climb
from ._cola import log_softmax
from ._cola_data import crowd, scores, scores_gradient
from ._sparse import normalise_logs
from ._types import FloatArray, Progress
from .base import Aggregator, Solution, require
from .priors import Prior, fixed_prior, is_learned
from .votes import Votes


class OME(Aggregator):
    """Ordinal minimax entropy: log-odds per worker and per task across the splits of the classes.

    Source: Zhou, Liu, Platt, Meek, "Aggregating Ordinal Labels from Crowds by Minimax Conditional
    Entropy" (ICML 2014). At the optimum of its minimax problem a vote on a task of class c is k
    with chance proportional to exp(sigma_i(c, k) + tau_j(c, k)) (their equation 6), where both
    terms are sums over splits and sides; the dual is coordinate ascent: labels given parameters,
    then parameters given labels with a quadratic penalty (``history_`` never falls). The features
    are those of `COLA`, the same model without the directions that cancel.

    Args:
        lambda_worker: penalty on a worker's parameters (lambda / 4 times the squared log-odds).
        lambda_task: likewise of a task; None: lambda_worker M / N, the paper's ratio.
        n_iter: rounds at most.
        tol: largest change of a probability at which to stop; negative: never.
        steps: L-BFGS steps of a round.
        classes: as in `Aggregator`; taken as ordered.
        prior: as in `Aggregator`; None is uniform (the paper's).
        seed: not used.
        n_jobs: not used.

    Fitted: also ``n_iter_``, ``converged_``, ``history_``, ``confusions_`` (N x true x given, on
    a task of no difficulty of its own).

    Example:
        >>> import numpy as np
        >>> task, worker = np.divmod(np.arange(300), 5)
        >>> label = np.where(np.arange(300) % 7 < 5, task % 3, 2 - task % 3)
        >>> OME().fit_predict(task, worker, label)[:6].tolist()
        [0, 1, 2, 0, 1, 2]
    """

    n_iter_: int
    converged_: bool
    history_: FloatArray
    confusions_: FloatArray

    def __init__(
        self,
        *,
        lambda_worker: float = 10.0,
        lambda_task: float | None = None,
        n_iter: int = 30,
        tol: float = 1e-3,
        steps: int = 5,
        classes: Sequence[Any] | None = None,
        prior: Prior = None,
        seed: int = 0,
        n_jobs: int = 1,
    ) -> None:
        self.lambda_worker = lambda_worker
        self.lambda_task = lambda_task
        self.n_iter = n_iter
        self.tol = tol
        self.steps = steps
        self.classes = classes
        self.prior = prior
        self.seed = seed
        self.n_jobs = n_jobs

    def _check(self) -> None:
        for name in ("n_iter", "steps"):
            require(getattr(self, name) >= 1, f"{name} must be at least 1")
        for name in ("lambda_worker", "lambda_task"):
            value = getattr(self, name)
            require(value is None or value > 0, f"{name} must be positive, it is {value}")

    def _solve(self, votes: Votes, progress: Progress) -> Solution:
        from scipy.sparse import csr_array

        data = crowd(votes)
        K, V = votes.K, votes.V
        learned = is_learned(self.prior, default=False)
        prior = np.full(K, 1.0 / K) if learned else fixed_prior(self.prior, K)
        lam = np.full(votes.N + votes.M, float(self.lambda_worker))
        ratio = votes.M / votes.N
        lam[votes.N :] = self.lambda_task or self.lambda_worker * ratio
        rows = np.arange(V)
        # Sums over the votes of each worker, then of each task, in one product.
        who = np.concatenate([votes.worker, votes.N + votes.task])
        gather = csr_array((np.ones(2 * V), (who, np.tile(rows, 2))), shape=(len(lam), V))
        both = np.zeros((len(lam), K - 1, 2))
        probas = data.shares
        history: list[float] = []
        converged = False

        def logs_of(both: FloatArray) -> FloatArray:
            table = scores(data, both)
            return log_softmax(table[votes.worker] + table[votes.N + votes.task])

        def objective(both: FloatArray) -> tuple[float, FloatArray]:
            logs = logs_of(both)
            q = probas[votes.task]
            value = float((q * logs[rows, :, votes.label]).sum())
            residual = -np.exp(logs) * q[:, :, None]
            residual[rows, :, votes.label] += q
            summed = np.asarray(gather @ residual.reshape(V, K * K)).reshape(-1, K, K)
            pull = lam[:, None, None] * both
            gradient = scores_gradient(data, summed) - 0.5 * pull
            return value - 0.25 * float(np.vdot(pull, both)), gradient

        while not converged and len(history) < self.n_iter:
            both = climb(objective, both, self.steps)
            if learned:
                prior = (probas.sum(axis=0) + 1.0) / (votes.M + K)
            said = logs_of(both)[rows, :, votes.label]
            sums = np.asarray(gather[votes.N :] @ said)
            new, evidence = normalise_logs(sums + np.log(prior))
            extra = float(np.log(prior).sum()) if learned else 0.0
            penalty = 0.25 * float((lam[:, None, None] * both**2).sum())
            history.append(float(evidence.sum()) - penalty + extra)
            converged = bool(np.abs(new - probas).max() <= self.tol)
            probas = new
            progress(len(history), self.n_iter)
        rates = np.exp(log_softmax(scores(data, both[: votes.N])))
        skills = np.einsum("jcc,c->j", rates, probas.mean(axis=0))
        extra_fitted = {
            "n_iter_": len(history),
            "converged_": converged,
            "history_": np.array(history),
            "confusions_": rates,
        }
        return Solution(probas, np.clip(skills, 0.0, 1.0), extra_fitted)
