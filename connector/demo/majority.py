"""What the usual way would cost: the same number of labels for every task, and a majority vote."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

SIMULATED = 20_000


def majority_accuracy(skills: Sequence[float], seed: int, tasks: int = SIMULATED) -> list[float]:
    """Share of right answers with 1, 2, ... labels per task from different people at random.

    Two classes; a tie is decided by a coin. The result has one number for each of the people.
    """
    rng = np.random.default_rng(seed)
    people = len(skills)
    right = rng.random((tasks, people)) < np.asarray(skills)
    order = rng.random((tasks, people)).argsort(axis=1)
    hits = np.take_along_axis(right, order, axis=1).cumsum(axis=1)
    twice = 2 * hits
    labels = np.arange(1, people + 1)
    shares = (twice > labels).mean(axis=0) + 0.5 * (twice == labels).mean(axis=0)
    return [float(s) for s in shares]


def labels_needed(accuracy: float, by_labels: Sequence[float]) -> int | None:
    """The fewest labels per task that give it; None: not even all people do."""
    return next((n for n, share in enumerate(by_labels, 1) if share >= accuracy), None)
