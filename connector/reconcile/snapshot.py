"""One project as it stood at one offset of its log, in arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from connector.domain.config import ProjectConfig
from connector.domain.records import TopicPartition

from .changes import Mark

Codes = NDArray[np.int64]
Said = Callable[[int, int], None]
"""Called with (votes read, votes in all, about)."""


@dataclass(frozen=True)
class Snapshot:
    """The counting votes, those of blocked workers left out, and who and what they speak of.

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

    @property
    def V(self) -> int:
        """Number of votes."""
        return len(self.task)

    @property
    def log_prior(self) -> NDArray[np.float64]:
        """M x K: the log prior of each task, its own or the project's."""
        rows = np.tile(np.log(self.config.class_prior), (len(self.tasks), 1))
        for task, prior in self.priors.items():
            rows[task] = np.log(prior)
        return rows

    @property
    def nbytes(self) -> int:
        """Of the arrays."""
        arrays: list[Any] = [self.task, self.worker, self.label]
        return sum(array.nbytes for array in arrays)
