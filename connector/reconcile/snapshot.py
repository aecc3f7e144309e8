"""One project as it stood at one offset of its log, in arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from connector.domain.config import ProjectConfig
from connector.domain.records import TopicPartition

from .changes import Mark

Codes = NDArray[np.int64]
Said = Callable[[int, int], None]
"""Called with (votes read, votes in all, about)."""


class Blocked(NamedTuple):
    """Votes of blocked workers on tasks that others have voted on, too: they weigh nothing.

    Attributes:
        task: in order of arrival; a place in `Snapshot.tasks`.
        worker: a place in ``workers``.
        label: an index of the classes.
        workers: names, in order of first appearance.
    """

    task: Codes
    worker: Codes
    label: Codes
    workers: Sequence[str]


@dataclass(frozen=True)
class Snapshot:
    """The counting votes, and who and what they speak of.

    Attributes:
        project: its name.
        config: its configuration.
        partition: where its log is.
        upto: the partition's next offset: every record before it is in.
        mark: what a later look is compared with, to see whether anything changed.
        task: length V, in order of arrival; a place in ``tasks``.
        worker: length V; a place in ``workers``.
        label: length V; an index of ``config.classes``.
        tasks: names of the tasks with a counting vote, in order of first appearance.
        workers: names of the workers with one, likewise.
        truth: known classes, by place in ``tasks``.
        priors: the priors of tasks that have their own, by place in ``tasks``.
        blocked: what blocked workers have said of these tasks.
    """

    project: str
    config: ProjectConfig
    partition: TopicPartition
    upto: int
    mark: Mark
    task: Codes
    worker: Codes
    label: Codes
    tasks: Sequence[str]
    workers: Sequence[str]
    truth: Mapping[int, int]
    priors: Mapping[int, Sequence[float]]
    blocked: Blocked

    @property
    def V(self) -> int:
        """Number of votes."""
        return len(self.task)

    @property
    def names(self) -> list[str]:
        """The workers, and after them the blocked ones."""
        return [*self.workers, *self.blocked.workers]

    @property
    def all_votes(self) -> tuple[Codes, Codes, Codes]:
        """Task, worker (a place in ``names``) and label of the counting votes and the blocked."""
        return (
            np.concatenate([self.task, self.blocked.task]),
            np.concatenate([self.worker, self.blocked.worker + len(self.workers)]),
            np.concatenate([self.label, self.blocked.label]),
        )

    @property
    def log_prior(self) -> NDArray[np.float64]:
        """M x K: the log prior of each task, its own or the project's."""
        rows = np.tile(np.log(self.config.class_prior), (len(self.tasks), 1))
        for task, prior in self.priors.items():
            rows[task] = np.log(prior)
        return rows
