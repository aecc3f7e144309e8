"""What a replay has led to, read out of the store a page at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from connector.domain.config import ProjectConfig, from_json
from connector.domain.records import TopicPartition
from connector.domain.rows import PairRow, ProjectRow, TaskRow, WorkerRow
from connector.ports import Store

PAGE = 2000

View = Callable[[str, str], Iterable[dict[str, Any]]]
"""Rows of a view, of one project."""

_probabilities = msgspec.json.Decoder(dict[str, float])


@dataclass(frozen=True)
class Label:
    """One task's answer; `probabilities` in the order of the project's classes."""

    task: str
    label: str | None
    confidence: float
    status: str
    votes: int
    probabilities: tuple[float, ...]


class Vote(msgspec.Struct, frozen=True, gc=False):
    """A vote that counts."""

    task: str
    worker: str
    label: str
    arrival: int


class ProjectResult:
    """One project as the fold has left it.

    Attributes:
        name: of the project.
        config: its configuration.
    """

    def __init__(self, store: Store, source: TopicPartition, row: ProjectRow, view: View) -> None:
        self._store = store
        self._view = view
        self._source = source
        self._id = row.id
        self.name = row.name
        self.config: ProjectConfig = from_json(row.config)
        self._task_count = row.tasks
        self._worker_count = row.workers

    @property
    def classes(self) -> tuple[str, ...]:
        """In the order of every vector here."""
        return self.config.classes

    def labels(self) -> Iterator[Label]:
        """Every task in order of first appearance, as the view `task_labels` has it."""
        for row, _ in self._task_rows():
            yield Label(
                row.name,
                None if row.label is None else self.classes[row.label],
                row.confidence,
                row.status,
                row.votes,
                tuple(_probabilities.decode(row.probabilities).values()),
            )

    def votes(self) -> Iterator[Vote]:
        """The votes that count, task by task, in order of arrival on each."""
        workers = {w.id: w for w in self.worker_rows()}
        for task, pairs in self._task_rows():
            for pair in pairs:
                worker = workers[pair.worker_id]
                if pair.x is not None and pair.arrival is not None and not worker.blocked:
                    yield Vote(task.name, worker.name, self.classes[pair.x], pair.arrival)

    def workers(self) -> Iterable[dict[str, Any]]:
        """The project's rows of the view `worker_quality`."""
        return self._view("worker_quality", self.name)

    def worker_rows(self) -> Iterator[WorkerRow]:
        """Every worker in order of first appearance."""
        for ids in _pages(self._worker_count):
            with self._store.transaction(self._source) as transaction:
                found = transaction.workers_numbered(self._id, ids)
            yield from found

    def _task_rows(self) -> Iterator[tuple[TaskRow, list[PairRow]]]:
        for ids in _pages(self._task_count):
            with self._store.transaction(self._source) as transaction:
                page = transaction.tasks_numbered(self._id, ids)
            pairs: dict[int, list[PairRow]] = {}
            for pair in page.pairs:
                pairs.setdefault(pair.task_id, []).append(pair)
            for task in page.tasks:
                yield task, pairs.get(task.id, [])


def _pages(count: int) -> Iterator[range]:
    for first in range(1, count + 1, PAGE):
        yield range(first, min(first + PAGE, count + 1))


def project_results(
    store: Store, named: Mapping[str, TopicPartition], view: View
) -> list[ProjectResult]:
    """The projects of those names and partitions, as they are stored."""
    results = []
    for name, source in named.items():
        with store.transaction(source) as transaction:
            row = transaction.project(name)
        if row is not None:
            results.append(ProjectResult(store, source, row, view))
    return results
