# ruff: noqa: N802, N803, N806 -- the names of the paper
"""COLA's variational ascent: each update maximises one bound over one factor.

Source: "Aggregating Crowdsourced Ordinal Labels via Bayesian Clustering" (ECML PKDD 2016), section
3.2; the features and the bound on E log Z are those of `_cola_data.scores`: with them the
variances have a closed form. Notation as in the paper: l worker clusters, h task clusters, c true
class, k answer; ``rz`` N x K1, ``ru`` M x K2, ``rY`` M x m; q(sigma_l) = N(mu_l, diag v_l),
q(tau_h) = N(nu_h, diag w_h), each (m-1) x 2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._climb import climb
from ._cola_data import Crowd, penalty, scores, scores_gradient, sides
from ._products import times, transposed_times
from ._sparse import normalise_logs
from ._types import FloatArray


@dataclass(frozen=True)
class Hyper:
    """Concentrations of the clusters and the classes, precisions of the parameters.

    ``log_prior`` (length m) fixes the class probabilities; None learns them with ``alpha``.
    """

    beta_a: float
    beta_b: float
    alpha: float
    lambda_a: float
    lambda_b: float
    log_prior: FloatArray | None = None


class Ascent:
    """One run: the state and its updates. `bound` may not fall at any of them.

    Args:
        data: the votes.
        hyper: the hyper-parameters.
        rY: M x m, to start from.
        rz: N x K1, or None: every worker a cluster of its own, and no distribution over them.
        ru: M x K2, or None: one cluster.

    ``free`` is ``rY`` before the tasks whose truth is known were set to it.
    """

    def __init__(
        self,
        data: Crowd,
        hyper: Hyper,
        rY: FloatArray,
        rz: FloatArray | None = None,
        ru: FloatArray | None = None,
    ) -> None:
        self.data = data
        self.hyper = hyper
        self.rY = self.free = rY
        self.rz = rz
        self.ru = np.ones((data.M, 1)) if ru is None else ru
        K1 = data.N if rz is None else rz.shape[1]
        K2 = self.ru.shape[1]
        self.mu = np.zeros((K1, data.m - 1, 2))
        self.nu = np.zeros((K2, data.m - 1, 2))
        self.v = np.full_like(self.mu, 2.0 / hyper.lambda_a)
        self.w = np.full_like(self.nu, 2.0 / hyper.lambda_b)
        self._count_workers()
        self.update_sticks_a()
        self.update_sticks_b()
        self.update_classes()

    # -- sums that several updates share

    def _count_workers(self) -> None:
        """G[j, k, l], the votes for k on j from each cluster (not for single workers)."""
        from ._rows import sum_rows

        d = self.data
        if self.rz is not None:
            G = sum_rows(d.by_task.indptr, d.by_task.indices, self.rz)
            self.G = G.reshape(d.M, d.m * self.rz.shape[1])

    def tensor(self) -> FloatArray:
        """n[l, h, c, k], expected votes."""
        d = self.data
        both = (self.ru[:, :, None] * self.rY[:, None, :]).reshape(d.M, -1)
        if self.rz is None:
            n = np.asarray(d.counted @ both).reshape(d.N, d.m, self.ru.shape[1], d.m)
            return np.ascontiguousarray(n.transpose(0, 2, 3, 1))
        n = transposed_times(self.G, both).reshape(d.m, -1, self.ru.shape[1], d.m)
        return np.ascontiguousarray(n.transpose(1, 2, 3, 0))

    def utility(self) -> FloatArray:
        """U[l, h, c, k], equation (9) with E log Z bounded."""
        logits = scores(self.data, self.mu)[:, None] + scores(self.data, self.nu)[None]
        cost = penalty(self.data, self.v)[:, None] + penalty(self.data, self.w)[None]
        return log_softmax(logits) - cost[..., None]

    def evidence(self, U: FloatArray) -> FloatArray:
        """P[j, h, c], what all votes on j say."""
        d = self.data
        K2 = self.ru.shape[1]
        if self.rz is None:
            rows = U.transpose(0, 3, 1, 2).reshape(d.N * d.m, K2 * d.m)
            return np.asarray(d.answers @ rows).reshape(d.M, K2, d.m)
        rows = U.transpose(3, 0, 1, 2).reshape(-1, K2 * d.m)
        return times(self.G, rows).reshape(d.M, K2, d.m)

    # -- updates

    def update_workers(self, n: FloatArray, steps: int) -> None:
        """Parameters of the worker clusters, given the tensor."""
        h = self.hyper
        counts = sides(self.data, n.sum(axis=(1, 3)))
        self.v = 1.0 / (h.lambda_a / 2.0 + counts / 4.0)
        self.mu = self._climb(n, self.mu, scores(self.data, self.nu)[None], h.lambda_a, steps, 1)

    def update_items(self, n: FloatArray, steps: int) -> None:
        """Parameters of the task clusters, given the tensor."""
        h = self.hyper
        counts = sides(self.data, n.sum(axis=(0, 3)))
        self.w = 1.0 / (h.lambda_b / 2.0 + counts / 4.0)
        fixed = scores(self.data, self.mu)[:, None]
        self.nu = self._climb(n, self.nu, fixed, h.lambda_b, steps, 0)

    def _climb(
        self, n: FloatArray, start: FloatArray, fixed: FloatArray, lam: float, steps: int, axis: int
    ) -> FloatArray:
        """L-BFGS on a concave sum; ``axis`` is that of the other kind of cluster in ``n``."""
        total = n.sum(axis=3, keepdims=True)

        def objective(mu: FloatArray) -> tuple[float, FloatArray]:
            logs = log_softmax(np.expand_dims(scores(self.data, mu), axis) + fixed)
            value = np.vdot(n, logs) - lam / 4.0 * np.vdot(mu, mu)
            residual = (n - total * np.exp(logs)).sum(axis=axis)
            return float(value), scores_gradient(self.data, residual) - lam / 2.0 * mu

        return climb(objective, start, steps)

    def update_rz(self, U: FloatArray) -> None:
        """Clusters of the workers."""
        if self.rz is None:
            return
        from ._rows import sum_rows

        d = self.data
        K1 = self.rz.shape[1]
        both = (self.ru[:, :, None] * self.rY[:, None, :]).reshape(d.M, -1)
        rows = U.transpose(1, 2, 3, 0).reshape(both.shape[1], d.m * K1)
        said = times(both, rows).reshape(d.M * d.m, K1)
        logs = sum_rows(d.by_worker.indptr, d.by_worker.indices, said) + self.log_phi_a()
        self.rz = normalise_logs(logs)[0]
        self._count_workers()

    def update_ru(self, P: FloatArray) -> None:
        """Clusters of the tasks."""
        if self.ru.shape[1] > 1:
            logs = np.einsum("jc,jhc->jh", self.rY, P) + self.log_phi_b()
            self.ru = normalise_logs(logs)[0]

    def update_rY(self, P: FloatArray) -> None:
        """Labels of the tasks."""
        logs = np.einsum("jh,jhc->jc", self.ru, P) + self.log_pi()
        self.free = normalise_logs(logs)[0]
        self.rY = self.data.clamp(self.free)

    def update_classes(self) -> None:
        """Dirichlet parameters of the class shares."""
        self.a = self.hyper.alpha / self.data.m + self.rY.sum(axis=0)

    def update_sticks_a(self) -> None:
        """Beta parameters of the worker clusters' sticks."""
        if self.rz is not None:
            self.gamma = sticks(self.rz.sum(axis=0), self.hyper.beta_a)

    def update_sticks_b(self) -> None:
        """Beta parameters of the task clusters' sticks."""
        self.eta = sticks(self.ru.sum(axis=0), self.hyper.beta_b)

    def sort_clusters(self) -> None:
        """Largest first, which is where the stick-breaking prior expects them."""
        if self.rz is not None:
            order = np.argsort(-self.rz.sum(axis=0), kind="stable")
            self.rz = np.ascontiguousarray(self.rz[:, order])
            self.mu, self.v = self.mu[order], self.v[order]
            self._count_workers()
            self.update_sticks_a()
        order = np.argsort(-self.ru.sum(axis=0), kind="stable")
        self.ru = self.ru[:, order]
        self.nu, self.w = self.nu[order], self.w[order]
        self.update_sticks_b()

    def sweep(self, hold_labels: bool = False, steps: int = 10) -> None:
        """Every update once, in the recipe's order."""
        n = self.tensor()
        self.update_workers(n, steps)
        self.update_items(n, steps)
        U = self.utility()
        self.update_rz(U)
        self.update_sticks_a()
        P = self.evidence(U)
        self.update_ru(P)
        self.update_sticks_b()
        if not hold_labels:
            self.update_rY(P)
            self.update_classes()
        self.sort_clusters()

    # -- expectations

    def log_pi(self) -> FloatArray:
        """E log of the class shares."""
        from scipy.special import digamma

        if self.hyper.log_prior is not None:
            return self.hyper.log_prior
        return np.asarray(digamma(self.a) - digamma(self.a.sum()), dtype=np.float64)

    def log_phi_a(self) -> FloatArray:
        """E log of the worker clusters' weights."""
        return log_weights(self.gamma)

    def log_phi_b(self) -> FloatArray:
        """E log of the task clusters' weights."""
        return log_weights(self.eta)

    def bound(self) -> float:
        """The full lower bound of the log evidence (constants of the data left out)."""
        from scipy.special import gammaln

        h = self.hyper
        total = np.vdot(self.tensor(), self.utility())
        total += (self.rY * (self.log_pi() - safe_log(self.rY))).sum()
        if h.log_prior is None:
            A, m = self.a.sum(), self.data.m
            total -= gammaln(A) - gammaln(self.a).sum()
            total += gammaln(h.alpha) - m * gammaln(h.alpha / m)
            total -= ((self.a - h.alpha / m) * self.log_pi()).sum()
        if self.rz is not None:
            total += (self.rz * (self.log_phi_a() - safe_log(self.rz))).sum()
            total -= stick_divergence(self.gamma, h.beta_a)
        total += (self.ru * (self.log_phi_b() - safe_log(self.ru))).sum()
        total -= stick_divergence(self.eta, h.beta_b)
        total += normal_gain(self.mu, self.v, h.lambda_a)
        total += normal_gain(self.nu, self.w, h.lambda_b)
        return float(total)


