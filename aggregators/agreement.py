"""Krippendorff's alpha from counts, a block of tasks at a time.

Source: K. Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), sections C and D.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from ._types import FloatArray

Level: TypeAlias = Literal["nominal", "ordinal", "interval"]


def coincidences(counts: FloatArray) -> FloatArray:
    """K x K: pairs of votes on one task, each task's in all worth its number of votes.

    Those of several blocks of tasks add up.

    Args:
        counts: M x K, votes by task and class; tasks with fewer than two say nothing.
    """
    several = counts[counts.sum(axis=1) >= 2]
    pairs = several / np.maximum(several.sum(axis=1, keepdims=True) - 1.0, 1.0)
    found: FloatArray = several.T @ pairs - np.diag(pairs.sum(axis=0))
    return found


def alpha(observed: FloatArray, level: Level, values: FloatArray | None = None) -> float:
    """1 is full agreement, 0 what chance would give.

    Args:
        observed: K x K, from `coincidences`.
        level: how far two classes are apart: 1 if they differ; by the votes that lie between
            them; by the square of their values.
        values: length K, for "interval"; by default the classes' positions.

    Returns:
        alpha; 1 where only one class was ever used; NaN where no task has two votes.
    """
    margin = observed.sum(axis=1)
    n = margin.sum()
    if n == 0:
        return float("nan")
    expected = (np.outer(margin, margin) - np.diag(margin)) / (n - 1.0)
    K = len(margin)
    if level == "nominal":
        distance = 1.0 - np.eye(K)
    elif level == "ordinal":
        middle = np.cumsum(margin) - margin / 2.0
        distance = (middle[:, None] - middle[None, :]) ** 2
    elif level == "interval":
        at = np.arange(K, dtype=np.float64) if values is None else values
        distance = (at[:, None] - at[None, :]) ** 2
    else:
        raise ValueError(f"level must be 'nominal', 'ordinal' or 'interval', it is {level!r}")
    chance = float((expected * distance).sum())
    return 1.0 if chance == 0.0 else float(1.0 - (observed * distance).sum() / chance)
