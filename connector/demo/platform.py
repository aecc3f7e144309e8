"""A labelling platform in small: it hands out undecided tasks.

Which those are it learns from `labels.resolved`.
"""

from __future__ import annotations

import json
import random
from collections import deque
from typing import NamedTuple

from .crowd import CLASSES, PROJECT, Crowd

MAX_LABELS = 12
CONFIDENCE = 0.95
AT_A_TIME = 60
"""Tasks that are worked on at once."""


class Resolution(NamedTuple):
    """One message on `labels.resolved`."""

    kind: str
    task: str
    label: str
    confidence: float
    votes: int
    status: str


class Platform:
    """Keeps what a platform knows: who has labelled what, and which tasks are resolved.

    Attributes:
        crowd: the people.
        sent: votes given.
        messages: resolutions heard of.
        labels: task -> label, of those that are resolved now.
        latest: the last few messages.
    """

    def __init__(self, crowd: Crowd, seed: int) -> None:
        self.crowd = crowd
        self.sent = 0
        self.messages = 0
        self.labels: dict[str, str] = {}
        self.latest: deque[Resolution] = deque(maxlen=8)
        self._random = random.Random(seed)
        self._given = [0] * len(crowd.tasks)
        self._done: list[set[int]] = [set() for _ in crowd.people]
        self._open = list(range(len(crowd.tasks)))
        self._numbers = {name: i for i, name in enumerate(crowd.tasks)}

    def declaration(self) -> bytes:
        """The event that makes the project."""
        people = len(self.crowd.people)
        return _event(
            "project.declared",
            kind="binary",
            classes=list(CLASSES),
            # As many as there are people would be the end anyway: so every task resolves.
            resolve={"confidence": CONFIDENCE, "max_labels": min(MAX_LABELS, people)},
        )

    def next_vote(self) -> bytes | None:
        """Somebody labels the undecided task with the fewest labels; None: nobody can."""
        people = list(range(len(self.crowd.people)))
        self._random.shuffle(people)
        # Further tasks are taken up only where nobody can label the first ones.
        for tasks in (self._open[:AT_A_TIME], self._open):
            for person in people:
                choice = [t for t in tasks if t not in self._done[person]]
                if choice:
                    task = min(choice, key=lambda t: (self._given[t], self._random.random()))
                    return self._vote(person, task)
        return None

    def _vote(self, person: int, task: int) -> bytes:
        self._done[person].add(task)
        self._given[task] += 1
        self.sent += 1
        return _event(
            "annotation.submitted",
            task=self.crowd.tasks[task],
            worker=self.crowd.people[person].name,
            label=self.crowd.answer(person, task),
        )

    def hear(self, value: bytes) -> None:
        """Take in a message of `labels.resolved`."""
        found = json.loads(value)
        resolution = Resolution(
            found["type"].removeprefix("label."),
            found["task"],
            found["label"],
            found["confidence"],
            found["votes"],
            found["status"],
        )
        self.messages += 1
        self.latest.append(resolution)
        number = self._numbers[resolution.task]
        if resolution.kind == "reopened":
            if number not in self._open:
                self._open.append(number)
            self.labels.pop(resolution.task, None)
        else:
            if number in self._open:
                self._open.remove(number)
            self.labels[resolution.task] = resolution.label

    @property
    def resolved(self) -> int:
        """Tasks that are resolved now."""
        return len(self.labels)

    @property
    def finished(self) -> bool:
        """Whether every task is."""
        return not self._open

    @property
    def right(self) -> int:
        """Labels that are the truth."""
        truth = self.crowd.truth
        return sum(truth[task] == label for task, label in self.labels.items())


def _event(type_: str, **fields: object) -> bytes:
    return json.dumps({"type": type_, "project": PROJECT, **fields}).encode()
