"""Triangular estimation: accuracies from how pairs of workers agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ._sparse import normalise_logs
from ._types import FloatArray, Progress
from .base import Aggregator, Solution, require
from .one_coin import one_coin_logs
from .priors import Prior, fixed_prior
from .votes import Votes

MOST = 1.0 - 1e-6
"""A reliability beyond this counts as this: a worker may not outvote everybody for ever."""

CELLS = 2_000_000
"""Pairs of workers in memory at a time."""

TIE = 1e-9
"""Agreements this close are equal: rounding must not choose among them."""


class TriangularEstimation(Aggregator):
    """Each worker's reliability from the most informative triangle of workers.

    Source: Bonald, Combes, "A Minimax Optimal Algorithm for Crowdsourcing" (NIPS 2017), section
    4. With reliability theta_j = 2 p_j - 1 and C_ij the mean agreement (+1 or -1) of two workers
    on their common tasks, E C_ij = theta_i theta_j, so for the pair (i, j) without k that has the
    largest abs C_ij::

        abs theta_k = sqrt( abs( C_ik C_jk / C_ij ) )

    and the signs follow the worker k* with the largest abs(theta_k^2 + sum_i C_ik). Votes then
    weigh log((1 + theta) / (1 - theta)). Time grows with the square of the number of workers;
    sparse data (workers with few common tasks) give all but random reliabilities.

    For K classes with uniform mistakes C = (K a - 1) / (K - 1), a the share of equal answers, has
    the same property with theta = (K p - 1) / (K - 1).

    Args:
        min_common: pairs with fewer common tasks are not asked; the paper asks all.
        classes: as in `Aggregator`.
        prior: as in `Aggregator`; None is uniform.
        seed: not used.
        n_jobs: not used.

    Fitted: also ``reliabilities_`` (theta, length N).

    Example:
        >>> task, worker = [1, 1, 1, 2, 2, 2, 3, 3, 3], ["a", "b", "c"] * 3
        >>> label = [0, 0, 1, 1, 1, 1, 0, 0, 0]
        >>> TriangularEstimation().fit_predict(task, worker, label).tolist()
        [0, 1, 0]
    """

    reliabilities_: FloatArray

    def __init__(
        self,
        *,
        min_common: int = 1,
        classes: Sequence[Any] | None = None,
        prior: Prior = None,
        seed: int = 0,
        n_jobs: int = 1,
    ) -> None:
        self.min_common = min_common
        self.classes = classes
        self.prior = prior
        self.seed = seed
        self.n_jobs = n_jobs

    def _check(self) -> None:
        require(self.min_common >= 1, f"min_common must be at least 1, it is {self.min_common}")

    def _solve(self, votes: Votes, progress: Progress) -> Solution:
        K = votes.K
        theta = reliabilities(Agreements(votes, self.min_common))
        weight = np.clip(theta, -1.0 / (K - 1) if K > 2 else -1.0, 1.0) * MOST
        p = (1.0 + (K - 1) * weight) / K
        p = np.clip(p, 1e-9, 1.0 - 1e-9)
        logs = one_coin_logs(votes, np.log(p), np.log((1.0 - p) / (K - 1)))
        probas = normalise_logs(logs + np.log(fixed_prior(self.prior, K)))[0]
        progress(1, 1)
        return Solution(probas, p, {"reliabilities_": theta})


class Agreements:
    """C of all pairs of workers, by blocks of rows: all at once would not fit for large crowds."""

    def __init__(self, votes: Votes, min_common: int) -> None:
        from scipy.sparse import csr_array

        ones = np.ones(votes.V)
        cell = votes.task * votes.K + votes.label
        self.N = votes.N
        self.K = votes.K
        self.min_common = min_common
        self.said: Any = csr_array((ones, (votes.worker, cell)), shape=(votes.N, votes.M * votes.K))
        self.seen: Any = csr_array((ones, (votes.worker, votes.task)), shape=(votes.N, votes.M))

    def rows(self, first: int, last: int) -> FloatArray:
        """C of workers first..last-1 with all; 0 for pairs with too few common tasks and itself."""
        equal = (self.said[first:last] @ self.said.T).toarray()
        common = (self.seen[first:last] @ self.seen.T).toarray()
        share = equal / np.maximum(common, 1.0)
        C = np.where(common >= self.min_common, (self.K * share - 1.0) / (self.K - 1), 0.0)
        C[np.arange(last - first), np.arange(first, last)] = 0.0
        return np.asarray(C, dtype=np.float64)


def reliabilities(agreements: Agreements) -> FloatArray:
    """Length N, theta of each worker, in [-1, 1]."""
    (best,), sums = _largest_pairs(agreements, [None])
    # The best pair of all serves every worker outside it; those inside have one of their own.
    theta = _by_triangle(agreements, best)
    own, _ = _largest_pairs(agreements, list(best))
    for k, pair in zip(best, own, strict=True):
        theta[k] = _by_triangle(agreements, pair)[k]
    theta = np.minimum(theta, 1.0)
    total = theta**2 + sums
    lead = int(np.argmax(np.abs(total) >= np.abs(total).max() - TIE))
    sign = np.sign(total[lead] * agreements.rows(lead, lead + 1)[0])
    sign[lead] = np.sign(total[lead])
    signed: FloatArray = theta * sign
    return signed


def _by_triangle(agreements: Agreements, pair: tuple[int, int]) -> FloatArray:
    """Abs theta of all workers by one pair; 0 for the pair itself and where nothing is known."""
    i, j = pair
    to_i = np.abs(agreements.rows(i, i + 1)[0])
    to_j = np.abs(agreements.rows(j, j + 1)[0])
    if to_i[j] == 0.0:
        return np.zeros_like(to_i)
    found: FloatArray = np.sqrt(to_i * to_j / to_i[j])
    found[[i, j]] = 0.0
    return found


def _largest_pairs(
    agreements: Agreements, without: Sequence[int | None]
) -> tuple[list[tuple[int, int]], FloatArray]:
    """For each entry the pair that has the largest abs C, and the sum of C by worker.

    An entry is a worker who must not be in the pair, or None. Of equal pairs the first is taken;
    (0, 0) where there is none.
    """
    best = [0.0] * len(without)
    pairs = [(0, 0)] * len(without)
    sums = np.empty(agreements.N)
    for first, C in _blocks(agreements):
        sums[first : first + len(C)] = C.sum(axis=1)
        size = np.abs(C)
        for at, k in enumerate(without):
            rest = size
            if k is not None:
                rest = size.copy()
                rest[:, k] = 0.0
                if first <= k < first + len(C):
                    rest[k - first] = 0.0
            top = float(rest.max())
            if top > best[at] + TIE:
                flat = int(np.argmax(rest >= top - TIE))
                best[at] = top
                pairs[at] = (first + flat // agreements.N, flat % agreements.N)
    return pairs, sums


def _blocks(agreements: Agreements) -> Iterator[tuple[int, FloatArray]]:
    step = max(1, CELLS // agreements.N)
    for first in range(0, agreements.N, step):
        yield first, agreements.rows(first, min(first + step, agreements.N))
