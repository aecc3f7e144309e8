"""The votes that are present in the end, aggregated by another method than the live rules.

The method sees what the service would hand to a reconciliation: of each worker and task the vote
that counts, in order of arrival, with the project's classes and its class prior.  Its answers have
the status `aggregated`; a gold task keeps its truth and the status `gold`, and a task that nobody
has labelled the class prior and the status `open`.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import aggregators
from connector.adapters.sql.views import VIEWS

from .errors import Misused
from .result import Label, ProjectResult

LIVE = "fast_sbic"
STATUS = "aggregated"
WORKER_COLUMNS = VIEWS["worker_quality"].columns


def check_method(name: str) -> None:
    """Raise Misused unless there is such a method."""
    if name not in aggregators.METHODS:
        known = ", ".join(sorted(aggregators.METHODS))
        raise Misused(f"--algorithm: there is no {name!r}; there are {known}")


class Aggregated:
    """One project's votes through one method."""

    def __init__(self, project: ProjectResult, method: str, seed: int = 0) -> None:
        """Fit it. Raises Misused where the method cannot work on these votes."""
        self._project = project
        votes = sorted(project.votes(), key=lambda v: v.arrival)
        self._votes = votes
        config = project.config
        make: Any = aggregators.METHODS[method]
        parameters = inspect.signature(make).parameters
        given: dict[str, Any] = {"classes": list(config.classes), "seed": seed}
        if "alpha" in parameters and "beta" in parameters:
            given |= {"alpha": config.alpha, "beta": config.beta}
        if len(set(config.class_prior)) > 1:  # else the method's own default, perhaps learned
            given["prior"] = list(config.class_prior)
        self._probas: dict[str, tuple[float, ...]] = {}
        self._labels: dict[str, str] = {}
        self._skills: dict[str, float] = {}
        if votes:
            columns = tuple([getattr(v, f) for v in votes] for f in ("task", "worker", "label"))
            try:
                model = make(**given).fit(columns)
            except ValueError as error:
                raise Misused(
                    f"--algorithm {method} on project {project.name!r}: {error}"
                ) from None
            tasks = list(map(str, model.tasks_))
            self._probas = dict(zip(tasks, map(tuple, model.probas_.tolist()), strict=True))
            self._labels = dict(zip(tasks, map(str, model.labels_), strict=True))
            workers = map(str, model.workers_)
            self._skills = dict(zip(workers, model.skills_.tolist(), strict=True))

    def labels(self) -> Iterator[Label]:
        """Every task in order of first appearance."""
        classes, prior = self._project.classes, self._project.config.class_prior
        for live in self._project.labels():
            if live.status == "gold":
                yield live
            elif live.task not in self._labels:
                yield Label(live.task, None, max(prior), "open", 0, prior)
            else:
                label, probabilities = self._labels[live.task], self._probas[live.task]
                confidence = probabilities[classes.index(label)]
                yield Label(live.task, label, confidence, STATUS, live.votes, probabilities)

    def workers(self) -> Iterator[dict[str, Any]]:
        """Columns as `worker_quality`; the methods state no interval, so there is none."""
        given: dict[str, int] = {}
        agreed: dict[str, int] = {}
        for vote in self._votes:
            given[vote.worker] = given.get(vote.worker, 0) + 1
            same = self._labels[vote.task] == vote.label
            agreed[vote.worker] = agreed.get(vote.worker, 0) + same
        for row in self._project.worker_rows():
            n = given.get(row.name, 0)
            yield dict.fromkeys(WORKER_COLUMNS) | {
                "project": self._project.name,
                "worker": row.name,
                "accuracy": self._skills.get(row.name),
                "votes": n,
                "agreement": agreed[row.name] / n if n else None,
            }
