"""Which method a run uses: the project's, the caller's, or the best on the project's gold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aggregators.base import top_classes

from .fitting import COLA_, DAWID_SKENE, SORTED_SBIC, Fit, Step, Unsound, fit, obstacle
from .snapshot import Snapshot

AUTO = "auto"
ENOUGH_GOLD = 50
"""Gold tasks with votes, from which on they choose the method."""

LEAD = 2.0
"""Standard errors by which another method must lead."""


class Choice(NamedTuple):
    """What was chosen, and why.

    Attributes:
        algorithm: the method.
        why: in words.
        errors: of each candidate on the gold tasks, that it had not seen; empty: none was tried.
        unseen: the chosen method's fit without the gold, where it was tried.
    """

    algorithm: str
    why: str
    errors: Mapping[str, float]
    unseen: Fit | None


def default_for(snapshot: Snapshot) -> str:
    """COLA for ordered classes, as far as it can take them; else Sorted SBIC."""
    if snapshot.config.kind == "ordinal" and obstacle(COLA_, snapshot) is None:
        return COLA_
    return SORTED_SBIC


def candidates(snapshot: Snapshot) -> list[str]:
    """The default first."""
    first = default_for(snapshot)
    others = [SORTED_SBIC, DAWID_SKENE]
    if snapshot.config.kind in ("binary", "ordinal"):
        others.insert(1, COLA_)
    able = [name for name in others if obstacle(name, snapshot) is None]
    return [first, *(name for name in able if name != first)]


def choose(snapshot: Snapshot, algorithm: str, seed: int = 0, step: Step | None = None) -> Choice:
    """Choose the method of a run.

    Args:
        snapshot: at least one vote.
        algorithm: sorted_sbic, cola, dawid_skene or auto.
        seed: of everything random.
        step: told how far the candidates are.
    """
    if algorithm != AUTO:
        return Choice(algorithm, f"{algorithm} was asked for", {}, None)
    default = default_for(snapshot)
    gold = len(snapshot.truth)
    if gold < ENOUGH_GOLD:
        why = f"{default} is the default for {snapshot.config.kind} projects"
        return Choice(
            default, f"{why}; {gold} gold tasks are too few to choose by ({ENOUGH_GOLD})", {}, None
        )
    fits: dict[str, Fit] = {}
    for name in candidates(snapshot):
        try:
            fits[name] = fit(snapshot, name, gold=False, seed=seed, step=step)
        except Unsound:
            if name == default:
                raise
    wrong = {name: mistakes(found, snapshot) for name, found in fits.items()}
    chosen, why = best(wrong, default)
    errors = {name: float(w.mean()) for name, w in wrong.items()}
    return Choice(chosen, why, errors, fits[chosen])


def mistakes(found: Fit, snapshot: Snapshot) -> NDArray[np.bool_]:
    """Whether the top class is wrong, gold task by gold task."""
    tasks = np.array(sorted(snapshot.truth), dtype=np.int64)
    truth = np.array([snapshot.truth[task] for task in tasks.tolist()], dtype=np.int64)
    wrong: NDArray[np.bool_] = top_classes(found.probas[tasks]) != truth
    return wrong


def best(wrong: Mapping[str, NDArray[np.bool_]], default: str) -> tuple[str, str]:
    """The method with the fewest mistakes, if it leads the default clearly; and why.

    The lead is judged task by task: its standard error is that of the mean difference.

    Args:
        wrong: by method, whether it is wrong on each of the same gold tasks.
        default: the one to stay with in doubt.
    """
    n = len(wrong[default])
    counts = {name: int(w.sum()) for name, w in wrong.items()}
    leader = min(counts, key=lambda name: (counts[name], name != default))
    shares = ", ".join(f"{name} {count / n:.3f}" for name, count in counts.items())
    if leader == default:
        return default, f"{default} has the lowest error on {n} gold tasks ({shares})"
    difference = wrong[default].astype(np.float64) - wrong[leader]
    lead = float(difference.mean())
    error = float(difference.std(ddof=1)) / n**0.5
    led = f"{lead:.3f} below {default}'s on {n} gold tasks ({shares})"
    if lead > LEAD * error:
        return leader, f"{leader}'s error is {led}, more than two standard errors ({error:.3f})"
    return default, f"{leader}'s error is {led}, within two standard errors ({error:.3f})"
