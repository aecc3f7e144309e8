"""From a snapshot to what the consumer is to adopt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aggregators.handover import (
    accuracies,
    anchored,
    cluster_counts,
    floored,
    largest_confusions,
    one_coin_weights,
)
from aggregators.quality import Confusions

from .choosing import choose
from .fitting import Fit, Step, Unsound, fit
from .snapshot import Snapshot

Floats = NDArray[np.float64]

TRIPLES = 2_000
"""Most cells of one confusion."""


@dataclass(frozen=True)
class Result:
    """What a run found, by place in the snapshot.

    Attributes:
        snapshot: what it was computed from.
        algorithm: the method.
        parameters: those that it was given.
        seed: of everything random.
        bound: what the method climbed to, where it climbs.
        base: M x K, the run's log-weights less those of the snapshot's votes.
        p: each worker's accuracy over the run's posteriors, by place in `Snapshot.names`.
        probas: M x K, the run's posteriors; gold tasks are certain.
        cluster: length N, each worker's cluster, where the method has any.
        cluster_confusions: L x true x given, expected votes.
        gold_errors: error on gold of each method that was tried without seeing it.
        why: why this method.
    """

    snapshot: Snapshot
    algorithm: str
    parameters: Mapping[str, Any]
    seed: int
    bound: float | None
    base: Floats
    p: Floats
    probas: Floats
    cluster: NDArray[np.int64] | None
    cluster_confusions: Floats | None
    gold_errors: Mapping[str, float]
    why: str

    def confusions(self) -> Iterator[Confusions]:
        """Workers' expected counts by place in `Snapshot.names`, some workers at a time."""
        return largest_confusions(*self.snapshot.all_votes, self.probas, TRIPLES)


def compute(snapshot: Snapshot, algorithm: str, seed: int = 0, step: Step | None = None) -> Result:
    """Choose the method, fit it, and split what it found for the live rules.

    Args:
        snapshot: at least one vote.
        algorithm: sorted_sbic, cola, dawid_skene or auto.
        seed: of everything random: the same snapshot and seed give the same result to the last bit.
        step: told how far it is.

    Raises:
        Unsound: the result is not finite, or the method's bound fell.
    """
    s = snapshot
    choice = choose(s, algorithm, seed, step)
    found = fit(s, choice.algorithm, gold=True, seed=seed, step=step)
    probas = _with_own_priors(found.probas, s)
    tasks, K = len(s.tasks), s.config.K
    p = accuracies(*s.all_votes, probas, len(s.names), s.config.alpha, s.config.beta)
    weights = one_coin_weights(s.task, s.worker, s.label, p, tasks, K)
    if found.log_weights is not None:
        m = found.log_weights + _own_priors(s)
    else:
        unseen = choice.unseen
        if unseen is None and s.truth:
            unseen = fit(s, choice.algorithm, gold=False, seed=seed, step=step)
        m = anchored(_by_votes(probas, unseen, s), s.log_prior, weights)
    base = floored(m - weights)
    for what, values in (("base", base), ("accuracy", p)):
        if not np.isfinite(values).all():
            raise Unsound(f"a {what} is not finite")
    cluster = confusions = None
    if found.clusters is not None:
        cluster = found.clusters.argmax(axis=1).astype(np.int64)
        confusions = cluster_counts(s.task, s.worker, s.label, probas, found.clusters)
    return Result(
        s,
        found.algorithm,
        found.parameters,
        seed,
        found.bound,
        base,
        p,
        probas,
        cluster,
        confusions,
        choice.errors,
        choice.why,
    )


def _own_priors(s: Snapshot) -> Floats:
    """M x K: what a task's own prior adds to the log prior of the project, which methods know."""
    shift: Floats = s.log_prior - np.log(s.config.class_prior)
    return shift


def _with_own_priors(probas: Floats, s: Snapshot) -> Floats:
    """Posteriors under the tasks' own priors; what is certain stays so."""
    if not s.priors:
        return probas
    out = probas.copy()
    for task, prior in s.priors.items():
        row = probas[task] * (np.asarray(prior) / np.asarray(s.config.class_prior))
        out[task] = row / row.sum()
    return out


def _by_votes(probas: Floats, unseen: Fit | None, s: Snapshot) -> Floats:
    """The posteriors, those of gold tasks as if they were not gold.

    Methods that judge workers by all their votes have seen a gold task's truth through its own
    voters; so for gold tasks it is the fit that knew no gold.
    """
    if unseen is None:
        return probas
    free = _with_own_priors(unseen.probas, s)
    out = probas.copy()
    tasks = list(s.truth)
    out[tasks] = free[tasks]
    return out
