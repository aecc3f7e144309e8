"""How fast an error falls, against what the theorems say."""

from __future__ import annotations

from collections.abc import Mapping
from math import log
from typing import Literal

import numpy as np

from aggregators import theory

from .crowd import Setting

HIGH, LOW = 0.1, 0.001
"""Errors between which a slope is measured: above, beliefs are not settled yet, and the theorems
speak of settled ones; below, 1000 tasks have too few errors to count."""

VARIANTS: dict[str, theory.Variant] = {"fast_sbic": "fast", "sorted_sbic": "sorted"}
"""Methods that the theorems speak of."""

POLICIES: dict[str, theory.Policy] = {"UNI": "uniform", "US": "uncertainty"}
"""The paper's names."""


def measured(errors: Mapping[int, float], high: float = HIGH, low: float = LOW) -> float | None:
    """By how much the log error falls per label, by least squares over what lies in between.

    Args:
        errors: mean error by labels per task.
        high: largest error that counts.
        low: smallest.

    Returns:
        None with fewer than two such points.
    """
    points = [(R, log(e)) for R, e in errors.items() if low <= e <= high]
    if len(points) < 2:
        return None
    R, logs = np.array(points).T
    return float(-np.polyfit(R, logs, 1)[0])


def predicted(policy: Literal["UNI", "US"], algorithm: str, setting: Setting) -> float | None:
    """The slope of Theorem 1 or 2; None for a method that they do not speak of."""
    if algorithm not in VARIANTS:
        return None
    return theory.slope(
        setting.labels_per_worker,
        setting.alpha,
        setting.beta,
        VARIANTS[algorithm],
        POLICIES[policy],
    )


def bound(errors: Mapping[int, float], slope: float) -> dict[int, float]:
    """The bound's line, moved so that it meets the last error above zero: it holds up to that."""
    above = [R for R, e in errors.items() if e > 0.0]
    if not above:
        return {}
    last = max(above)
    return {R: min(0.5, errors[last] * float(np.exp(slope * (last - R)))) for R in sorted(errors)}
