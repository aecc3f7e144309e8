"""Sorted SBIC: every task judged last, by workers whom all other tasks have shown."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import numpy as np

from ._types import FloatArray, IntArray, Progress
from .base import Aggregator, Solution, require
from .fast_sbic import check_beta_prior
from .priors import Prior, fixed_prior
from .stating import softmax_rows, stated_rows
from .votes import Votes


class SortedSBIC(Aggregator):
    """Sorted streaming Bayesian inference.

    For each task Fast SBIC runs over all votes that are not on it, in order; then the task's own
    votes count, each with its worker's accuracy in that run.

    Source: Manino, Tran-Thanh, Jennings (NeurIPS 2019), Algorithm 2 and the O(log M) remark in
    section 3.2 (line 5 is read with the votes before t, as in Algorithm 1); K > 2 as `FastSBIC`.

    Args:
        alpha: of the Beta prior of a worker's accuracy, > 0.
        beta: likewise.
        method: "tree" shares the work between tasks by halving, O(log M) a vote; the votes of
            the other tasks then come half by half, in order within each. "naive" is Algorithm 2
            as written, O(M) a vote: for small data and for tests.
        doubt: as in `FastSBIC`.
        classes: as in `Aggregator`.
        prior: as in `Aggregator`; None is uniform.
        seed: of the halving. It is random since files are grouped by task or worker: halves by
            position turn every label of the birds data round.
        n_jobs: threads.

    Fitted: also ``log_weights_`` (M x K, not normalised: log prior plus the weights of the
    votes; of a gold task too, by its workers' answers to all other tasks).

    Example:
        >>> task, worker = [1, 1, 2, 2, 3, 3], ["a", "b"] * 3
        >>> model = SortedSBIC().fit(task, worker, ["x", "x", "y", "y", "x", "y"])
        >>> model.labels_[:2].tolist()
        ['x', 'y']
    """

    _takes_gold = True

    log_weights_: FloatArray

    def __init__(
        self,
        *,
        alpha: float = 2.0,
        beta: float = 1.0,
        method: Literal["tree", "naive"] = "tree",
        doubt: float = 0.0,
        classes: Sequence[Any] | None = None,
        prior: Prior = None,
        seed: int = 0,
        n_jobs: int = 1,
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.method = method
        self.doubt = doubt
        self.classes = classes
        self.prior = prior
        self.seed = seed
        self.n_jobs = n_jobs

    def _check(self) -> None:
        check_beta_prior(self.alpha, self.beta)
        require(0.0 <= self.doubt < 1.0, f"doubt must be in [0, 1), it is {self.doubt}")
        require(
            self.method in ("tree", "naive"),
            f"method must be 'tree' or 'naive', it is {self.method!r}",
        )

    def _solve(self, votes: Votes, progress: Progress) -> Solution:
        from ._fast import forms, log_weights

        prior = fixed_prior(self.prior, votes.K)
        p = np.empty(votes.V)
        for form in forms(votes.K):
            if self._fill(form, votes, prior, p):
                break
        m = log_weights(votes.task, votes.label, p, np.log(prior), votes.M)
        mu = votes.clamp(softmax_rows(m))
        S = np.bincount(votes.worker, mu[votes.task, votes.label], votes.N)
        skills = (S + self.alpha) / (votes.per_worker() + self.alpha + self.beta)
        progress(1, 1)
        free = mu
        if self.doubt > 0.0 or votes.gold:
            free = stated_rows(m, votes.per_task(), prior, self.doubt)
        return Solution(votes.clamp(free), skills, {"log_weights_": m}, free=free)

    def _fill(self, form: int, votes: Votes, prior: FloatArray, p: FloatArray) -> bool:
        """Set the p of each vote; False: out of range in this form of the update."""
        from ._fast import pack, spans
        from ._tree import naive, tree

        a, b = float(self.alpha), float(self.beta)
        code = pack(votes.worker, votes.label, votes.N, votes.K)
        threads = max(1, self.n_jobs)
        if self.method == "naive":
            span = spans(votes.task, votes.M)
            cuts = np.linspace(0, votes.M, threads + 1).astype(int)

            def work(part: int) -> bool:
                first, last = int(cuts[part]), int(cuts[part + 1])
                return naive(
                    form, votes.task, code, span, prior, votes.N, a, b, first, last, p, votes.truth
                )

            return _all(work, threads, threads)
        number = np.random.default_rng(self.seed).permutation(votes.M)
        task: IntArray = number[votes.task]
        span = spans(task, votes.M)
        truth = votes.truth
        if votes.gold:
            truth = np.empty_like(truth)
            truth[number] = votes.truth
        levels = min((threads - 1).bit_length(), max(0, votes.M.bit_length() - 2))

        def subtree(path: int) -> bool:
            return tree(form, path, levels, task, code, span, prior, votes.N, a, b, p, truth)

        return _all(subtree, 2**levels, threads)


def _all(work: Any, parts: int, threads: int) -> bool:
    if parts == 1:
        return bool(work(0))
    with ThreadPoolExecutor(threads) as pool:
        return all(list(pool.map(work, range(parts))))
