"""How a worker stood at 1, 2, 5, 10, 20, 50, 100, ... votes.

A single interval costs 20 µs, mostly for the call, and a thousand together little more than one
each: so they are noted as they come, and computed once a batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv

from connector.domain.rows import HistoryRow


class Milestone(NamedTuple):
    """A worker's standing when it reached a number of votes; `a` and `b` are its Beta's."""

    project_id: int
    worker_id: int
    votes: int
    at: int
    accuracy: float
    a: float
    b: float


def history_rows(reached: Sequence[Milestone]) -> list[HistoryRow]:
    """Their rows, in the same order."""
    lower, upper = beta_interval([m.a for m in reached], [m.b for m in reached])
    return [
        HistoryRow(*m[:5], low, high) for m, low, high in zip(reached, lower, upper, strict=True)
    ]


def beta_interval(a: Sequence[float], b: Sequence[float]) -> tuple[list[float], list[float]]:
    """2.5 % and 97.5 % quantiles of Beta(a, b), element by element.

    Parameters that rounding has pushed to 0 or below are lifted to 1e-12.
    """
    if not a:
        return [], []
    lifted = np.maximum(a, 1e-12), np.maximum(b, 1e-12)
    return betaincinv(*lifted, 0.025).tolist(), betaincinv(*lifted, 0.975).tolist()


def mark(n: int) -> int:
    """``n`` if it is one of 1, 2, 5, 10, 20, 50, 100, ..., else 0."""
    if n > 5 and n % 10:
        return 0
    tens = n
    while tens % 10 == 0 and tens:
        tens //= 10
    return n if tens in (1, 2, 5) else 0
