"""Uniform sampling: everybody gets the task with the fewest labels that is new to them."""

from __future__ import annotations

import numpy as np

from aggregators._types import IntArray

from .crowd import Crowd


def uniform(crowd: Crowd, seed: int) -> IntArray:
    """The task of each label: the paper's round-robin (its equation 1), ties in random order.

    One round after the other offers each task once. A task that the worker has had already waits
    for the next one who has not.
    """
    random = np.random.default_rng([seed, 1])
    tasks = len(crowd.truth)
    seen: list[set[int]] = [set() for _ in crowd.accuracy]
    waiting: list[int] = []
    chosen = np.empty(len(crowd.arrivals), dtype=np.int64)
    for number, worker in enumerate(crowd.arrivals.tolist()):
        had = seen[worker]
        place = len(waiting) - 1
        while place >= 0 and waiting[place] in had:
            place -= 1
        while place < 0:  # nothing left of this round that is new to this worker
            following = random.permutation(tasks).tolist()
            waiting[:0] = following
            place = len(following) - 1
            while place >= 0 and waiting[place] in had:
                place -= 1
        task = waiting.pop(place)
        had.add(task)
        chosen[number] = task
    return chosen
