"""A database in memory: for `replay`, the demo's fallback and tests; nothing survives the process.

It keeps to what the real ones promise: a transaction is seen whole or not at all, two that begin
at one offset cannot both commit, and a row comes back as it was put in.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from threading import Lock
from typing import Any

from connector.adapters.sql.text import readable, storable
from connector.domain.errors import DependencyError, Fenced
from connector.domain.records import Cursor, Outgoing, TopicPartition
from connector.domain.rows import (
    AnnotationRow,
    Changes,
    ClusterRow,
    ConfusionRow,
    DeadRow,
    FlagRow,
    HistoryRow,
    LeaseRow,
    PairRow,
    PartRow,
    ProgressRow,
    ProjectRow,
    RunRow,
    TaskRow,
    WorkerRow,
)
from connector.engine.storage import BriefRow, HeldRow, PartHead, RecordRow, TaskPage

from . import views
from .tables import Tables, found, merged


class MemoryStore:
    """See `connector.ports.Store`.

    Attributes:
        hook: called with "begin", "advance", "save", "commit" (all done, nothing kept yet) and
            "committed" as a transaction passes there. A test makes it raise: a crash at that
            place, or, with a DependencyError at "committed", a commit whose outcome is unknown.
        warnings: none; as `SqlStore` has them.
    """

    def __init__(self) -> None:
        self.hook: Callable[[str], None] = lambda place: None
        self.warnings: list[str] = []
        self._kept = Tables()
        self._topics: dict[str, int] = {}
        self._outbox: dict[TopicPartition, list[Outgoing]] = {}
        # The publisher reads the outbox from its own thread.
        self._lock = Lock()

    def progress(self, partition: TopicPartition) -> ProgressRow | None:
        return self._kept.progress.get(partition)

    def partitions(self, topic: str, present: int) -> int:
        return self._topics.setdefault(topic, present)

    @contextmanager
    def transaction(self, partition: TopicPartition) -> Iterator[MemoryTransaction]:
        """See `connector.ports.Store`."""
        transaction = MemoryTransaction(self._kept, partition, self.hook)
        self.hook("begin")
        yield transaction
        self.hook("commit")
        with self._lock:
            transaction.check()
            self._kept.absorb(transaction.changed)
            for source, before in transaction.trimmed.items():
                waiting = self._outbox.get(source, [])
                del waiting[: bisect_left(waiting, before)]
            self._outbox.setdefault(partition, []).extend(transaction.outgoing)
        self.hook("committed")

    @contextmanager
    def lookups(self) -> Iterator[MemoryTransaction]:
        """See `connector.ports.Store`."""
        yield MemoryTransaction(self._kept, TopicPartition("", 0), lambda place: None)

    def another(self) -> MemoryStore:
        """See `connector.ports.Store`: any thread may use this one."""
        return self

    def outbox(self, partition: TopicPartition, start: Cursor, limit: int) -> list[Outgoing]:
        with self._lock:
            waiting = self._outbox.get(partition, [])
            first = bisect_left(waiting, start)
            return waiting[first : first + limit]

    def close(self) -> None:
        """Nothing to give up."""

    def table(self, kind: type[Any]) -> list[Any]:
        """All rows of a kind of `connector.domain.rows`, in order of their keys."""
        kept = self._kept
        rows: dict[type[Any], Collection[Any]] = {
            ProgressRow: kept.progress.values(),
            ProjectRow: kept.projects.values(),
            TaskRow: kept.tasks.values(),
            WorkerRow: kept.workers.values(),
            PairRow: [row for of_task in kept.pairs.values() for row in of_task.values()],
            AnnotationRow: kept.annotations.values(),
            HistoryRow: kept.history.values(),
            LeaseRow: [row for row in kept.leases.values() if row is not None],
            DeadRow: kept.dead.values(),
            RunRow: kept.runs.values(),
            PartRow: [row for of_run in kept.parts.values() for row in of_run.values()],
            ConfusionRow: [row for of_one in kept.confusions.values() for row in of_one],
            ClusterRow: [row for of_one in kept.clusters.values() for row in of_one],
            FlagRow: [row for of_one in kept.flags.values() for row in of_one],
        }
        # Keys come first in every kind of row.
        return sorted(rows[kind], key=lambda row: row[:4])

    def view(self, name: str, project: str | None = None) -> list[dict[str, Any]]:
        """The rows of a view (`connector.adapters.sql.views`), as `queries.view` gives them."""
        return views.rows(self._kept, name, project)


class MemoryTransaction:
    """See `connector.ports.Transaction`; made by `MemoryStore.transaction`."""

    def __init__(
        self, kept: Tables, partition: TopicPartition, hook: Callable[[str], None]
    ) -> None:
        self.changed = Tables()
        self.outgoing: list[Outgoing] = []
        self.trimmed: dict[TopicPartition, Cursor] = {}
        self._kept = kept
        self._partition = partition
        self._hook = hook
        self._found: ProgressRow | None = kept.progress.get(partition)

    def project(self, name: str) -> ProjectRow | None:
        return self.changed.projects.get(name) or self._kept.projects.get(name)

    def tasks_named(self, project_id: int, names: Collection[str]) -> TaskPage:
        keys = [(project_id, name) for name in set(names)]
        return self.tasks_numbered(
            project_id, found(keys, self.changed.task_ids, self._kept.task_ids)
        )

    def tasks_numbered(self, project_id: int, ids: Collection[int]) -> TaskPage:
        keys = [(project_id, id_) for id_ in sorted(set(ids))]
        tasks = found(keys, self.changed.tasks, self._kept.tasks)
        pairs: list[PairRow] = []
        for key in keys:
            of_task = merged(key, self.changed.pairs, self._kept.pairs).values()
            pairs.extend(sorted(of_task, key=_by_arrival))
        return TaskPage(tasks, pairs)

    def task_ids_of(self, project_id: int, worker_id: int) -> list[int]:
        present = merged((project_id, worker_id), self.changed.present, self._kept.present)
        return sorted(task_id for task_id, votes in present.items() if votes)

    def workers_named(self, project_id: int, names: Collection[str]) -> Sequence[WorkerRow]:
        keys = [(project_id, name) for name in set(names)]
        return self.workers_numbered(
            project_id, found(keys, self.changed.worker_ids, self._kept.worker_ids)
        )

    def workers_numbered(self, project_id: int, ids: Collection[int]) -> Sequence[WorkerRow]:
        keys = [(project_id, id_) for id_ in sorted(set(ids))]
        return found(keys, self.changed.workers, self._kept.workers)

    def annotations(self, project_id: int, ids: Collection[str]) -> Sequence[AnnotationRow]:
        keys = [(project_id, id_) for id_ in sorted(set(ids))]
        return found(keys, self.changed.annotations, self._kept.annotations)

    def calibration_records(self, project_id: int) -> Sequence[RecordRow]:
        ids = merged(project_id, self.changed.recorded, self._kept.recorded)
        keys = [(project_id, id_) for id_ in ids]
        tasks = found(keys, self.changed.tasks, self._kept.tasks)
        records = [
            RecordRow(task.id, task.record_z, bool(task.record_hit), task.record_seq)
            for task in tasks
            if task.record_seq is not None and task.record_z is not None
        ]
        return sorted(records, key=lambda record: record.place)

    def run(self, project_id: int, name: str) -> RunRow | None:
        key = (project_id, name)
        return self.changed.runs.get(key) or self._kept.runs.get(key)

    def waiting_parts(self, project_id: int) -> Sequence[PartHead]:
        parts = {**self._kept.parts, **self.changed.parts}
        return [
            PartHead(row.run, row.part, row.at)
            for (owner, run), of_run in parts.items()
            if owner == project_id and self.run(owner, run) is None
            for row in of_run.values()
        ]

    def part_bodies(self, project_id: int, run: str) -> Iterator[bytes]:
        parts = self._parts(project_id, run)
        return iter([parts[number].body for number in sorted(parts)])

    def _parts(self, project_id: int, run: str) -> dict[int, PartRow]:
        key = (project_id, run)
        if key in self.changed.parts:
            return self.changed.parts[key]
        return self._kept.parts.get(key, {})

    def brief_tasks(self, project_id: int, after: int, limit: int) -> Sequence[BriefRow]:
        rows: list[BriefRow] = []
        for id_ in count(after + 1):
            row = self._task(project_id, id_)
            if row is None or len(rows) == limit:
                return rows
            brief = (row.priority, row.max_labels, row.withdrawn, row.status, row.votes, row.margin)
            rows.append(BriefRow(id_, row.name, *brief))
        raise AssertionError

    def _task(self, project_id: int, id_: int) -> TaskRow | None:
        key = (project_id, id_)
        return self.changed.tasks.get(key) or self._kept.tasks.get(key)

    def seen_task_ids(self, project_id: int, worker_id: int) -> Sequence[int]:
        seen = merged((project_id, worker_id), self.changed.seen, self._kept.seen)
        return [task_id for task_id, has in seen.items() if has]

    def leases(self, topic: str, partition: int) -> Sequence[HeldRow]:
        names = {
            row.id: row.name
            for row in {**self._kept.projects, **self.changed.projects}.values()
            if (row.topic, row.partition) == (topic, partition)
        }
        held: list[HeldRow] = []
        for lease in {**self._kept.leases, **self.changed.leases}.values():
            if lease is not None and lease.project_id in names:
                task = self._task(lease.project_id, lease.task_id)
                (worker,) = self.workers_numbered(lease.project_id, [lease.worker_id])
                assert task is not None
                held.append(HeldRow(lease, names[lease.project_id], task.name, worker.name))
        return held

    def advance(self, expected: int, following: int) -> None:
        self._hook("advance")
        row = self.changed.progress.get(self._partition, self._found)
        if row is not None and row.next_offset != expected:
            raise self._fenced(expected)
        row = row or ProgressRow(*self._partition, expected, 0, 0, 0, 0, 0, 0)
        self.changed.progress[self._partition] = row._replace(next_offset=following)

    def check(self) -> None:
        """Whether partition and projects are still as they were; a database locks rows instead."""
        if self.changed.progress:
            now = self._kept.progress.get(self._partition)
            if now is not self._found:
                raise self._fenced(0 if self._found is None else self._found.next_offset)
        for row in self.changed.projects.values():
            self._must_be_ours(self._kept.projects.get(row.name), row)

    def _fenced(self, expected: int) -> Fenced:
        topic, partition = self._partition
        return Fenced(
            f"Partition {partition} of {topic} is not at offset {expected} in the database: another"
            " process has gone on with it, so this one must not. Nothing was written"
        )

    def trim_outbox(self, partition: TopicPartition, before: Cursor) -> None:
        self.trimmed[partition] = before

    def save(self, changes: Changes) -> None:
        self._hook("save")
        mine = self.changed.progress.get(self._partition)
        if mine is None:
            raise RuntimeError("save before advance: only the swap keeps a zombie from writing")
        self.changed.progress[self._partition] = changes.progress._replace(
            topic=mine.topic, partition=mine.partition, next_offset=mine.next_offset
        )
        for project in changes.projects:
            self._put_project(project)
        self._put_tasks(changes)
        self._put_workers(changes)
        self._put_pairs(changes)
        for note in changes.annotations:
            self.changed.annotations[note.project_id, note.annotation_id] = note
        for point in changes.history:
            self.changed.history[point[:3]] = point
        for lease in changes.ended_leases:
            _must(self._held(lease), "is not there", lease)
            self.changed.leases[lease[:3]] = None
        for lease in changes.new_leases:
            _must(not self._held(lease), "is there already", lease)
            self.changed.leases[lease[:3]] = lease
        for dead in changes.dead:
            self.changed.dead[dead[:3]] = dead._replace(message=storable(dead.message))
        self._put_runs(changes)
        self.outgoing.extend(changes.outgoing)

    def _put_runs(self, changes: Changes) -> None:
        for run in changes.runs:
            self.changed.runs[run.project_id, run.run] = readable(run)
        for project_id, name, until in changes.dropped:
            there = self._parts(project_id, name)
            kept = {number: part for number, part in there.items() if part.at > until}
            self.changed.parts[project_id, name] = kept
        for part in changes.new_parts:
            there = self._parts(part.project_id, part.run)
            _must(part.part not in there, "is there already", part)
            self.changed.parts[part.project_id, part.run] = {**there, part.part: part}
        for project_id in changes.found:
            self.changed.confusions[project_id] = []
            self.changed.clusters[project_id] = []
            self.changed.flags[project_id] = []
        for confusion in changes.confusions:
            self.changed.confusions[confusion.project_id].append(confusion)
        for cluster in changes.clusters:
            self.changed.clusters[cluster.project_id].append(cluster)
        for flag in changes.flags:
            self.changed.flags[flag.project_id].append(readable(flag))

    def _put_project(self, row: ProjectRow) -> None:
        self._must_be_ours(self.project(row.name), row)
        self.changed.projects[row.name] = row

    def _must_be_ours(self, known: ProjectRow | None, row: ProjectRow) -> None:
        if known is not None and (known.topic, known.partition) != (row.topic, row.partition):
            raise DependencyError(
                f"Project {row.name!r} has just been declared on another partition. This one is"
                " judged again when the batch is tried again"
            )

    def _put_tasks(self, changes: Changes) -> None:
        for task in changes.new_tasks:
            _must(not self._has("tasks", task[:2]), "is there already", task)
            self.changed.put_task(task)
        for task in changes.tasks:
            _must(self._has("tasks", task[:2]), "is not there", task)
            self.changed.put_task(task)

    def _put_workers(self, changes: Changes) -> None:
        for worker in changes.new_workers:
            _must(not self._has("workers", worker[:2]), "is there already", worker)
            self.changed.put_worker(_readable(worker))
        for worker in changes.workers:
            _must(self._has("workers", worker[:2]), "is not there", worker)
            self.changed.put_worker(_readable(worker))

    def _put_pairs(self, changes: Changes) -> None:
        for pair in changes.new_pairs:
            _must(not self._has_pair(pair), "is there already", pair)
            self.changed.put_pair(pair)
        for pair in changes.pairs:
            _must(self._has_pair(pair), "is not there", pair)
            self.changed.put_pair(pair)

    def _has(self, table: str, key: tuple[int, ...]) -> bool:
        return key in getattr(self.changed, table) or key in getattr(self._kept, table)

    def _held(self, lease: LeaseRow) -> bool:
        key = lease[:3]
        kept = self._kept.leases.get(key)
        return self.changed.leases.get(key, kept) is not None

    def _has_pair(self, pair: PairRow) -> bool:
        task = (pair.project_id, pair.task_id)
        return pair.worker_id in self.changed.pairs.get(
            task, ()
        ) or pair.worker_id in self._kept.pairs.get(task, ())


def _must(holds: bool, what: str, row: object) -> None:
    if not holds:
        raise LookupError(f"it {what}: {row}")


def _readable(worker: WorkerRow) -> WorkerRow:
    if worker.block_reason is None:
        return worker
    return worker._replace(block_reason=storable(worker.block_reason))


def _by_arrival(pair: PairRow) -> tuple[bool, int, int]:
    return pair.arrival is None, pair.arrival or 0, pair.worker_id
