"""COLA: ordinal labels by Bayesian clustering of workers and tasks."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

from ._cola import Ascent, Hyper, log_softmax
from ._cola_data import Crowd, crowd, scores
from ._cola_start import start_ru, start_rz
from ._frames import series_out
from ._types import FloatArray, Progress
from .base import Aggregator, Solution, require
from .priors import Prior, fixed_prior, is_learned
from .votes import Votes

FIRST_SWEEPS, FIRST_STEPS = 12, 6
HELD_SWEEPS, LABEL_SWEEPS = 10, 2
CONVERGE_HELD, CONVERGE_SWEEPS = 3, 60
REPORT_SWEEPS = 50
CLOSE = 1e-5
"""Sweeps end when the bound gains less, relative to itself."""


class COLA(Aggregator):
    """Cluster-based ordinal label aggregation.

    A worker's answers follow ordinal log-odds (which way across each split between neighbouring
    classes, given the side of the truth) shared within clusters of workers and of tasks, whose
    number Dirichlet processes choose.

    Source: "Aggregating Crowdsourced Ordinal Labels via Bayesian Clustering" (ECML PKDD 2016).
    The default is a recipe that differs from the paper's plain ascent: a first stage with one
    cluster per worker, workers clustered by its labels, and only two sweeps of the labels
    afterwards, since on real data the bound goes on rising while the error rises. That number
    was found by looking at gold, on one dataset above all; ``converge=True`` is the paper's ascent.

    Binary data are the case of two classes. The classes are taken as ordered: give ``classes``
    where their natural order is not theirs. The parameters' priors are centred on a worker who
    knows nothing, as in the paper: with a handful of votes per worker use `SortedSBIC`.

    Args:
        worker_clusters: K1, at most so many clusters of workers.
        task_clusters: K2, at most so many clusters of tasks.
        beta_a: concentration of the worker clusters, > 0.
        beta_b: concentration of the task clusters, > 0.
        alpha: pseudo tasks of the class shares' Dirichlet prior (alpha/K per class); None: 0.2 M.
        lambda_a: precision of the worker clusters' parameters (the paper's; variance 2/lambda_a).
        restarts: how many; the labels are their mean, the clusters those of the best bound.
        converge: up to 60 sweeps of everything instead of the recipe.
        tune: first choose beta_a, beta_b, alpha and lambda_a by the bound, as in the paper (it is
            no good guide to the error; several times slower).
        classes: as in `Aggregator`.
        prior: as in `Aggregator`; None learns it (``alpha``).
        seed: of the restarts.
        n_jobs: threads for the restarts.

    Fitted: also ``elbo_`` and ``elbo_history_`` (bound by sweep, of the best restart, its report
    sweeps included), ``converged_``, ``n_iter_`` (sweeps of a restart), ``worker_clusters_`` and
    ``task_clusters_`` (by id, largest cluster 0), ``worker_cluster_probas_`` (N x K1),
    ``task_cluster_probas_`` (M x K2), ``cluster_confusions_`` (K1 x true x given),
    ``task_cluster_confusions_`` (K2 x true x given), ``hyper_`` (those used).
    ``skills_`` are the chances of a right answer on a task like those seen.

    Example:
        >>> import numpy as np
        >>> task, worker = np.divmod(np.arange(300), 5)
        >>> label = np.where(np.arange(300) % 7 < 5, task % 3, 2 - task % 3)
        >>> COLA().fit_predict(task, worker, label)[:6].tolist()
        [0, 1, 2, 0, 1, 2]
    """

    _takes_gold = True

    elbo_: float
    elbo_history_: FloatArray
    converged_: bool
    n_iter_: int
    worker_clusters_: Any
    task_clusters_: Any
    worker_cluster_probas_: FloatArray
    task_cluster_probas_: FloatArray
    cluster_confusions_: FloatArray
    task_cluster_confusions_: FloatArray
    hyper_: dict[str, float]

    def __init__(
        self,
        *,
        worker_clusters: int = 25,
        task_clusters: int = 10,
        beta_a: float = 1.0,
        beta_b: float = 1.0,
        alpha: float | None = None,
        lambda_a: float = 10.0,
        restarts: int = 4,
        converge: bool = False,
        tune: bool = False,
        classes: Sequence[Any] | None = None,
        prior: Prior = None,
        seed: int = 0,
        n_jobs: int = 1,
    ) -> None:
        self.worker_clusters = worker_clusters
        self.task_clusters = task_clusters
        self.beta_a = beta_a
        self.beta_b = beta_b
        self.alpha = alpha
        self.lambda_a = lambda_a
        self.restarts = restarts
        self.converge = converge
        self.tune = tune
        self.classes = classes
        self.prior = prior
        self.seed = seed
        self.n_jobs = n_jobs

    def _check(self) -> None:
        for name in ("worker_clusters", "task_clusters", "restarts"):
            value = getattr(self, name)
            require(value >= 1, f"{name} must be at least 1, it is {value}")
        for name in ("beta_a", "beta_b", "alpha", "lambda_a"):
            value = getattr(self, name)
            require(value is None or value > 0, f"{name} must be positive, it is {value}")

    def _solve(self, votes: Votes, progress: Progress) -> Solution:
        data = crowd(votes)
        hyper = self._hyper(data)
        total = self.restarts + 2
        first = first_stage(data, hyper)
        progress(1, total)
        if self.tune:
            from ._cola_tune import tuned

            hyper = tuned(hyper, lambda h: self._restart(data, h, first_stage(data, h), 0))
            first = first_stage(data, hyper)

        done = 1

        def run(number: int) -> _Run:
            nonlocal done
            found = self._restart(data, hyper, first, number)
            done += 1
            progress(done, total)
            return found

        if self.n_jobs > 1:
            with ThreadPoolExecutor(self.n_jobs) as pool:
                runs = list(pool.map(run, range(self.restarts)))
        else:
            runs = [run(number) for number in range(self.restarts)]
        free = np.mean([r.ascent.free for r in runs], axis=0)
        probas = votes.clamp(free)
        best = max(runs, key=lambda r: r.history[-1])
        best.settle()
        progress(total, total)
        return Solution(probas, skills(best.ascent), self._report(votes, best, hyper), free)

    def _hyper(self, data: Crowd) -> Hyper:
        learned = is_learned(self.prior, default=True)
        return Hyper(
            beta_a=self.beta_a,
            beta_b=self.beta_b,
            alpha=0.2 * data.M if self.alpha is None else self.alpha,
            lambda_a=self.lambda_a,
            lambda_b=self.lambda_a * data.M / data.N,
            log_prior=None if learned else np.log(fixed_prior(self.prior, data.m)),
        )

    def _restart(self, data: Crowd, hyper: Hyper, first: FloatArray, number: int) -> _Run:
        random = np.random.default_rng(1000 * self.seed + number)
        rz = None
        if self.worker_clusters < data.N:
            rz = start_rz(data, first, self.worker_clusters, random)
        ru = start_ru(data, self.task_clusters, random)
        run = _Run(Ascent(data, hyper, first, rz, ru))
        held = CONVERGE_HELD if self.converge else HELD_SWEEPS
        for _ in range(held):
            run.sweep(hold_labels=True)
        for _ in range(CONVERGE_SWEEPS - held if self.converge else LABEL_SWEEPS):
            run.sweep(hold_labels=False)
            if self.converge and run.close():
                break
        run.converged = run.close()
        run.sweeps = len(run.history)
        return run

    def _report(self, votes: Votes, best: _Run, hyper: Hyper) -> dict[str, Any]:
        ascent = best.ascent
        rz = np.eye(votes.N) if ascent.rz is None else ascent.rz
        used = {k: v for k, v in vars(hyper).items() if k != "log_prior"}
        of_worker, of_task = rz.argmax(axis=1), ascent.ru.argmax(axis=1)
        return {
            "elbo_": best.history[-1],
            "elbo_history_": np.array(best.history),
            "converged_": best.converged,
            "n_iter_": best.sweeps,
            "worker_clusters_": series_out(
                votes.kind, votes.workers, of_worker, ("worker", "cluster")
            ),
            "task_clusters_": series_out(votes.kind, votes.tasks, of_task, ("task", "cluster")),
            "worker_cluster_probas_": rz,
            "task_cluster_probas_": ascent.ru,
            "cluster_confusions_": np.exp(log_softmax(scores(ascent.data, ascent.mu))),
            "task_cluster_confusions_": np.exp(log_softmax(scores(ascent.data, ascent.nu))),
            "hyper_": used,
        }


class _Run:
    """An ascent and its bound by sweep."""

    def __init__(self, ascent: Ascent) -> None:
        self.ascent = ascent
        self.history: list[float] = []
        self.converged = False
        self.sweeps = 0

    def sweep(self, hold_labels: bool) -> None:
        self.ascent.sweep(hold_labels)
        self.history.append(self.ascent.bound())

    def close(self) -> bool:
        return len(self.history) > 1 and self.history[-1] - self.history[-2] <= CLOSE * abs(
            self.history[-1]
        )

    def settle(self) -> None:
        """Sweep on with the labels held: the clusters to show fit the labels."""
        for _ in range(REPORT_SWEEPS):
            self.sweep(hold_labels=True)
            if self.close():
                break


def first_stage(data: Crowd, hyper: Hyper) -> FloatArray:
    """M x m labels from one cluster per worker and one of tasks."""
    single = replace(hyper, lambda_b=hyper.lambda_a)
    ascent = Ascent(data, single, data.shares)
    for _ in range(FIRST_SWEEPS):
        ascent.sweep(steps=FIRST_STEPS)
    return ascent.rY


def skills(ascent: Ascent) -> FloatArray:
    """Length N: chance of a right answer on a task like those seen."""
    data = ascent.data
    logits = scores(data, ascent.mu)[:, None] + scores(data, ascent.nu)[None]
    right = np.einsum("lhcc->lhc", np.exp(log_softmax(logits)))
    weight = (ascent.ru.T @ ascent.rY) / data.M  # share of tasks by cluster and class
    by_cluster = np.einsum("lhc,hc->l", right, weight)
    found = by_cluster if ascent.rz is None else ascent.rz @ by_cluster
    return np.asarray(np.clip(found, 0.0, 1.0), dtype=np.float64)
