"""Fast SBIC, stated confidence and its slope, as algorithms.md writes them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from scipy.special import betaincinv

# Numbers per class, in the order of the project's `classes`.
PerClass = dict[str, float]

TIE = 1e-9
Z_MAX = 20.0


def accuracy(S: float, n: int, worker_prior: tuple[float, float]) -> float:
    alpha, beta = worker_prior
    return (S + alpha) / (n + alpha + beta)


def vote_p(S: float, n: int, worker_prior: tuple[float, float]) -> float:
    """The p of a vote: the worker's accuracy by the votes before it."""
    return min(max(accuracy(S, n, worker_prior), 1e-6), 1 - 1e-6)


def interval(S: float, n: int, worker_prior: tuple[float, float]) -> tuple[float, float]:
    """The 95 % interval of the worker's Beta."""
    alpha, beta = worker_prior
    a, b = S + alpha, n - S + beta
    return float(betaincinv(a, b, 0.025)), float(betaincinv(a, b, 0.975))


def log_prior(prior: PerClass) -> PerClass:
    return {name: math.log(share) for name, share in prior.items()}


def log_weights(base: PerClass, votes: Iterable[tuple[str, float]]) -> PerClass:
    """Base plus the weights of the votes (label, p) in order of arrival: m, not normalised."""
    m = dict(base)
    for label, p in votes:
        for name in m:
            m[name] += math.log(p) if name == label else math.log((1 - p) / (len(m) - 1))
    return m


def log_sum_exp(m: PerClass) -> float:
    highest = max(m.values())
    return highest + math.log(sum(math.exp(value - highest) for value in m.values()))


def softmax(m: PerClass) -> PerClass:
    highest = max(m.values())
    powers = {name: math.exp(value - highest) for name, value in m.items()}
    total = sum(powers.values())
    return {name: power / total for name, power in powers.items()}


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def one_hot(classes: Iterable[str], truth: str) -> PerClass:
    return {name: float(name == truth) for name in classes}


def top_of(q: PerClass) -> str:
    """The class of the largest probability; of classes within 1e-9 of it the earliest."""
    largest = max(q.values())
    return next(name for name, share in q.items() if share >= largest - TIE)


def log_dirichlet_multinomial(counts: Sequence[float], concentration: float) -> float:
    share = concentration / len(counts)
    return (
        sum(math.lgamma(count + share) - math.lgamma(share) for count in counts)
        - math.lgamma(sum(counts) + concentration)
        + math.lgamma(concentration)
    )


def misleading(m: PerClass, labels: Sequence[str], doubt: float) -> float:
    """w: how probable it is that this task misleads everybody."""
    K, r = len(m), len(labels)
    A = log_sum_exp(m)
    if K == 2:
        g = -r * math.log(K)
    else:
        scale = min(1.0, 10 / r) if r else 1.0
        counts = [labels.count(name) * scale for name in m]
        g = log_dirichlet_multinomial(counts, 10.0) - max(0, r - 10) * math.log(K)
    return sigmoid(-(A - g + math.log((1 - doubt) / doubt)))


def stated(
    prior: PerClass,
    votes: Sequence[tuple[str, float]],
    doubt: float,
    base: PerClass | None = None,
) -> PerClass:
    """q: the posterior, mixed with the prior by how probably the task misleads.

    `base`: by a run; else the log prior.
    """
    m = log_weights(log_prior(prior) if base is None else base, votes)
    mu = softmax(m)
    if doubt == 0:
        return mu
    w = misleading(m, [label for label, _ in votes], doubt)
    return {name: (1 - w) * mu[name] + w * prior[name] for name in m}


def expected_absolute_loss(mu: PerClass) -> float:
    """In classes, of the answer for which it is lowest."""
    shares = list(mu.values())
    return min(
        sum(share * abs(x - answer) for x, share in enumerate(shares))
        for answer in range(len(shares))
    )


def logit(share: float) -> float:
    """Clipped to +-20."""
    if share >= 1:
        return Z_MAX
    return min(max(math.log(share / (1 - share)), -Z_MAX), Z_MAX) if share > 0 else -Z_MAX


def sloped(q: PerClass, b: float) -> PerClass:
    """Stated probabilities by a slope that was learned on gold."""
    top = top_of(q)
    if q[top] <= 0.5:
        return dict(q)
    certain = sigmoid(b * logit(q[top]))
    # In exact numbers the others sum to 1 - q[top]; near 1 their own sum is the precise one.
    others = sum(share for name, share in q.items() if name != top)
    if others == 0:
        rest = (1 - certain) / (len(q) - 1)
        return {name: certain if name == top else rest for name in q}
    factor = (1 - certain) / others
    return {name: certain if name == top else share * factor for name, share in q.items()}


def learn_slope(records: Mapping[str, tuple[float, int]], b: float, n_classes: int) -> float:
    """Newton from the last b over the records (z, hit) of gold tasks."""
    b0, sd = (0.9 if n_classes == 2 else 0.6), 0.25
    for _ in range(30):
        G = -(b - b0) / sd**2
        H = 1 / sd**2
        for z, hit in records.values():
            s = sigmoid(b * z)
            G += (hit - s) * z
            H += s * (1 - s) * z**2
        b += min(max(G / H, -1), 1)
        if abs(G / H) < 1e-6:
            break
    return min(max(b, 0.05), 3)
