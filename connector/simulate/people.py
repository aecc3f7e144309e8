"""A crowd that answers whatever it is asked, and events that carry what it says."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np

from .errors import Misused

CLASSES = ("0", "1")


class People:
    """Workers whose accuracies are Beta(alpha, beta), and binary tasks whose truth they may know.

    Args:
        project: of their events.
        tasks: how many.
        workers: how many.
        alpha: see above.
        beta: likewise.
        seed: of everything; an answer does not depend on when it is asked for.

    Attributes:
        tasks: names.
        workers: names.
        truth: by task, its class.
        accuracy: by worker.
    """

    def __init__(
        self, project: str, tasks: int, workers: int, alpha: float, beta: float, seed: int
    ) -> None:
        random = np.random.default_rng(seed)
        self.project = project
        self.tasks = _named("t", tasks)
        self.workers = _named("w", workers)
        truth = random.integers(0, 2, tasks).tolist()
        self.truth = {t: CLASSES[x] for t, x in zip(self.tasks, truth, strict=True)}
        self.accuracy = dict(
            zip(self.workers, random.beta(alpha, beta, workers).tolist(), strict=True)
        )
        self._seed = seed
        self._place = {name: i for i, name in enumerate([*self.tasks, *self.workers])}

    def answer(self, task: str, worker: str) -> str:
        """What the worker says of the task: the same however often asked."""
        pair = [self._seed, self._place[task], self._place[worker]]
        chance = np.random.SeedSequence(pair).generate_state(1)[0] / 2.0**32
        truth = self.truth[task]
        return truth if chance < self.accuracy[worker] else CLASSES[truth == CLASSES[0]]

    def declaration(self, **groups: object) -> bytes:
        """The event that makes the project."""
        return self.event("project.declared", kind="binary", classes=list(CLASSES), **groups)

    def vote(self, task: str, worker: str) -> bytes:
        """The worker's answer as an event."""
        return self.event(
            "annotation.submitted", task=task, worker=worker, label=self.answer(task, worker)
        )

    def event(self, type_: str, **fields: object) -> bytes:
        """Any event of the project."""
        return json.dumps({"type": type_, "project": self.project, **fields}).encode()

    def votes(self, labels_per_task: int, seed: int) -> Iterator[bytes]:
        """So many votes on every task, in rounds over all tasks, each by a random worker.

        Raises:
            Misused: there are fewer workers than that.
        """
        if labels_per_task > len(self.workers):
            raise Misused(
                f"{labels_per_task} labels per task need as many workers, and there are"
                f" {len(self.workers)}: nobody labels a task twice"
            )
        random = np.random.default_rng([seed, 3])
        given: list[set[int]] = [set() for _ in self.tasks]
        for _ in range(labels_per_task):
            for task in random.permutation(len(self.tasks)).tolist():
                worker = int(random.integers(len(self.workers)))
                while worker in given[task]:
                    worker = int(random.integers(len(self.workers)))
                given[task].add(worker)
                yield self.vote(self.tasks[task], self.workers[worker])


def _named(letter: str, count: int) -> list[str]:
    width = len(str(count))
    return [f"{letter}{i:0{width}}" for i in range(1, count + 1)]
