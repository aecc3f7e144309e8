"""Run one method on one dataset and score it; ours and Crowd-Kit's alike."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from aggregators import METHODS, Aggregator, metrics

from .datasets import Dataset


@dataclass(frozen=True)
class Score:
    """Figures of one run; the ordinal ones count the classes' positions.

    ``seconds`` are the processor's, of all threads: others at work on the machine hardly matter.
    """

    error: float
    nll: float
    ece: float
    brier: float
    mse: float
    l0: float
    l1: float
    l2: float
    seconds: float


def score(probas: pd.DataFrame, data: Dataset, seconds: float) -> Score:
    """Against the gold labels; classes that a method has no column for have probability 0."""
    full = probas.reindex(columns=data.classes, fill_value=0.0)
    known = data.gold[data.gold.index.isin(full.index) & data.gold.isin(data.classes)]
    p = full.loc[known.index].to_numpy(dtype=np.float64)
    truth = np.array([data.classes.index(x) for x in known], dtype=np.int64)
    figures = (metrics.error, metrics.nll, metrics.ece, metrics.brier)
    ordinal = (metrics.mse, metrics.l0, metrics.l1, metrics.l2)
    found = {f.__name__: f(p, truth) for f in (*figures, *ordinal)}
    return Score(**found, seconds=seconds)


def make(name: str, **params: Any) -> Aggregator:
    """A method by name; its compiled parts are ready before anything is timed."""
    cls: Any = METHODS[name]
    if name not in _WARM:
        for K in (2, 3):
            cls().fit([1, 1, 2, 2, 2, 3], [1, 2, 1, 2, 3, 1], [0, 1, 1, 0, 1, K - 1])
        _WARM.add(name)
    made: Aggregator = cls(**params)
    return made


_WARM: set[str] = set()


def ours(name: str, data: Dataset, **params: Any) -> Score:
    """One of our methods, by its name in `METHODS`."""
    model: Any = make(name, classes=data.classes, **params)
    start = time.process_time()
    model.fit(data.votes)
    return score(model.probas_, data, time.process_time() - start)


def peers() -> dict[str, Callable[[], Any]]:
    """Crowd-Kit's classes, by the name to show."""
    import crowdkit.aggregation as ck

    return {
        "MV": ck.MajorityVote,
        "Wawa": ck.Wawa,
        "DS": lambda: ck.DawidSkene(n_iter=100, tol=-np.inf),
        "one-coin": lambda: ck.OneCoinDawidSkene(n_iter=100),
        "GLAD": ck.GLAD,
        "KOS": lambda: ck.KOS(random_state=0),
        "MACE": lambda: ck.MACE(random_state=0),
    }


BINARY_ONLY = {"KOS"}


def peer(name: str, data: Dataset) -> Score | None:
    """One of Crowd-Kit's; None where it cannot or raises."""
    if name in BINARY_ONLY and len(data.classes) > 2:
        return None
    model = peers()[name]()
    start = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            labels = model.fit_predict(data.votes)
    except Exception:  # whatever a peer raises is its result
        return None
    seconds = time.process_time() - start
    probas = getattr(model, "probas_", None)
    if probas is None:  # labels alone
        probas = pd.DataFrame(
            {c: (labels == c).astype(float) for c in data.classes}, index=labels.index
        )
    return score(probas, data, seconds)


def mean(scores: list[Score]) -> Score:
    """Figure by figure."""
    return Score(*(float(np.mean([getattr(s, f) for s in scores])) for f in FIELDS))


FIELDS = list(Score.__dataclass_fields__)
