"""Truth inference for crowdsourced labels: pure numerics, no I/O.

    >>> from aggregators import MajorityVote
    >>> MajorityVote().fit_predict((["t", "t"], ["a", "b"], [1, 1])).tolist()
    [1]

Every class is imported when it is first asked for, so that a service which needs one of them does
not wait for the compiler and the linear algebra behind the others.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .amf import AMF
    from .base import Aggregator, NotFittedError
    from .cola import COLA
    from .dawid_skene import DawidSkene
    from .fast_sbic import FastSBIC
    from .glad import GLAD
    from .kos import KOS
    from .majority import MajorityVote
    from .mc import MC
    from .ome import OME
    from .one_coin import OneCoinDawidSkene
    from .ordmix import ORDMIX
    from .sorted_sbic import SortedSBIC
    from .triangular import TriangularEstimation
    from .wawa import Wawa

    METHODS: dict[str, type[Aggregator]]

_NAMES = {
    "fast_sbic": ("FastSBIC", "fast_sbic"),
    "sorted_sbic": ("SortedSBIC", "sorted_sbic"),
    "cola": ("COLA", "cola"),
    "majority": ("MajorityVote", "majority"),
    "one_coin_dawid_skene": ("OneCoinDawidSkene", "one_coin"),
    "dawid_skene": ("DawidSkene", "dawid_skene"),
    "amf": ("AMF", "amf"),
    "kos": ("KOS", "kos"),
    "mc": ("MC", "mc"),
    "triangular": ("TriangularEstimation", "triangular"),
    "ordmix": ("ORDMIX", "ordmix"),
    "ome": ("OME", "ome"),
    "glad": ("GLAD", "glad"),
    "wawa": ("Wawa", "wawa"),
}
"""Name of the method (as `crowdresolve replay --algorithm` has it) -> class, module."""

_HOMES = dict(_NAMES.values()) | {
    "Aggregator": "base",
    "NotFittedError": "base",
}

__all__ = [
    "AMF",
    "COLA",
    "GLAD",
    "KOS",
    "MC",
    "METHODS",
    "OME",
    "ORDMIX",
    "Aggregator",
    "DawidSkene",
    "FastSBIC",
    "MajorityVote",
    "NotFittedError",
    "OneCoinDawidSkene",
    "SortedSBIC",
    "TriangularEstimation",
    "Wawa",
]


def __getattr__(name: str) -> Any:
    if name == "METHODS":
        value: Any = {key: __getattr__(cls) for key, (cls, _) in _NAMES.items()}
    elif name in _HOMES:
        value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
