"""The class prior: what is believed of a task before its first vote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from ._types import FloatArray

Prior: TypeAlias = "Sequence[float] | FloatArray | Literal['uniform', 'learned'] | None"


def fixed_prior(prior: Prior, K: int) -> FloatArray:
    """Length K, sums to 1; None is uniform.

    Raises:
        ValueError: "learned" (the caller cannot), a wrong length, entries not positive or finite.
    """
    if prior is None or (isinstance(prior, str) and prior == "uniform"):
        return np.full(K, 1.0 / K)
    if isinstance(prior, str):
        raise ValueError(f"prior must be probabilities, 'uniform' or None here, not {prior!r}")
    p = np.asarray(prior, dtype=np.float64)
    if p.shape != (K,):
        raise ValueError(f"prior must have one entry for each of the {K} classes, got {p.shape}")
    if not (np.isfinite(p).all() and (p > 0).all()):
        raise ValueError(f"prior must be positive and finite, got {p.tolist()}")
    total: FloatArray = p / p.sum()
    return total


def is_learned(prior: Prior, default: bool) -> bool:
    """Whether the method shall learn the prior; None leaves it to the ``default``."""
    if prior is None:
        return default
    return isinstance(prior, str) and prior == "learned"
