"""The methods that are compared, as the paper sets them up: the crowd's own prior, q = 0.5."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import aggregators
from aggregators import Aggregator

from .crowd import Setting
from .errors import Misused

COMPARED = ("majority", "one_coin_dawid_skene", "amf", "kos", "mc", "fast_sbic", "sorted_sbic")
"""The paper's Figure 2."""

SHOWN = {
    "majority": "MAJ",
    "one_coin_dawid_skene": "EM",
    "amf": "AMF",
    "kos": "KOS",
    "mc": "MC",
    "fast_sbic": "Fast SBIC",
    "sorted_sbic": "Sorted SBIC",
}
"""What the paper calls them."""


def check(names: Sequence[str]) -> None:
    """Raise Misused for a method that there is not, or that is named twice."""
    for name in names:
        if name not in aggregators.METHODS:
            known = ", ".join(sorted(aggregators.METHODS))
            raise Misused(f"there is no method {name!r}; there are {known}")
    if not names or len(set(names)) != len(names):
        raise Misused("the methods must be named, each once")


def make(name: str, setting: Setting, seed: int, **more: Any) -> Aggregator:
    """A method by its name in `aggregators.METHODS`, told what the crowd was drawn from."""
    cls: Any = aggregators.METHODS[name]
    parameters = inspect.signature(cls).parameters
    given: dict[str, Any] = {"classes": [0, 1], "seed": seed, **more}
    if "alpha" in parameters and "beta" in parameters:
        given |= {"alpha": setting.alpha, "beta": setting.beta}
    # Majority takes a prior for one more vote, KOS for no part of its model.
    if name not in ("majority", "kos"):
        given["prior"] = [1.0 - setting.q, setting.q]
    made: Aggregator = cls(**given)
    return made
