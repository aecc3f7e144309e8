"""Stated confidence: what a posterior is worth once some tasks mislead everybody.

Fast SBIC's posterior does not know that a share of the tasks misleads the whole crowd, and so
says 95 % where 85-94 % are right.  `stated` mixes in that a share ``doubt`` of the tasks is
misleading, on which votes say nothing about the truth; `Slope` then learns one slope on the logit
of the stated top probability from gold tasks.  Neither touches the updates themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, lgamma, log, log1p

import numpy as np

from .streaming import TaskState, softmax

LOG_2 = log(2.0)

TIE = 1e-9
"""Classes whose stated probability is this close to the largest tie: the earlier one is the top."""

URN = 10.0
"""Concentration of the Dirichlet-multinomial that shared mistakes follow (K > 2)."""

URN_VOTES = 10
"""At most so many votes' worth of agreement speaks for a shared mistake; without the cap the urn
beats good workers on long unanimous tasks."""


def stated(
    m: Sequence[float],
    counts: Mapping[int, int],
    prior: Sequence[float],
    doubt: float,
    mu: Sequence[float] | None = None,
) -> list[float]:
    """Stated probabilities of a task.

    Args:
        m: length K, un-normalised log-weights (base plus counting votes).
        counts: counting votes per class index; classes without votes may be left out.
        prior: length K, the task's prior, sums to 1.
        doubt: share of misleading tasks, in [0, 1); 0 gives softmax(m).
        mu: softmax(m), where the caller has it already.

    Returns:
        length K, sums to 1.
    """
    if mu is None:
        mu = softmax(m)
    if doubt <= 0.0:
        return list(mu)
    r = sum(counts.values())
    K = len(m)
    # log sum exp(m), by the class that has the largest share
    if K == 2:  # half of all projects, and twice as fast
        evidence = (m[0] if m[0] > m[1] else m[1]) - log(mu[0] if mu[0] > mu[1] else mu[1])
        g = -r * LOG_2
    else:
        evidence = max(m) - log(max(mu))
        g = _urn(counts, r, K)
    gap = evidence - g + log((1.0 - doubt) / doubt)
    if gap > 0.0:
        e = exp(-gap)
        w = e / (1.0 + e)
    else:
        w = 1.0 / (1.0 + exp(gap))
    if K == 2:
        return [(1.0 - w) * mu[0] + w * prior[0], (1.0 - w) * mu[1] + w * prior[1]]
    return [(1.0 - w) * a + w * b for a, b in zip(mu, prior, strict=True)]


def _urn(counts: Mapping[int, int], r: int, K: int) -> float:
    """Log evidence of r votes under mistakes that agree (Dirichlet-multinomial, capped)."""
    if not r:
        return 0.0
    scale = min(1.0, URN_VOTES / r)
    g = 0.0
    for c in sorted(counts.values()):  # sorted: the sum must not depend on the order of arrival
        if c:
            g += _lgamma_ratio(c * scale, URN / K)
    return g - _lgamma_ratio(r * scale, URN) - max(0, r - URN_VOTES) * log(K)


def _lgamma_ratio(count: float, a: float) -> float:
    """Log Gamma(count + a) - log Gamma(a)."""
    return lgamma(count + a) - lgamma(a)


def top(q: Sequence[float]) -> int:
    """Index of the largest probability; within `TIE` of it the earliest."""
    if len(q) == 2 and q[0] >= q[1] - TIE:
        return 0
    limit = max(q) - TIE
    for x, v in enumerate(q):
        if v >= limit:
            return x
    raise ValueError("no finite probability")


def vote_counts(task: TaskState) -> dict[int, int]:
    """Counting votes of a task per class index."""
    c: dict[int, int] = {}
    for v in task.votes.values():
        if v.counts:
            c[v.x] = c.get(v.x, 0) + 1
    return c


Z_MAX = 20.0
SLOPE_SD = 0.25
SLOPE_RANGE = (0.05, 3.0)


def logit_top(q_top: float) -> float:
    """logit(q_top), clipped to +-`Z_MAX`."""
    if q_top >= 1.0:
        return Z_MAX
    if q_top <= 0.0:
        return -Z_MAX
    return min(Z_MAX, max(-Z_MAX, log(q_top) - log1p(-q_top)))


def bend(q: Sequence[float], b: float) -> list[float]:
    """Stated probabilities under slope ``b``: the top's logit times b, the others scaled to fit.

    A top of at most 1/2 is left as it is.
    """
    x = top(q)
    q_top = q[x]
    if q_top <= 0.5:
        return list(q)
    new = 1.0 / (1.0 + exp(-b * logit_top(q_top)))
    rest = sum(v for y, v in enumerate(q) if y != x)  # 1 - q_top would be mere rounding near 1
    if rest > 0.0:
        bent = [v * (1.0 - new) / rest for v in q]
    else:  # nothing to scale: what the slope takes from the top is spread evenly
        bent = [(1.0 - new) / (len(q) - 1)] * len(q)
    bent[x] = new
    return bent


def slope_prior_mean(K: int) -> float:
    """b0, the prior mean of the slope."""
    return 0.9 if K == 2 else 0.6


def fit_slope(z: Sequence[float], hit: Sequence[bool], b: float, b0: float) -> float:
    """Newton's method for the slope's posterior mode, from the last ``b``.

    Args:
        z: logits of the stated top of each gold task as if it were not gold.
        hit: whether that top is the truth.
        b: where to start, the slope so far.
        b0: prior mean (normal, sd `SLOPE_SD`).
    """
    zs = np.asarray(z, dtype=np.float64)
    hits = np.asarray(hit, dtype=np.float64)
    precision = 1.0 / SLOPE_SD**2
    for _ in range(30):
        s = 1.0 / (1.0 + np.exp(-b * zs))
        G = -(b - b0) * precision + float(np.sum((hits - s) * zs))
        H = precision + float(np.sum(s * (1.0 - s) * zs * zs))
        step = G / H
        b += min(1.0, max(-1.0, step))
        if abs(step) < 1e-6:
            break
    return min(SLOPE_RANGE[1], max(SLOPE_RANGE[0], b))
