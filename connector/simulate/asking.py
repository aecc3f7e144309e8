"""Workers who ask for tasks and answer them: what they do upon each message of the service."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

import numpy as np

from .people import People


class Asking:
    """Every worker of a crowd: asks for one task, answers it, asks again, until there is none.

    Args:
        people: the crowd.
        skips: share of assignments that are skipped.
        seed: of skipping, and of who begins.

    Attributes:
        left: workers who still ask, or wait for an answer.
        assigned: messages that gave a task.
        votes: answers sent.
        skipped: assignments given back.
        ended: why workers left -> how many.
        repeated: tasks that a worker was given again; none, if the service keeps its promise.
    """

    def __init__(self, people: People, skips: float, seed: int) -> None:
        self.people = people
        self.left = set(people.workers)
        self.assigned = 0
        self.votes = 0
        self.skipped = 0
        self.ended: Counter[str] = Counter()
        self.repeated: list[tuple[str, str]] = []
        self._skips = skips
        self._random = np.random.default_rng([seed, 4])
        self._had: set[tuple[str, str]] = set()
        self._leases: set[str] = set()

    def begin(self) -> Iterator[bytes]:
        """The tasks become known, and everybody asks."""
        for task in self.people.tasks:
            yield self.people.event("task.added", task=task)
        for i in self._random.permutation(len(self.people.workers)).tolist():
            yield self._ask(self.people.workers[i])

    def hear(self, message: bytes) -> Iterator[bytes]:
        """What follows from a message of `tasks.assigned`; of other projects, nothing."""
        found = json.loads(message)
        if found.get("project") != self.people.project or found["worker"] not in self.left:
            return
        worker = found["worker"]
        if found["type"] == "assignment.none":
            self.left.discard(worker)
            self.ended[found["reason"]] += 1
        elif found["type"] == "task.assigned" and found["lease"] not in self._leases:
            self._leases.add(found["lease"])
            task = found["task"]
            self.assigned += 1
            if (task, worker) in self._had:
                self.repeated.append((task, worker))
            self._had.add((task, worker))
            if self._random.random() < self._skips:
                self.skipped += 1
                yield self.people.event("annotation.skipped", task=task, worker=worker)
            else:
                self.votes += 1
                yield self.people.vote(task, worker)
            yield self._ask(worker)

    def _ask(self, worker: str) -> bytes:
        return self.people.event("worker.available", worker=worker)
