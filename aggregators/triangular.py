"""Triangular estimation: accuracies from how pairs of workers agree."""

from __future__ import annotations

from collections.abc import Sequence
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
    weigh log((1 + theta) / (1 - theta)). Memory and time grow with the square of the number of
    workers; sparse data (workers with few common tasks) give all but random reliabilities.

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
        theta = reliabilities(correlations(votes, self.min_common))
        weight = np.clip(theta, -1.0 / (K - 1) if K > 2 else -1.0, 1.0) * MOST
        p = (1.0 + (K - 1) * weight) / K
        p = np.clip(p, 1e-9, 1.0 - 1e-9)
        logs = one_coin_logs(votes, np.log(p), np.log((1.0 - p) / (K - 1)))
        probas = normalise_logs(logs + np.log(fixed_prior(self.prior, K)))[0]
        progress(1, 1)
        return Solution(probas, p, {"reliabilities_": theta})


def correlations(votes: Votes, min_common: int) -> FloatArray:
    """N x N, C of each pair, 0 where they share too few tasks and on the diagonal."""
    from scipy.sparse import csr_array

    ones = np.ones(votes.V)
    cell = votes.task * votes.K + votes.label
    said = csr_array((ones, (votes.worker, cell)), shape=(votes.N, votes.M * votes.K))
    seen = csr_array((ones, (votes.worker, votes.task)), shape=(votes.N, votes.M))
    equal = (said @ said.T).toarray()
    common = (seen @ seen.T).toarray()
    share = equal / np.maximum(common, 1.0)
    C = np.where(common >= min_common, (votes.K * share - 1.0) / (votes.K - 1), 0.0)
    np.fill_diagonal(C, 0.0)
    return np.asarray(C, dtype=np.float64)


def reliabilities(C: FloatArray) -> FloatArray:
    """Length N, theta of each worker, in [-1, 1]."""
    N = len(C)
    size = np.abs(C)
    theta = np.zeros(N)
    # The best pair of all serves every worker outside it; those inside need a search of their own.
    best = _largest_pair(size)
    for k in range(N):
        pair = best
        if k in best:
            without = size.copy()
            without[k] = 0.0
            without[:, k] = 0.0
            pair = _largest_pair(without)
        i, j = pair
        if i != j and k not in pair and size[i, j] > 0.0:
            theta[k] = np.sqrt(size[i, k] * size[j, k] / size[i, j])
    theta = np.minimum(theta, 1.0)
    total = theta**2 + C.sum(axis=1)
    lead = int(np.argmax(np.abs(total) >= np.abs(total).max() - TIE))
    sign = np.sign(theta[lead] * np.sign(total[lead]) * C[lead])
    sign[lead] = np.sign(total[lead])
    signed: FloatArray = theta * sign
    return signed


def _largest_pair(size: FloatArray) -> tuple[int, int]:
    flat = int(np.argmax(size >= size.max() - TIE))
    return flat // len(size), flat % len(size)
