"""One flag per worker, the most severe that is shown, with its reason in words and its numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from aggregators._types import FloatArray, IntArray

from .accuracy import Accuracy, grid, intervals, log_likelihoods
from .beliefs import beliefs
from .case import Case, flag_of
from .constant import constants
from .drift import changes
from .information import information
from .words import numbers, reason

LEVEL = 0.01
"""False-alarm rate of each flag over an honest worker's whole life, however often it is tested."""

MARGIN = {False: 0.3, True: 0.15}
"""Nominal, ordinal: a spammer is surely below chance + this share of the way to always right."""

CROWD = 0.5
"""And below this share of the crowd's own way from chance: hard tasks make nobody a spammer."""


class WorkerFlag(NamedTuple):
    """What a worker's votes show.

    Attributes:
        flag: of `case.FLAGS`.
        reason: in words, with the numbers in it.
        numbers: those numbers; `votes`, `accuracy`, `lower`, `upper` always.
    """

    flag: str
    reason: str
    numbers: Mapping[str, float]


def flag_workers(
    task: Any,
    worker: Any,
    label: Any,
    posteriors: Any,
    *,
    truth: Any = None,
    workers: int | None = None,
    alpha: float = 2.0,
    beta: float = 1.0,
    class_prior: Any = None,
    ordinal: bool = False,
    weighs: Any = None,
    classes: Sequence[str] | None = None,
    level: float = LEVEL,
) -> list[WorkerFlag]:
    """Flag every worker by the votes and by what the others say of their tasks.

    Args:
        task: length V, index of each vote's task; votes in order of arrival.
        worker: length V, index of its worker.
        label: length V, index of the class given.
        posteriors: M x K, rows sum to 1; of all votes, the worker's own too (it is taken out).
        truth: length M, the true class of gold tasks, -1 elsewhere; None: no gold.
        workers: N, if some have no votes.
        alpha: of the Beta prior of a worker's accuracy.
        beta: likewise.
        class_prior: length K or M x K, the prior inside the posteriors, to put the classes' real
            frequencies in its place; None: they have been learned, or are to be taken as they are.
        ordinal: classes are in order, and a near miss is better than a far one.
        weighs: length N, whether a worker's votes are in the posteriors (a blocked one's are not).
        classes: names of the classes, for the reasons.
        level: false-alarm rate of each flag.

    Returns:
        N flags.

    Raises:
        ValueError: arrays that do not fit together.
    """
    t, w, x = (np.asarray(part, dtype=np.int64) for part in (task, worker, label))
    P = np.asarray(posteriors, dtype=np.float64)
    if not (t.shape == w.shape == x.shape and t.ndim == 1):
        raise ValueError(
            f"task, worker, label must be of one length, not {t.shape, w.shape, x.shape}"
        )
    if P.ndim != 2 or P.shape[1] < 2:
        raise ValueError(f"posteriors must be tasks x classes, they are {P.shape}")
    gold = np.full(len(P), -1) if truth is None else np.asarray(truth, dtype=np.int64)
    N = workers if workers is not None else int(w.max(initial=-1)) + 1
    if not len(t):
        empty = {"votes": 0, "accuracy": 1.0 / P.shape[1], "lower": 0.0, "upper": 1.0}
        return [WorkerFlag("too_few", "no votes", empty) for _ in range(N)]
    found = beliefs(
        t,
        w,
        x,
        P,
        gold,
        alpha=alpha,
        beta=beta,
        class_prior=None if class_prior is None else np.asarray(class_prior, dtype=np.float64),
        weighs=None if weighs is None else np.asarray(weighs, dtype=bool),
        workers=N,
    )
    at = grid(found.K, ordinal, found.frequencies)
    everything = np.arange(len(t))
    said = intervals(log_likelihoods(found, at, N, everything), at, level)
    n = np.bincount(w, minlength=N)
    chance = 1.0 / found.K
    margin = _margin(said, n, chance, ordinal)
    on_gold = gold[t] >= 0
    checked = intervals(log_likelihoods(found, at, N, everything[on_gold]), at, level)
    gold_n = np.bincount(w[on_gold], minlength=N)
    gold_right = np.bincount(w[on_gold], x[on_gold] == gold[t[on_gold]], N)
    known = information(found, N, ordinal)
    reach = np.minimum(known.reach(n, level), 2.0)
    same = constants(found, N, level)
    worse = changes(found, N, level)
    names = [f"class {i}" for i in range(found.K)] if classes is None else list(map(repr, classes))
    out = []
    for j in range(N):
        case = Case(
            votes=int(n[j]),
            accuracy=float(said.estimate[j]),
            lower=float(said.lower[j]),
            upper=float(said.upper[j]),
            chance=chance,
            limit=chance + margin * (1.0 - chance),
            margin=margin,
            follows=float(known.J[j]),
            reach=float(reach[j]),
            error=float(known.error[j]),
            variety=float(known.variety[j]),
            answer=names[int(same.answer[j])],
            same=int(same.given[j]),
            elsewhere=float(same.elsewhere[j]),
            constant=bool(same.found[j]),
            gold=int(gold_n[j]),
            gold_right=int(gold_right[j]),
            gold_upper=float(checked.upper[j]),
            change=worse.get(j),
        )
        flag = flag_of(case)
        out.append(WorkerFlag(flag, reason(flag, case), numbers(flag, case)))
    return out


def _margin(said: Accuracy, n: IntArray, chance: float, ordinal: bool) -> float:
    """Share of the way from chance to always right, below which a worker is a spammer."""
    order = np.argsort(said.estimate, kind="stable")
    half = np.searchsorted(np.cumsum(n[order]), n.sum() / 2.0)
    crowd: FloatArray = (said.estimate[order[min(half, len(order) - 1)]] - chance) / (1.0 - chance)
    return float(min(MARGIN[ordinal], CROWD * max(0.0, float(crowd))))
