"""What the engine asks of whoever keeps its rows: look-ups by key, and taking changes.

The engine decides nothing by how or when these answer; they only bring rows that it does not hold
in memory.  All calls of one batch happen inside one database transaction, and `save` may come in
the middle of a record that touches more tasks than should be held at once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple, Protocol

from connector.domain.rows import (
    AnnotationRow,
    Changes,
    LeaseRow,
    PairRow,
    ProjectRow,
    RunRow,
    TaskRow,
    WorkerRow,
)


class TaskPage(NamedTuple):
    """Some tasks, and every pair row of theirs in order of (task, arrival)."""

    tasks: Sequence[TaskRow]
    pairs: Sequence[PairRow]


class RecordRow(NamedTuple):
    """A calibration record of a gold task."""

    task_id: int
    z: float
    hit: bool
    place: int
    """`TaskRow.record_seq`."""


class PartHead(NamedTuple):
    """A part of a run whose end has not come."""

    run: str
    part: int
    at: int


class BriefRow(NamedTuple):
    """The few columns of a task that assignment needs."""

    id: int
    name: str
    priority: float
    max_labels: int | None
    withdrawn: bool
    status: str
    votes: int
    margin: float


class HeldRow(NamedTuple):
    """An open lease, and the names of what it is about."""

    row: LeaseRow
    project: str
    task: str
    worker: str


class Storage(Protocol):
    """Rows by key. Any call may block on the database and raise `DependencyError`."""

    def project(self, name: str) -> ProjectRow | None:
        """The project of that name, on whatever partition it lives."""
        ...

    def tasks_named(self, project_id: int, names: Collection[str]) -> TaskPage:
        """Those of the named tasks that exist."""
        ...

    def tasks_numbered(self, project_id: int, ids: Collection[int]) -> TaskPage:
        """Those of the numbered tasks that exist."""
        ...

    def task_ids_of(self, project_id: int, worker_id: int) -> list[int]:
        """Tasks on which the worker has a present vote, ascending."""
        ...

    def workers_named(self, project_id: int, names: Collection[str]) -> Sequence[WorkerRow]:
        """Those of the named workers that exist."""
        ...

    def workers_numbered(self, project_id: int, ids: Collection[int]) -> Sequence[WorkerRow]:
        """Those of the numbered workers that exist."""
        ...

    def annotations(self, project_id: int, ids: Collection[str]) -> Sequence[AnnotationRow]:
        """Those of the annotation_ids that are known."""
        ...

    def calibration_records(self, project_id: int) -> Sequence[RecordRow]:
        """The project's records, least recently updated first."""
        ...

    def run(self, project_id: int, name: str) -> RunRow | None:
        """The run of that name, if it has ended."""
        ...

    def waiting_parts(self, project_id: int) -> Sequence[PartHead]:
        """The parts of runs that have not ended."""
        ...

    def part_bodies(self, project_id: int, run: str) -> Iterator[bytes]:
        """A run's parts in order of their numbers, read one after the other."""
        ...

    def brief_tasks(self, project_id: int, after: int, limit: int) -> Sequence[BriefRow]:
        """Up to ``limit`` tasks of a higher number, ascending."""
        ...

    def seen_task_ids(self, project_id: int, worker_id: int) -> Sequence[int]:
        """Tasks that the worker ever voted on or has skipped."""
        ...

    def leases(self, topic: str, partition: int) -> Sequence[HeldRow]:
        """Open leases of every project that lives on the partition."""
        ...

    def save(self, changes: Changes) -> None:
        """Write rows; later calls of the same transaction see them."""
        ...
