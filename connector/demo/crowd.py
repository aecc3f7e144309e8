"""Forty people who label, of whom some are careless, some do not look, and one means it wrong."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

CLASSES = ("cat", "dog")
PROJECT = "demo"


class Person(NamedTuple):
    """One of the crowd; `skill` is the probability of a right answer."""

    name: str
    skill: float
    kind: str


class Crowd:
    """Who labels what, and what they say: all of it drawn from the seed.

    Attributes:
        people: in order of their numbers.
        tasks: names.
        truth: task -> class.
    """

    def __init__(self, tasks: int, workers: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        spammers = max(1, round(workers * 0.075)) if workers >= 5 else 0
        adversaries = 1 if workers >= 8 else 0
        kinds = ["spammer"] * spammers + ["adversary"] * adversaries
        kinds += ["worker"] * (workers - len(kinds))
        rng.shuffle(kinds)
        skills = {"spammer": (0.5, 0.5), "adversary": (0.12, 0.2), "worker": (0.62, 0.97)}
        width = len(str(workers))
        self.people = [
            Person(f"w{i + 1:0{width}}", float(rng.uniform(*skills[kind])), kind)
            for i, kind in enumerate(kinds)
        ]
        width = len(str(tasks))
        self.tasks = [f"t{i + 1:0{width}}" for i in range(tasks)]
        answers = rng.integers(0, len(CLASSES), tasks)
        self.truth = {t: CLASSES[x] for t, x in zip(self.tasks, answers, strict=True)}
        right = rng.random((workers, tasks)) < np.array([[p.skill] for p in self.people])
        self._answers = np.where(right, answers, 1 - answers)

    @property
    def skills(self) -> list[float]:
        """Of the people, in their order."""
        return [p.skill for p in self.people]

    def answer(self, person: int, task: int) -> str:
        """What that person says to that task, by their numbers: the same however often asked."""
        return CLASSES[self._answers[person, task]]
