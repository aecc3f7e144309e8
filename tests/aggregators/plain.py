"""Plain oracles: the papers' formulas with loops over the whole history, sharing no code with ours.

Votes are lists of (task, worker, class index), in order of arrival.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

Vote = tuple[str, str, int]


def softmax(m: Sequence[float]) -> list[float]:
    top = max(m)
    e = [math.exp(v - top) for v in m]
    return [v / sum(e) for v in e]


def weight(m: list[float], x: int, p: float) -> None:
    K = len(m)
    for y in range(K):
        m[y] += math.log(p) if y == x else math.log((1 - p) / (K - 1))


class PlainFastSBIC:
    """Algorithm 1 with the sum over the worker's history at each vote, votes in a flat list."""

    def __init__(
        self, K: int, alpha: float = 2.0, beta: float = 1.0, prior: Sequence[float] | None = None
    ) -> None:
        self.K = K
        self.alpha = alpha
        self.beta = beta
        self.prior = list(prior or [1 / K] * K)
        self.votes: list[tuple[str, str, int, float]] = []
        self.gold: dict[str, int] = {}

    def log_weights(self, task: str) -> list[float]:
        m = [math.log(p) for p in self.prior]
        for i, _, x, p in self.votes:
            if i == task:
                weight(m, x, p)
        return m

    def mu(self, task: str) -> list[float]:
        if task in self.gold:
            return [1.0 if y == self.gold[task] else 0.0 for y in range(self.K)]
        return softmax(self.log_weights(task))

    def skill(self, worker: str) -> float:
        mine = [(i, x) for i, j, x, _ in self.votes if j == worker]
        right = sum(self.mu(i)[x] for i, x in mine)
        return (right + self.alpha) / (len(mine) + self.alpha + self.beta)

    def update(self, task: str, worker: str, x: int) -> None:
        self.votes = [v for v in self.votes if v[:2] != (task, worker)]
        self.votes.append((task, worker, x, self.skill(worker)))

    def retract(self, task: str, worker: str) -> None:
        self.votes = [v for v in self.votes if v[:2] != (task, worker)]

    def counts(self, task: str) -> list[int]:
        c = [0] * self.K
        for i, _, x, _ in self.votes:
            c[x] += i == task
        return c


def fast(
    votes: Sequence[Vote],
    K: int,
    alpha: float = 2.0,
    beta: float = 1.0,
    prior: Sequence[float] | None = None,
) -> tuple[dict[str, list[float]], dict[str, float]]:
    """Algorithm 1 over a dataset, O(history) a vote: task -> m, worker -> accuracy at the end."""
    start = [math.log(p) for p in (prior or [1 / K] * K)]
    m: dict[str, list[float]] = {i: list(start) for i, _, _ in votes}
    history: dict[str, list[tuple[str, int]]] = {j: [] for _, j, _ in votes}

    def accuracy(j: str) -> float:
        right = math.fsum(softmax(m[i])[x] for i, x in history[j])
        return (right + alpha) / (len(history[j]) + alpha + beta)

    for i, j, x in votes:
        weight(m[i], x, accuracy(j))
        history[j].append((i, x))
    return m, {j: accuracy(j) for j in history}


def sorted_naive(
    votes: Sequence[Vote],
    K: int,
    alpha: float = 2.0,
    beta: float = 1.0,
    prior: Sequence[float] | None = None,
) -> dict[str, list[float]]:
    """Algorithm 2: for each task Fast SBIC without it, then its votes with the accuracies there."""
    start = [math.log(p) for p in (prior or [1 / K] * K)]
    z: dict[str, list[float]] = {}
    for k in dict.fromkeys(i for i, _, _ in votes):
        others = [v for v in votes if v[0] != k]
        _, skills = fast(others, K, alpha, beta, prior)
        z[k] = list(start)
        for i, j, x in votes:
            if i == k:
                weight(z[k], x, skills.get(j, alpha / (alpha + beta)))
    return z


def stated(m: Sequence[float], c: Sequence[int], prior: Sequence[float], rho: float) -> list[float]:
    """The stated confidence, formula by formula."""
    K = len(m)
    r = sum(c)
    if rho == 0:
        return softmax(m)
    A = max(m) + math.log(math.fsum(math.exp(v - max(m)) for v in m))
    if K == 2:
        g = -r * math.log(K)
    else:
        cut = [v * min(1.0, 10 / r) if r else 0.0 for v in c]
        g = math.fsum(math.lgamma(v + 10 / K) - math.lgamma(10 / K) for v in cut)
        g += math.lgamma(10) - math.lgamma(sum(cut) + 10)
        g -= max(0, r - 10) * math.log(K)
    exponent = A - g + math.log((1 - rho) / rho)
    w = 0.0 if exponent > 700 else 1 / (1 + math.exp(exponent))
    return [(1 - w) * q + w * p for q, p in zip(softmax(m), prior, strict=True)]
