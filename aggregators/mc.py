"""MC: the one-coin posterior by Gibbs sampling."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ._types import FloatArray, Progress
from .base import Aggregator, Solution, require, top_classes
from .fast_sbic import check_beta_prior
from .priors import Prior, fixed_prior
from .votes import Votes


class MC(Aggregator):
    """Monte Carlo: collapsed Gibbs sampling of the true classes, accuracies integrated out.

    The model is that of `FastSBIC`; given the other tasks' classes, task i is y with chance
    proportional to prior(y) times, over its votes, the accuracy (right + alpha) / (n + alpha +
    beta) that the worker's other votes show where it says y, and its complement (shared between
    the wrong classes) where not. Source: the SBIC paper's MC baseline, after Kim and Ghahramani,
    "Bayesian Classifier Combination" (AISTATS 2012), for one coin. ``probas_`` average these
    chances over sweeps and chains, which varies less than counting classes.

    Args:
        alpha: of the Beta prior of a worker's accuracy, > 0.
        beta: likewise.
        n_samples: sweeps kept, of each chain.
        burn_in: sweeps before them.
        n_chains: from the majority's labels with a tenth of the tasks drawn anew.
        classes: as in `Aggregator`.
        prior: as in `Aggregator`; None is uniform.
        seed: of the chains.
        n_jobs: threads for the chains.

    Example:
        >>> task, worker = [1, 1, 1, 2, 2, 2], ["a", "b", "c"] * 2
        >>> MC().fit_predict(task, worker, [0, 0, 1, 1, 1, 1]).tolist()
        [0, 1]
    """

    def __init__(
        self,
        *,
        alpha: float = 2.0,
        beta: float = 1.0,
        n_samples: int = 200,
        burn_in: int = 50,
        n_chains: int = 4,
        classes: Sequence[Any] | None = None,
        prior: Prior = None,
        seed: int = 0,
        n_jobs: int = 1,
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.n_samples = n_samples
        self.burn_in = burn_in
        self.n_chains = n_chains
        self.classes = classes
        self.prior = prior
        self.seed = seed
        self.n_jobs = n_jobs

    def _check(self) -> None:
        check_beta_prior(self.alpha, self.beta)
        require(self.n_samples >= 1, f"n_samples must be at least 1, it is {self.n_samples}")
        require(self.burn_in >= 0, f"burn_in must not be negative, it is {self.burn_in}")
        require(self.n_chains >= 1, f"n_chains must be at least 1, it is {self.n_chains}")

    def _solve(self, votes: Votes, progress: Progress) -> Solution:
        from ._fast import starts
        from ._gibbs import chain

        log_prior = np.log(fixed_prior(self.prior, votes.K))
        order = np.argsort(votes.task, kind="stable")
        worker, label = votes.worker[order], votes.label[order]
        start = starts(votes.task, votes.M)
        majority = top_classes(votes.per_task().astype(np.float64))

        def run(number: int) -> tuple[FloatArray, FloatArray]:
            random = np.random.default_rng([self.seed, number])
            first = majority.copy()
            anew = random.random(votes.M) < 0.1
            first[anew] = random.integers(0, votes.K, int(anew.sum()))
            seed = int(random.integers(2**31))
            return chain(
                start,
                worker,
                label,
                first,
                log_prior,
                votes.N,
                float(self.alpha),
                float(self.beta),
                self.burn_in,
                self.n_samples,
                seed,
            )

        if self.n_jobs > 1:
            with ThreadPoolExecutor(self.n_jobs) as pool:
                runs = list(pool.map(run, range(self.n_chains)))
        else:
            runs = [run(number) for number in range(self.n_chains)]
        progress(1, 1)
        probas = np.mean([p for p, _ in runs], axis=0)
        probas /= probas.sum(axis=1, keepdims=True)
        right = np.mean([r for _, r in runs], axis=0)
        skills = (right + self.alpha) / (votes.per_worker() + self.alpha + self.beta)
        return Solution(probas, skills)
