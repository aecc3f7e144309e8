"""What the demo has shown, in figures out of the database, as anybody would read them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from connector.domain.errors import DependencyError

from .crowd import Person
from .majority import labels_needed, majority_accuracy
from .platform import Platform
from .reading import received, view
from .stage import Stage

SETTLE_S = 20.0
SHOWN = 4


class WorkerLine(NamedTuple):
    """A worker as the service sees them, beside the truth."""

    person: Person
    accuracy: float
    lower: float
    upper: float
    votes: int

    @property
    def covered(self) -> bool:
        """Whether the interval holds the true skill."""
        return self.lower <= self.person.skill <= self.upper


@dataclass(frozen=True)
class Ending:
    """The figures.

    Attributes:
        tasks: how many there are.
        resolved: of them, by the view `task_labels`.
        right: of those, the label is the truth.
        labels: votes given.
        workers: best lower bound first.
        majority: share right of a majority vote with 1, 2, ... labels per task, expected.
        same_labels_as_heard: what the subscriber has heard is what the database says.
    """

    tasks: int
    resolved: int
    right: int
    labels: int
    workers: Sequence[WorkerLine]
    majority: Sequence[float]
    same_labels_as_heard: bool

    @property
    def accuracy(self) -> float:
        """Share of the resolved labels that are right."""
        return self.right / self.resolved if self.resolved else 0.0

    @property
    def labels_per_task(self) -> float:
        """On average."""
        return self.labels / self.tasks

    @property
    def majority_needs(self) -> int | None:
        """Labels per task for the same accuracy; None: more than there are people."""
        return labels_needed(self.accuracy, self.majority)


def ending(stage: Stage, platform: Platform, seed: int) -> Ending:
    """Wait until the service has everything, and read what it found."""
    _settle(stage, platform)
    crowd = platform.crowd
    labels = {row["task"]: row for row in view(stage.database, "task_labels")}
    resolved = {task: row["label"] for task, row in labels.items() if row["status"] != "open"}
    quality = {row["worker"]: row for row in view(stage.database, "worker_quality")}
    workers = [
        WorkerLine(p, row["accuracy"], row["lower"], row["upper"], row["votes"])
        for p in crowd.people
        if (row := quality.get(p.name)) is not None
    ]
    return Ending(
        tasks=len(crowd.tasks),
        resolved=len(resolved),
        right=sum(crowd.truth[task] == label for task, label in resolved.items()),
        labels=platform.sent,
        workers=sorted(workers, key=lambda w: -w.lower),
        majority=majority_accuracy(crowd.skills, seed),
        same_labels_as_heard=resolved == platform.labels,
    )


def _settle(stage: Stage, platform: Platform) -> None:
    """The last votes are on their way when the last task resolves, and so are their messages."""
    expected = platform.sent + 1
    deadline = time.monotonic() + SETTLE_S
    while True:
        stage.service.check()
        for message in stage.lines.receive(0.1):
            platform.hear(message)
        taken = received(stage.database)
        if taken >= expected:
            break
        if time.monotonic() > deadline:
            raise DependencyError(
                f"the service has taken {taken} of {expected} events in {SETTLE_S:.0f} s"
            )
    quiet = 0
    while quiet < 3:
        heard = stage.lines.receive(0.1)
        quiet = 0 if heard else quiet + 1
        for message in heard:
            platform.hear(message)
