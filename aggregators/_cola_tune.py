"""Hyper-parameters of COLA by its bound, as the paper tunes them by the likelihood."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from ._cola import Hyper

FACTORS = (0.3, 3.0)
ROUNDS = 3


class Scored(Protocol):
    """A run with its bound by sweep."""

    history: list[float]


def tuned(hyper: Hyper, run: Callable[[Hyper], Scored]) -> Hyper:
    """Coordinate ascent on factors of beta_a, beta_b, alpha and lambda_a.

    ``lambda_b`` keeps its ratio to ``lambda_a`` (the paper's M / N).
    """
    best = run(hyper).history[-1]
    for _ in range(ROUNDS):
        before = best
        for name in ("lambda_a", "alpha", "beta_a", "beta_b"):
            for factor in FACTORS:
                while True:
                    values = {name: getattr(hyper, name) * factor}
                    if name == "lambda_a":
                        values["lambda_b"] = hyper.lambda_b * factor
                    candidate = replace(hyper, **values)
                    score = run(candidate).history[-1]
                    if score <= best or not 1e-3 < values[name] < 1e6:
                        break
                    best, hyper = score, candidate
        if best <= before:
            break
    return hyper
