"""The fold of one partition's log: records in, `Changes` out.

A shard holds the projects that live on its partition.  `apply` takes one record after the other;
`collect` hands over what they changed.  What a shard does depends on the records alone, never on
how they were batched, on what happened to be in memory, or on any clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from connector.domain.config import ProjectConfig
from connector.domain.errors import DeadCode, InputError
from connector.domain.events import (
    AnnotationSubmitted,
    Declared,
    Event,
    TimePassed,
    WorkerAvailable,
)
from connector.domain.records import Cursor, Outgoing, Record, TopicPartition
from connector.domain.rows import Changes, DeadRow, ProgressRow

from . import rows
from .assign import TIMED_OUT, give_back
from .declare import redeclared
from .desk import Desk
from .handlers import HANDLERS
from .history import Milestone, history_rows
from .leases import Calendar, Lease
from .messages import Cause, Topics, dead_letter
from .project import Project
from .storage import Storage
from .turn import Outcome, Turn

NAMED = ("task", "worker", "annotation_id")

APPLIED, DUPLICATE = Outcome.APPLIED, Outcome.DUPLICATE

T = TypeVar("T")


class Shard:
    """State of one partition.

    Args:
        source: the partition.
        progress: as it was stored, None for a partition whose first record is still to come.
        topics: where messages go.
        held: objects that may stay in memory between batches; above it the working sets are
            dropped and read again as they are needed.
        publish_from: messages of records before this offset are known to be out and are not
            made again (`run --rebuild`).
    """

    def __init__(
        self,
        source: TopicPartition,
        progress: ProgressRow | None,
        topics: Topics,
        *,
        held: int = 200_000,
        publish_from: Cursor | None = None,
    ) -> None:
        self.source = source
        row = progress or ProgressRow(source.topic, source.partition, 0, 0, 0, 0, 0, 0, 0)
        self.next_offset = row.next_offset
        self.time = row.time
        self.received = row.received
        self.applied = row.applied
        self.duplicates = row.duplicates
        self.stale = row.stale
        self.dead = row.dead
        self.topics = topics
        self.held = held
        self.publish_from = publish_from
        self.projects: dict[str, Project] = {}
        self._elsewhere: dict[str, TopicPartition | None] = {}
        self._outgoing: list[Outgoing] = []
        self._history: list[Milestone] = []
        self._dead: list[DeadRow] = []
        self._spilled = False
        self._deferred: list[Changes] | None = None
        self._calendar = Calendar()
        self.leases_read = progress is None
        """Whether `next_expiry` knows of what was stored."""
        self._turn = Turn(topics, self._outgoing, self._history, self._save_early, self._calendar)

    # -- look-ups

    def prefetch(self, storage: Storage, events: Iterable[Event | InputError]) -> None:
        """Bring in what the coming records name, in a few look-ups a project."""
        self._elsewhere.clear()
        named: dict[str, tuple[set[str], set[str], set[str]]] = {}
        for e in events:
            if isinstance(e, InputError | TimePassed):
                continue
            sets = named.get(e.project)
            if sets is None:
                sets = named[e.project] = (set(), set(), set())
            if isinstance(e, AnnotationSubmitted):  # most are, and have all three
                sets[0].add(e.task)
                sets[1].add(e.worker)
                if isinstance(e.annotation_id, str):
                    sets[2].add(e.annotation_id)
                continue
            for field, names in zip(NAMED, sets, strict=True):
                value = getattr(e, field, None)
                if value.__class__ is str:
                    names.add(value)
        for name, sets in named.items():
            project = self._project(storage, name)
            if project is not None:
                project.prefetch(storage, *sets)

    def reads_much(self, events: Sequence[Event | InputError]) -> bool:
        """Whether the batch makes an index, or learns what a worker has seen.

        What it reads is of all tasks, so everything that was folded before must be written.
        """
        if WorkerAvailable not in set(map(type, events)):
            return False
        return any(
            isinstance(e, WorkerAvailable) and not self._serves(e.project, e.worker) for e in events
        )

    def _serves(self, project: str, worker: str) -> bool:
        p = self.projects.get(project)
        return p is not None and p.desk is not None and p.desk.serves(worker)

    @property
    def next_expiry(self) -> int | None:
        """When the next open lease of the partition ends (microseconds), as far as is known."""
        return self._calendar.next

    def _project(self, storage: Storage, name: str) -> Project | None:
        found = self.projects.get(name)
        if found is None and name not in self._elsewhere:
            row = storage.project(name)
            if row is None:
                self._elsewhere[name] = None
            elif (row.topic, row.partition) != self.source:
                self._elsewhere[name] = TopicPartition(row.topic, row.partition)
            else:
                found = self.projects[name] = Project.from_row(row, storage)
        return found

    # -- the fold

    def apply(self, storage: Storage, record: Record, event: Event | InputError) -> None:
        """Fold one record in. Records come in order of offset."""
        self.next_offset = record.offset + 1
        self.received += 1
        if record.timestamp > self.time:
            self.time = record.timestamp
        # Made as a plain tuple is: a named one's constructor is a function of Python's.
        cause = tuple.__new__(Cause, (record.topic, record.partition, record.offset))
        sequence = 0
        if self._calendar.heap or not self.leases_read:
            sequence = self._end_leases(storage, cause)
        try:
            if isinstance(event, InputError):
                raise event
            outcome = self._judge(storage, cause, event, sequence)
        except InputError as error:
            self._bury(record, error, sequence)
        else:
            if outcome is APPLIED:
                self.applied += 1
            elif outcome is DUPLICATE:
                self.duplicates += 1
            else:
                self.stale += 1

    def _end_leases(self, storage: Storage, cause: Cause) -> int:
        """End every lease whose time has come; how many messages that made."""
        if not self.leases_read:
            self.read_leases(storage)
        sequence = 0
        while (lease := self._calendar.due(self.time)) is not None:
            project = self.projects[lease.project]
            self._turn.begin(project, storage, cause, self.time, sequence)
            give_back(self._turn, [lease], TIMED_OUT)
            sequence = self._turn.sequence
        return sequence

    def read_leases(self, storage: Storage) -> None:
        """Take over the open leases; before the first record, unless that has been done."""
        self.leases_read = True
        for held in storage.leases(*self.source):
            project = self._project(storage, held.project)
            assert project is not None
            if project.desk is None:
                project.desk = Desk()
            row = held.row
            lease = Lease(
                row.lease,
                row.expires_at,
                project=held.project,
                task_id=row.task_id,
                task=held.task,
                worker_id=row.worker_id,
                worker=held.worker,
            )
            project.desk.restore(lease, row)
            self._calendar.add(lease)

    def _judge(self, storage: Storage, cause: Cause, event: Event, sequence: int) -> Outcome:
        if isinstance(event, TimePassed):
            return Outcome.APPLIED
        project = self._project(storage, event.project)
        if project is None:
            home = self._elsewhere[event.project]
            if home is not None:
                raise InputError(
                    DeadCode.WRONG_PARTITION,
                    f"project {event.project[:80]!r} lives on {home.topic}/{home.partition}; the"
                    " usual cause is a producer whose partitioner is not murmur2, as Kafka's own"
                    " is",
                )
            if isinstance(event, Declared):
                self._declare(event.project, event.config)
                return Outcome.APPLIED
            raise InputError(
                DeadCode.UNKNOWN_PROJECT,
                f"project {event.project[:80]!r} is not declared; `crowdresolve project apply`"
                " declares it, `crowdresolve dead redrive` then sends this again",
            )
        turn = self._turn
        turn.begin(project, storage, cause, self.time, sequence)
        if isinstance(event, Declared):
            return redeclared(turn, event.config)
        outcome = HANDLERS[type(event)](turn, event)
        if turn.project is not project:
            # A run was adopted: the records that follow read what has come of it.
            self.projects[project.name] = turn.project
            if project.desk is not None:
                project.desk.forget_index()
                turn.project.desk = project.desk
            self._save_early(storage)
        return outcome

    def _declare(self, name: str, config: ProjectConfig) -> None:
        project = Project(name, config, self.source.topic, self.source.partition)
        project.declared_at = self.time
        project.dirty = True
        self.projects[name] = project
        del self._elsewhere[name]

    def _bury(self, record: Record, error: InputError, sequence: int) -> None:
        self.dead += 1
        text = str(error)
        self._dead.append(
            DeadRow(
                record.topic,
                record.partition,
                record.offset,
                self.time,
                error.code.value,
                text,
                -1 if record.value is None else len(record.value),
            )
        )
        self._outgoing.append(dead_letter(record, error, self.topics.dead, sequence))

    # -- what it changed

    def collect(self) -> Changes:
        """What changed since the last call; the shard goes on from there."""
        changes = Changes(self.source, self.progress())
        for p in self.projects.values():
            if not p.changed:
                continue
            p.mark_moved()
            if p.dirty or not p.stored:
                changes.projects.append(p.row())
            records = p.calibration.records
            for t in p.dirty_tasks.values():
                row = rows.task_row(p.id, t, p.config.kind, p.config.classes, records.get(t.id))
                (changes.tasks if t.stored else changes.new_tasks).append(row)
                t.stored = True
            workers = list(p.dirty_workers.values())
            for w, worker_row in zip(workers, p.worker_rows(workers), strict=True):
                (changes.workers if w.stored else changes.new_workers).append(worker_row)
                w.stored = True
            for (task_id, worker_id), new in p.dirty_pairs.items():
                pair = rows.pair_row(p.id, p.held_task(task_id), worker_id)
                (changes.new_pairs if new else changes.pairs).append(pair)
            for a in p.dirty_annotations.values():
                changes.annotations.append(rows.annotation_row(p.id, a))
            _collect_runs(p, changes)
            if p.desk is not None:
                p.desk.catch_up(p.config)
                for ended, begun in p.desk.collect(p.id):
                    if ended is not None:
                        changes.ended_leases.append(ended)
                    if begun is not None:
                        changes.new_leases.append(begun)
            p.saved()
        changes.outgoing = self.take_outgoing()
        changes.history = history_rows(_emptied(self._history))
        changes.dead = _emptied(self._dead)
        return changes

    def progress(self) -> ProgressRow:
        """How far the fold has come, and what became of its records."""
        return ProgressRow(
            self.source.topic,
            self.source.partition,
            self.next_offset,
            self.time,
            self.received,
            self.applied,
            self.duplicates,
            self.stale,
            self.dead,
        )

    def take_outgoing(self) -> list[Outgoing]:
        """The messages since the last call, but for those that are known to be out."""
        made = _emptied(self._outgoing)
        start = self.publish_from
        return made if start is None else [m for m in made if (m.offset, m.sequence) >= start]

    def take_spilled(self) -> bool:
        """Whether messages since the last call were saved in between, and not all collected."""
        spilled, self._spilled = self._spilled, False
        return spilled

    @property
    def overfull(self) -> bool:
        """Whether more is in memory than may stay."""
        return sum(p.held for p in self.projects.values()) > self.held

    def settle_memory(self) -> None:
        """After a commit: drop the working sets where they have grown too large."""
        if self.overfull:
            for p in self.projects.values():
                p.forget()

    @contextmanager
    def deferring(self) -> Iterator[list[Changes]]:
        """Keep what is saved on the way, to be written later and before the rest, in order.

        For a record that does not read again what it has saved.
        """
        self._deferred = []
        try:
            yield self._deferred
        finally:
            self._deferred = None

    def _save_early(self, storage: Storage) -> None:
        """In the middle of a record that touches many tasks: save, and drop the saved tasks."""
        changes = self.collect()
        if self._deferred is None:
            storage.save(changes)
        else:
            self._deferred.append(changes)
        self._spilled = True
        for p in self.projects.values():
            p.forget_tasks()


def _collect_runs(p: Project, changes: Changes) -> None:
    p.staging.collect(changes)
    if p.adopted is not None:
        changes.found.append(p.id)
        changes.tasks += p.adopted.tasks
        changes.confusions += p.adopted.confusions
        changes.clusters += p.adopted.clusters
        changes.flags += p.adopted.flags


def _emptied(items: list[T]) -> list[T]:
    """What a list held; the list itself stays, since a turn in progress goes on filling it."""
    taken = items[:]
    items.clear()
    return taken
