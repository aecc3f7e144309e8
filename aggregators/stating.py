"""Stated probabilities of many tasks at once: `confidence.stated` for arrays."""

from __future__ import annotations

import numpy as np

from ._types import FloatArray, IntArray
from .confidence import URN, URN_VOTES


def softmax_rows(m: FloatArray) -> FloatArray:
    """Row-wise softmax without overflow."""
    e = np.exp(m - m.max(axis=1, keepdims=True))
    out: FloatArray = e / e.sum(axis=1, keepdims=True)
    return out


def stated_rows(m: FloatArray, counts: IntArray, prior: FloatArray, doubt: float) -> FloatArray:
    """Mix in that a share ``doubt`` of the tasks misleads everybody (see `confidence.stated`).

    Args:
        m: M x K, un-normalised log-weights.
        counts: M x K, votes.
        prior: length K.
        doubt: in [0, 1); 0 gives the softmax.
    """
    mu = softmax_rows(m)
    if doubt <= 0.0:
        return mu
    from scipy.special import expit, gammaln

    K = m.shape[1]
    top = m.max(axis=1)
    evidence = top + np.log(np.exp(m - top[:, None]).sum(axis=1))
    r = counts.sum(axis=1)
    if K == 2:
        g = -r * np.log(2.0)
    else:
        scale = np.minimum(1.0, URN_VOTES / np.maximum(r, 1))
        each = gammaln(counts * scale[:, None] + URN / K) - gammaln(URN / K)
        g = each.sum(axis=1) - (gammaln(r * scale + URN) - gammaln(URN))
        g -= np.maximum(0, r - URN_VOTES) * np.log(K)
    w = expit(-(evidence - g + np.log((1.0 - doubt) / doubt)))[:, None]
    out: FloatArray = (1.0 - w) * mu + w * prior
    return out
