"""GLAD: workers' ability and tasks' difficulty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._climb import climb
from ._sparse import normalise_logs, shares
from ._types import FloatArray, Progress
from .base import Aggregator, Solution, require
from .priors import Prior, fixed_prior, is_learned
from .votes import Votes


class GLAD(Aggregator):
    """Generative model of labels, abilities and difficulties, by EM.

    Source: Whitehill, Ruvolo, Wu, Bergsma, Movellan, "Whose Vote Should Count More" (NIPS 2009):
    a vote of worker j on task i is right with chance sigmoid(ability_j * exp(ease_i)), a wrong
    one is uniform over the other classes; abilities and eases have normal priors N(1, 1). The
    M-step takes a few L-BFGS steps, the posterior of the parameters never falls (``history_``).

    Args:
        n_iter: rounds at most.
        tol: largest change of a probability at which to stop; negative: never.
        steps: L-BFGS steps of an M-step.
        classes: as in `Aggregator`.
        prior: as in `Aggregator`; None is uniform.
        seed: not used.
        n_jobs: not used.

    Fitted: also ``abilities_`` (N), ``ease_`` (M, the exponents: higher is easier), ``n_iter_``,
    ``converged_``, ``history_``. ``skills_`` are the chances of a right answer on a task of mean
    ease.

    Example:
        >>> task, worker = [1, 1, 1, 2, 2, 2], ["a", "b", "c"] * 2
        >>> GLAD().fit_predict(task, worker, [0, 0, 1, 1, 1, 1]).tolist()
        [0, 1]
    """

    abilities_: FloatArray
    ease_: FloatArray
    n_iter_: int
    converged_: bool
    history_: FloatArray

    def __init__(
        self,
        *,
        n_iter: int = 50,
        tol: float = 1e-4,
        steps: int = 5,
        classes: Sequence[Any] | None = None,
        prior: Prior = None,
        seed: int = 0,
        n_jobs: int = 1,
    ) -> None:
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

    def _solve(self, votes: Votes, progress: Progress) -> Solution:
        K = votes.K
        learned = is_learned(self.prior, default=False)
        prior = np.full(K, 1.0 / K) if learned else fixed_prior(self.prior, K)
        both = np.ones(votes.N + votes.M)  # abilities, then eases: the modes of their priors
        probas = shares(votes)
        history: list[float] = []
        converged = False
        while not converged and len(history) < self.n_iter:
            both = climb(self._objective(votes, probas), both, self.steps)
            if learned:
                prior = (probas.sum(axis=0) + 1.0) / (votes.M + K)
            logs = self._evidence(votes, both) + np.log(prior)
            new, evidence = normalise_logs(logs)
            # A learned prior has one pseudo task per class.
            extra = float(np.log(prior).sum()) if learned else 0.0
            history.append(float(evidence.sum() - 0.5 * ((both - 1.0) ** 2).sum()) + extra)
            converged = bool(np.abs(new - probas).max() <= self.tol)
            probas = new
            progress(len(history), self.n_iter)
        ability, ease = both[: votes.N], both[votes.N :]
        skills = right_chance(ability * np.exp(ease).mean())
        extra_fitted = {
            "abilities_": ability,
            "ease_": ease,
            "n_iter_": len(history),
            "converged_": converged,
            "history_": np.array(history),
        }
        return Solution(probas, skills, extra_fitted)

    def _evidence(self, votes: Votes, both: FloatArray) -> FloatArray:
        strength = both[votes.worker] * np.exp(both[votes.N + votes.task])
        # log sigmoid(s) - log((1 - sigmoid(s)) / (K - 1)) = s + log(K - 1)
        wrong = -np.logaddexp(0.0, strength) - np.log(votes.K - 1)
        gain = strength + np.log(votes.K - 1)
        flat = np.bincount(votes.task * votes.K + votes.label, gain, votes.M * votes.K)
        base = np.bincount(votes.task, wrong, votes.M)
        return np.asarray(flat.reshape(votes.M, votes.K) + base[:, None], dtype=np.float64)

    def _objective(self, votes: Votes, probas: FloatArray) -> Any:
        right = probas[votes.task, votes.label]

        def value(both: FloatArray) -> tuple[float, FloatArray]:
            ability, ease = both[votes.worker], np.exp(both[votes.N + votes.task])
            strength = ability * ease
            # expected log likelihood: right log s + (1 - right) log(1 - s) = right x - log(1 + e^x)
            total = float((right * strength - np.logaddexp(0.0, strength)).sum())
            slack = right - right_chance(strength)
            gradient = np.concatenate(
                [
                    np.bincount(votes.worker, slack * ease, votes.N),
                    np.bincount(votes.task, slack * strength, votes.M),
                ]
            )
            away = both - 1.0
            return total - 0.5 * float(away @ away), gradient - away

        return value


def right_chance(strength: FloatArray) -> FloatArray:
    """sigmoid, without overflow."""
    from scipy.special import expit

    return np.asarray(expit(strength), dtype=np.float64)