def log_softmax(logits: FloatArray) -> FloatArray:
    """Log softmax over the last axis."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    out: FloatArray = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return out


def safe_log(r: FloatArray) -> FloatArray:
    """Log with log 0 = 0, for r log r."""
    out: FloatArray = np.log(np.where(r > 0.0, r, 1.0))
    return out


def sticks(sizes: FloatArray, beta: float) -> FloatArray:
    """(L - 1) x 2 Beta parameters, gamma_l1 = 1 + S_l, gamma_l2 = beta + sum_{d>l} S_d."""
    after = sizes[::-1].cumsum()[::-1] - sizes
    return np.stack([1.0 + sizes[:-1], beta + after[:-1]], axis=1)


def log_weights(gamma: FloatArray) -> FloatArray:
    """Length L: E log of the weights of broken sticks; the last takes what is left."""
    from scipy.special import digamma

    both = digamma(gamma.sum(axis=1))
    taken = np.append(digamma(gamma[:, 0]) - both, 0.0)
    left = np.append(0.0, np.cumsum(digamma(gamma[:, 1]) - both))
    return np.asarray(taken + left, dtype=np.float64)


def stick_divergence(gamma: FloatArray, beta: float) -> float:
    """KL of the sticks' Beta distributions from their prior Beta(1, beta)."""
    from scipy.special import betaln, digamma

    g1, g2 = gamma[:, 0], gamma[:, 1]
    both = digamma(g1 + g2)
    terms = betaln(1.0, beta) - betaln(g1, g2)
    terms = terms + (g1 - 1.0) * (digamma(g1) - both) + (g2 - beta) * (digamma(g2) - both)
    return float(terms.sum())


def normal_gain(mu: FloatArray, v: FloatArray, lam: float) -> float:
    """Minus the KL of N(mu, v) from N(0, 2 / lam), summed."""
    return float(0.5 * (np.log(v * lam / 2.0) + 1.0 - lam / 2.0 * (v + mu**2)).sum())
