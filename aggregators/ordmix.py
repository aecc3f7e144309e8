"""ORDMIX: discretised normal answers of attentive workers, mixed with random ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._cola import safe_log
from ._cola_data import Crowd, crowd
from ._products import times
from ._sparse import normalise_logs
from ._types import FloatArray, Progress
from .base import Aggregator, Solution, require
from .priors import Prior, fixed_prior, is_learned
from .votes import Votes

PRECISIONS = np.geomspace(0.1, 20.0, 10)
SPAM = np.array([0.01, 0.1, 0.3, 0.6, 0.95])
EASE = np.array([0.25, 0.5, 1.0, 2.0, 4.0])
PSEUDO = 1.0
"""Pseudo workers and pseudo tasks on each grid, in all."""


class ORDMIX(Aggregator):
    """Ordinal mixture model.

    Source: Lakshminarayanan, Teh, "Inferring Ground Truth from Multi-annotator Ordinal Data: a
    Probabilistic Approach" (2013). A vote of worker i on task j of class c is, unless spam, a
    normal variable around c with precision (worker's precision) x (task's ease), rounded to the
    nearest class; with the worker's spam rate it is any class alike. Inference is variational;
    here the worker's (precision, spam rate) and the task's ease live on fixed grids whose weights
    are learned, so that every update is exact and the bound (``elbo_history_``) never falls.

    Args:
        n_iter: rounds at most.
        tol: largest change of a probability at which to stop; negative: never.
        classes: as in `Aggregator`; taken as ordered.
        prior: as in `Aggregator`; None is uniform (a learned one drifts on weak crowds).
        seed: not used.
        n_jobs: not used.

    Fitted: also ``precisions_`` and ``spam_rates_`` (posterior means, N), ``ease_`` (M),
    ``n_iter_``, ``converged_``, ``elbo_history_``.

    Example:
        >>> task, worker = [1, 1, 1, 2, 2, 2], ["a", "b", "c"] * 2
        >>> ORDMIX().fit_predict(task, worker, [0, 0, 1, 2, 2, 2]).tolist()
        [0, 2]
    """

    precisions_: FloatArray
    spam_rates_: FloatArray
    ease_: FloatArray
    n_iter_: int
    converged_: bool
    elbo_history_: FloatArray

    def __init__(
        self,
        *,
        n_iter: int = 50,
        tol: float = 1e-3,
        classes: Sequence[Any] | None = None,
        prior: Prior = None,
        seed: int = 0,
        n_jobs: int = 1,
    ) -> None:
        self.n_iter = n_iter
        self.tol = tol
        self.classes = classes
        self.prior = prior
        self.seed = seed
        self.n_jobs = n_jobs

    def _check(self) -> None:
        require(self.n_iter >= 1, f"n_iter must be at least 1, it is {self.n_iter}")

    def _solve(self, votes: Votes, progress: Progress) -> Solution:
        data = crowd(votes)
        U = log_answers(votes.K)
        log_prior = (
            None
            if is_learned(self.prior, default=False)
            else np.log(fixed_prior(self.prior, votes.K))
        )
        fit = _Fit(data, U, log_prior)
        history: list[float] = []
        converged = False
        while not converged and len(history) < self.n_iter:
            before = fit.rY
            history.append(fit.round())
            converged = bool(np.abs(fit.rY - before).max() <= self.tol)
            progress(len(history), self.n_iter)
        A, D = len(PRECISIONS) * len(SPAM), len(EASE)
        right = np.exp(np.einsum("adcc->adc", U)).reshape(A, D * votes.K)
        weight = (fit.ru.T @ fit.rY / votes.M).ravel()
        extra = {
            "precisions_": fit.rz @ np.repeat(PRECISIONS, len(SPAM)),
            "spam_rates_": fit.rz @ np.tile(SPAM, len(PRECISIONS)),
            "ease_": fit.ru @ EASE,
            "n_iter_": len(history),
            "converged_": converged,
            "elbo_history_": np.array(history),
        }
        return Solution(fit.rY, np.clip(fit.rz @ (right @ weight), 0.0, 1.0), extra)


def log_answers(m: int) -> FloatArray:
    """(precisions x spam rates) x eases x true x given: log-probabilities of answers."""
    from scipy.special import ndtr

    scale = np.sqrt(np.outer(PRECISIONS, EASE))[:, :, None, None]
    edges = np.arange(1, m) - 0.5  # between the classes; the outer cells reach to infinity
    below = ndtr(scale * (edges[None, :] - np.arange(m)[:, None])[None, None])
    ends = np.zeros((*below.shape[:3], 1))
    cells = np.diff(np.concatenate([ends, below, ends + 1.0], axis=3), axis=3)
    mixed = (1.0 - SPAM)[:, None, None, None] * cells[:, None] + SPAM[:, None, None, None] / m
    return np.log(mixed).reshape(len(PRECISIONS) * len(SPAM), len(EASE), m, m)


class _Fit:
    """Mean field over workers' grid points, tasks' eases and labels."""

    def __init__(self, data: Crowd, U: FloatArray, log_prior: FloatArray | None) -> None:
        A, D = U.shape[:2]
        self.data = data
        self.U = U
        self.log_prior = log_prior
        self.rY = data.shares
        self.rz = np.full((data.N, A), 1.0 / A)
        self.ru = np.full((data.M, D), 1.0 / D)

    def round(self) -> float:
        """Every factor once; returns the bound."""
        from ._rows import sum_rows

        d, U = self.data, self.U
        A, D = U.shape[:2]
        flat = (self.ru[:, :, None] * self.rY[:, None, :]).reshape(d.M, D * d.m)
        said = times(flat, U.transpose(1, 2, 3, 0).reshape(D * d.m, d.m * A))
        logs = sum_rows(d.by_worker.indptr, d.by_worker.indices, said.reshape(d.M * d.m, A))
        log_a = weights(self.rz, PSEUDO)
        self.rz = normalise_logs(logs + log_a)[0]
        log_a = weights(self.rz, PSEUDO)

        G = sum_rows(d.by_task.indptr, d.by_task.indices, self.rz).reshape(d.M, d.m * A)
        P = times(G, U.transpose(3, 0, 1, 2).reshape(d.m * A, D * d.m)).reshape(d.M, D, d.m)
        log_u = weights(self.ru, PSEUDO)
        self.ru = normalise_logs(np.einsum("jc,jhc->jh", self.rY, P) + log_u)[0]
        log_u = weights(self.ru, PSEUDO)
        log_pi = self._classes()
        self.rY = normalise_logs(np.einsum("jh,jhc->jc", self.ru, P) + log_pi)[0]
        log_pi = self._classes()

        fit = np.einsum("jh,jc,jhc->", self.ru, self.rY, P)
        total = float(fit)
        for r, log_w, pseudo in (
            (self.rz, log_a, PSEUDO / A),
            (self.ru, log_u, PSEUDO / D),
            (self.rY, log_pi, 0.0 if self.log_prior is not None else 1.0),
        ):
            total += float((r * (log_w - safe_log(r))).sum()) + pseudo * float(log_w.sum())
        return total

    def _classes(self) -> FloatArray:
        return weights(self.rY, float(self.data.m)) if self.log_prior is None else self.log_prior


def weights(r: FloatArray, pseudo: float) -> FloatArray:
    """Log of the weights that fit the responsibilities best, with ``pseudo`` more in all."""
    sizes = r.sum(axis=0) + pseudo / r.shape[1]
    found: FloatArray = np.log(sizes / sizes.sum())
    return found
