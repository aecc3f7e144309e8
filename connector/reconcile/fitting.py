"""One method on one snapshot: posteriors, what they rest on, and whether they can be trusted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aggregators import COLA, METHODS, Aggregator
from connector.domain.config import ProjectConfig

from .snapshot import Snapshot

Floats = NDArray[np.float64]
Step = Callable[[int, int], None]
"""Called with (steps done, steps in all)."""

SORTED_SBIC, COLA_, DAWID_SKENE = "sorted_sbic", "cola", "dawid_skene"

COLA_CLASSES = 100
"""COLA's tensors grow with the square of the classes: with 1,000 they would take 2 GB each."""

DAWID_SKENE_CELLS = 20_000_000
"""Cells of all workers' confusion matrices, of which Dawid-Skene holds several copies."""

FALL = 1e-6
"""A bound that falls by more than this share of itself is no rounding."""


class Unsound(Exception):
    """The method's result must not be adopted; the message says why."""


@dataclass(frozen=True)
class Fit:
    """What a method found.

    Attributes:
        algorithm: its name.
        parameters: those that it was given.
        probas: M x K by place in `Snapshot.tasks`; gold tasks are certain where gold was given.
        log_weights: M x K, Sorted SBIC's own, of gold tasks too by their votes alone; else None.
        bound: what it climbed to, where it climbs.
        clusters: N x L, shares of each worker in clusters, where it has any.
    """

    algorithm: str
    parameters: Mapping[str, Any]
    probas: Floats
    log_weights: Floats | None
    bound: float | None
    clusters: Floats | None


def obstacle(algorithm: str, snapshot: Snapshot) -> str | None:
    """Why a method cannot take the snapshot, or None."""
    K = snapshot.config.K
    if algorithm == COLA_ and K > COLA_CLASSES:
        return f"COLA takes at most {COLA_CLASSES} classes, the project has {K}"
    if algorithm == DAWID_SKENE and len(snapshot.workers) * K * K > DAWID_SKENE_CELLS:
        return (
            f"Dawid-Skene would need {len(snapshot.workers):,} confusion matrices of {K} x {K}"
            " at once, more than memory should hold"
        )
    return None


def fit(
    snapshot: Snapshot,
    algorithm: str,
    *,
    gold: bool,
    seed: int = 0,
    step: Step | None = None,
) -> Fit:
    """Fit the snapshot's votes, in order of arrival.

    Args:
        snapshot: at least one vote.
        algorithm: sorted_sbic, cola or dawid_skene.
        gold: whether the method knows the gold tasks' truth.
        seed: of everything random.
        step: told how far it is.

    Raises:
        Unsound: the snapshot is too large for the method, the result is not finite, or its bound
            has fallen.
    """
    if (reason := obstacle(algorithm, snapshot)) is not None:
        raise Unsound(reason)
    parameters = _parameters(algorithm, snapshot.config)
    model = METHODS[algorithm]()
    model.set_params(**parameters, classes=range(snapshot.config.K), seed=seed)
    truth = dict(snapshot.truth) if gold and snapshot.truth else None
    with np.errstate(all="ignore"):  # what is not finite is found below
        model.fit(snapshot.task, snapshot.worker, snapshot.label, gold=truth, progress=step)
    place = np.argsort(np.asarray(model.tasks_))
    probas = np.asarray(model.probas_)[place]
    weights = getattr(model, "log_weights_", None)
    clusters = None
    if isinstance(model, COLA):
        clusters = model.worker_cluster_probas_[np.argsort(np.asarray(model.workers_))]
    bound = _bound(model)
    found = Fit(
        algorithm,
        parameters,
        probas,
        None if weights is None else np.asarray(weights)[place],
        bound,
        clusters,
    )
    _check(found)
    return found


def _parameters(algorithm: str, config: ProjectConfig) -> dict[str, Any]:
    """The project's priors; a class prior that nobody stated is learned by methods that can."""
    stated = len(set(config.class_prior)) > 1
    prior = list(config.class_prior) if stated else None
    if algorithm == SORTED_SBIC:
        return {"alpha": config.alpha, "beta": config.beta, "prior": prior}
    return {"prior": prior}


def _bound(model: Aggregator) -> float | None:
    """The last value of what the method climbs.

    Raises:
        Unsound: it fell on the way.
    """
    history = getattr(model, "elbo_history_", getattr(model, "history_", None))
    if history is None:
        return None
    values = np.asarray(history, dtype=np.float64)
    if not np.isfinite(values).all():
        raise Unsound("the bound is not finite")
    falls = np.flatnonzero(np.diff(values) < -FALL * np.maximum(1.0, np.abs(values[:-1])))
    if len(falls):
        at = int(falls[0])
        raise Unsound(
            f"the bound fell from {values[at]:.6g} to {values[at + 1]:.6g} in sweep {at + 2}"
        )
    return float(values[-1])


def _check(found: Fit) -> None:
    for what, values in (("posterior", found.probas), ("log-weight", found.log_weights)):
        if values is not None and not np.isfinite(values).all():
            rows = np.flatnonzero(~np.isfinite(values).all(axis=1))
            raise Unsound(f"a {what} of {len(rows)} tasks is not finite")
