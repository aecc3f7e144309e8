"""Declarations for the random logs: new projects, changed ones, and some that are refused."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from . import random_assignments
from .pools import CLASS_NAMES, CONFIDENCES, Fields, Id


@dataclass
class ProjectMade:
    """What the maker remembers of a project, so that most of its records mean something."""

    name: Id
    partition: int
    declaration: Fields
    truth: dict[Id, Id] = field(default_factory=dict)
    sent: list[Fields] = field(default_factory=list)
    pending: list[Fields] = field(default_factory=list)  # of a run, still to be sent
    runs: int = 0

    @property
    def classes(self) -> list[Id]:
        classes = self.declaration["classes"]
        assert isinstance(classes, list)
        return classes


class Declarer:
    """Declares projects; `runs` and `assignments` as in `random_log`."""

    def __init__(
        self, rng: random.Random, workers: tuple[Id, ...], runs: float, assignments: float
    ) -> None:
        self.rng = rng
        self.workers = workers
        self.runs = runs
        self.assignments = assignments

    def new_project(self, name: Id, partition: int) -> ProjectMade:
        kind = self.rng.choice(("binary", "binary", "categorical", "ordinal"))
        classes = list(CLASS_NAMES[: 2 if kind == "binary" else self.rng.randint(2, 5)])
        declaration: Fields = {"type": "project.declared", "project": name, "kind": kind}
        declaration["classes"] = classes
        return ProjectMade(name, partition, declaration | self.settings(classes))

    def settings(self, classes: list[Id]) -> Fields:
        rng = self.rng
        resolve: Fields = {"confidence": rng.choice(CONFIDENCES)}
        if rng.random() < 0.5:
            resolve["min_labels"] = rng.choice((1, 2, 3))
        if rng.random() < 0.6:
            resolve["max_labels"] = rng.choice((2, 3, 4, 5, 7))
        if rng.random() < 0.4:
            resolve["ambiguity"] = rng.choice((0, 0.41, 0.583))
        if rng.random() < 0.4:
            resolve["doubt"] = rng.choice((0, 0.05, 0.3, 0.9))
        if rng.random() < 0.2:
            resolve["calibrate"] = rng.random() < 0.5
        if rng.random() < 0.3:
            resolve["reopen_confidence"] = rng.choice((0, 0.517, 0.593))
        model: Fields = {}
        if rng.random() < 0.4:
            model["worker_prior"] = rng.choice(([2, 1], [1, 1], [4, 1.5], [1e-6, 1e-6], [3, 40]))
        if rng.random() < 0.3:
            model["class_prior"] = [rng.choice((1, 1, 2, 5, 0.25)) for _ in classes]
        fields: Fields = {"resolve": resolve, "model": model}
        if self.assignments:
            fields["assign"] = random_assignments.settings(rng, self.workers)
        elif rng.random() < 0.6:
            experts = rng.sample(self.workers, min(2, len(self.workers)))
            fields["assign"] = {"experts": experts, "budget": rng.choice((0, 100))}
        if rng.random() < 0.2:
            fields["closed"] = rng.random() < 0.5
        if self.runs and rng.random() < 0.7:
            fields["reconcile"] = {"max_flip_fraction": rng.choice((0, 0.1, 0.1, 0.3))}
        return fields

    def again(self, project: ProjectMade) -> Fields:
        """Changed settings, classes added, removed or in another order, or nothing new."""
        rng = self.rng
        old = project.declaration
        kind, classes = old["kind"], list(project.classes)
        change = rng.randrange(10)
        if change == 0:
            return old
        if change == 1:  # a conflict, as a rule
            kind = rng.choice(("binary", "categorical", "ordinal"))
            if kind == "binary":
                classes = classes[:2]
        unused = [name for name in CLASS_NAMES if name not in classes]
        if change in (2, 3) and unused and kind != "binary":
            classes.insert(rng.randint(0, len(classes)), rng.choice(unused))
        if change == 4 and len(classes) > 2:
            classes.remove(rng.choice(classes))
        if change == 5:
            rng.shuffle(classes)
        if change == 6 and unused and kind == "binary":
            classes[rng.randrange(2)] = rng.choice(unused)
        fields = {"type": "project.declared", "project": project.name, "kind": kind}
        fields["classes"] = classes
        kept = {
            name: old[name] for name in ("resolve", "model", "assign", "reconcile") if name in old
        }
        model = kept.get("model")
        if len(classes) != len(project.classes) and isinstance(model, dict):
            kept["model"] = {name: model[name] for name in model if name != "class_prior"}
        declaration = fields | (kept if rng.random() < 0.5 else self.settings(classes))
        if change not in (1, 4, 5, 6):  # those may be refused: go on with the old
            project.declaration = declaration
        return declaration
