"""One project's working set: its tasks, workers and annotation_ids as far as they are in memory.

Everything that is not in memory is faulted in through `Storage`, in bulk where the caller knows
what a batch will need (`prefetch`).  Rules never see the difference.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from math import log
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from aggregators.confidence import slope_prior_mean
from aggregators.streaming import one_hot, softmax, summed
from connector.domain.config import ProjectConfig, from_json, to_json
from connector.domain.rows import (
    ClusterRow,
    ConfusionRow,
    FlagRow,
    PairRow,
    ProjectRow,
    TaskRow,
    WorkerRow,
)

from . import rows
from .calibration import Calibration
from .desk import Desk
from .history import beta_interval
from .staging import Staging
from .state import FAST_SBIC, Annotation, Memory, Task, Vote, Worker

if TYPE_CHECKING:
    from .storage import Storage, TaskPage

CHUNK = 1000
"""Tasks that one look-up of a record with wide effects brings in."""


class Adopted(NamedTuple):
    """What adopting a run has changed beside workers: every task, and all that runs say."""

    tasks: list[TaskRow]
    confusions: list[ConfusionRow]
    clusters: list[ClusterRow]
    flags: list[FlagRow]


def project_id(name: str) -> int:
    """A 63-bit number for a name: the same in every replay, with nobody to ask for it.

    A counter would have to be shared by every partition's consumer, and would then differ from
    one replay to the next.
    """
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "big") >> 1


class Project:
    """Configuration, counters and the working set of one project."""

    def __init__(self, name: str, config: ProjectConfig, topic: str, partition: int) -> None:
        self.id = project_id(name)
        self.name = name
        self.topic = topic
        self.partition = partition
        self.task_count = 0
        self.worker_count = 0
        self.arrivals = 0
        self.pairs = 0
        self.declared_at = 0
        self.run: int | None = None
        self.upto: int | None = None
        self.algorithm: str | None = None
        self.classes_since = -1
        self.adopted: Adopted | None = None
        self.staging = Staging(self.id, stored=False)
        self.calibration = Calibration()
        self.uses = [0] * config.K
        self.stored = False
        self.dirty = False
        self.dirty_tasks: dict[int, Task] = {}
        self.dirty_workers: dict[int, Worker] = {}
        self.dirty_pairs: dict[tuple[int, int], bool] = {}
        self.dirty_annotations: dict[str, Annotation] = {}
        self.moved_tasks: dict[int, tuple[Task, int]] = {}
        self.desk: Desk | None = None
        self.forget()
        self.configure(config)

    @classmethod
    def from_row(cls, row: ProjectRow, storage: Storage) -> Project:
        """A project as it was stored, with nothing of it in memory yet but its records."""
        p = cls(row.name, from_json(row.config), row.topic, row.partition)
        p.task_count, p.worker_count = row.tasks, row.workers
        p.arrivals, p.pairs = row.arrivals, row.pairs
        p.declared_at = row.declared_at
        p.run, p.upto, p.algorithm = row.run, row.upto, row.algorithm
        p.classes_since = row.classes_since
        p.uses = msgspec.json.decode(row.uses, type=list[int])
        p.calibration.restore(row.b, row.record_seq, storage.calibration_records(row.id))
        p.stored = True
        p.staging = Staging(p.id, stored=True)
        return p

    def configure(self, config: ProjectConfig) -> None:
        """Take over a configuration; what depends on it per task is the caller's."""
        self.config = config
        self.K = config.K
        self.class_index = {name: x for x, name in enumerate(config.classes)}
        self.log_prior = [log(v) for v in config.class_prior]
        self.experts = frozenset(config.experts)
        self.b0 = slope_prior_mean(config.K)

    # -- what is in memory

    def forget(self) -> None:
        """Drop the working set (only when nothing of it is dirty)."""
        self._tasks: dict[str, Task] = {}
        self._tasks_by_id: dict[int, Task] = {}
        self._workers: dict[str, Worker] = {}
        self._workers_by_id: dict[int, Worker] = {}
        self._annotations: dict[str, Annotation] = {}
        self._absent: set[tuple[str, str]] = set()
        self.staging.forget()

    def forget_tasks(self) -> None:
        """Drop the tasks alone (only when none is dirty), in the middle of a record."""
        self._tasks = {}
        self._tasks_by_id = {}
        self._absent.clear()

    def held_task(self, id: int) -> Task:
        """A task that is in memory, as every dirty one is."""
        return self._tasks_by_id[id]

    @property
    def changed(self) -> bool:
        """Whether there is anything to save."""
        return bool(
            self.dirty
            or self.moved_tasks
            or self.dirty_tasks
            or self.dirty_workers
            or self.dirty_pairs
            or self.dirty_annotations
            or self.staging.changed
            or (self.desk is not None and self.desk.changed)
        )

    def mark_moved(self) -> None:
        """Mark the workers whose S moved with a task's posterior.

        Whoever had a vote on the task then and has none now was marked when it was withdrawn;
        whoever voted later, by that vote.
        """
        for task, time in self.moved_tasks.values():
            for v in task.votes.values():
                w: Worker = v.worker
                self.dirty_workers[w.id] = w
                if w.updated_at < time:
                    w.updated_at = time
        self.moved_tasks = {}

    def saved(self) -> None:
        """Everything dirty has been handed over for saving."""
        self.stored = True
        self.dirty = False
        self.dirty_tasks = {}
        self.dirty_workers = {}
        self.dirty_pairs = {}
        self.dirty_annotations = {}
        self.adopted = None

    @property
    def held(self) -> int:
        """How many objects are in memory, for bounding it."""
        return len(self._tasks) + len(self._workers) + len(self._annotations)

    def prefetch(
        self,
        storage: Storage,
        tasks: Collection[str],
        workers: Collection[str],
        annotations: Collection[str],
    ) -> None:
        """Bring in what a batch names, in a few look-ups; notes what does not exist.

        Nothing is looked up where every task, or worker, is in memory: it could only be new.
        """
        self._absent.clear()
        if annotations := [a for a in annotations if a not in self._annotations]:
            if self.stored:
                for row in storage.annotations(self.id, annotations):
                    self._annotations[row.annotation_id] = rows.annotation_from(row)
            self._absent.update(("a", a) for a in annotations if a not in self._annotations)
        if names := [t for t in tasks if t not in self._tasks]:
            if self.stored and len(self._tasks) < self.task_count:
                self._adopt(storage, storage.tasks_named(self.id, names))
            self._absent.update(("t", t) for t in names if t not in self._tasks)
        if names := [w for w in workers if w not in self._workers]:
            if self.stored and len(self._workers) < self.worker_count:
                self._take_workers(storage.workers_named(self.id, names))
            self._absent.update(("w", w) for w in names if w not in self._workers)
        if ids := {
            a.task_id
            for name in annotations
            if (a := self._annotations.get(name)) is not None
            and a.task_id is not None
            and a.task_id not in self._tasks_by_id
        }:
            self._adopt(storage, storage.tasks_numbered(self.id, ids))

    def task(self, storage: Storage, name: str) -> Task | None:
        """The task of that name, or None."""
        found = self._tasks.get(name)
        if found is None and self.stored and ("t", name) not in self._absent:
            self._adopt(storage, storage.tasks_named(self.id, [name]))
            found = self._tasks.get(name)
        return found

    def task_numbered(self, storage: Storage, id: int) -> Task:
        """The task of that number, which exists."""
        found = self._tasks_by_id.get(id)
        if found is None:
            self._adopt(storage, storage.tasks_numbered(self.id, [id]))
            found = self._tasks_by_id[id]
        return found

    def worker(self, storage: Storage, name: str) -> Worker | None:
        """The worker of that name, or None."""
        found = self._workers.get(name)
        if found is None and self.stored and ("w", name) not in self._absent:
            self._take_workers(storage.workers_named(self.id, [name]))
            found = self._workers.get(name)
        return found

    def worker_numbered(self, storage: Storage, id: int) -> Worker:
        """The worker of that number, who exists."""
        found = self._workers_by_id.get(id)
        if found is None:
            self._take_workers(storage.workers_numbered(self.id, [id]))
            found = self._workers_by_id[id]
        return found

    def annotation(self, storage: Storage, id: str) -> Annotation | None:
        """What is known of an annotation_id, or None."""
        found = self._annotations.get(id)
        if found is None and self.stored and ("a", id) not in self._absent:
            for row in storage.annotations(self.id, [id]):
                self._annotations[id] = found = rows.annotation_from(row)
        return found

    def chunks_of_tasks(self, storage: Storage, ids: Sequence[int]) -> Iterator[list[Task]]:
        """The numbered tasks in that order, some at a time."""
        for start in range(0, len(ids), CHUNK):
            part = ids[start : start + CHUNK]
            if missing := [i for i in part if i not in self._tasks_by_id]:
                self._adopt(storage, storage.tasks_numbered(self.id, missing))
            yield [self._tasks_by_id[i] for i in part]

    def task_ids_of(self, storage: Storage, worker: Worker) -> list[int]:
        """Numbers of the tasks on which the worker has a present vote, ascending."""
        ids = set(storage.task_ids_of(self.id, worker.id)) if self.stored else set()
        for task_id, worker_id in self.dirty_pairs:
            if worker_id == worker.id:
                present = worker_id in self._tasks_by_id[task_id].votes
                (ids.add if present else ids.discard)(task_id)
        return sorted(ids)

    def seen_by(self, storage: Storage, worker: Worker) -> set[int]:
        """Numbers of the tasks that the worker ever voted on or has skipped."""
        ids = set(storage.seen_task_ids(self.id, worker.id)) if self.stored else set()
        for task_id, worker_id in self.dirty_pairs:
            if worker_id == worker.id:
                task = self._tasks_by_id[task_id]
                memory = task.memories.get(worker_id)
                seen = worker_id in task.votes or (
                    memory is not None and (memory.voted or memory.skipped)
                )
                (ids.add if seen else ids.discard)(task_id)
        return ids

    def all_workers(self, storage: Storage) -> Iterator[Worker]:
        """Every worker, in order of first appearance; all stay in memory."""
        missing = [i for i in range(1, self.worker_count + 1) if i not in self._workers_by_id]
        for start in range(0, len(missing), CHUNK):
            self._take_workers(storage.workers_numbered(self.id, missing[start : start + CHUNK]))
        for i in range(1, self.worker_count + 1):
            yield self._workers_by_id[i]

    # -- runs

    def weigh(self, vote: Vote) -> None:
        """Give a vote that the adopted run has seen the run's p of its worker."""
        if self.upto is not None and vote.offset < self.upto and vote.worker.run_p is not None:
            vote.own, vote.p = vote.p, vote.worker.run_p

    def base_of(self, task: Task, without: int | None = None) -> list[float]:
        """The run's base while a counting vote that it has seen is there, else the log prior.

        Without any the task knows nothing that the run knew; `without` a worker: as it will be
        when that worker's vote is gone.
        """
        if task.run_base is not None and self.upto is not None:
            for worker_id, vote in task.votes.items():
                if vote.counts and vote.offset < self.upto and worker_id != without:
                    return task.run_base
        return self.log_prior_of(task)

    def algorithm_of(self, task: Task) -> str:
        """The run's whose base is in force, else ours."""
        ours = self.algorithm is None or task.base is not task.run_base
        return FAST_SBIC if ours else self.algorithm  # type: ignore[return-value]

    def under_run(
        self, storage: Storage, ids: Collection[int], bases: Mapping[str, bytes]
    ) -> Iterator[Task]:
        """The numbered tasks as they are with these bases, by name; all workers are in memory."""
        page = storage.tasks_numbered(self.id, ids)
        pairs = _by_task(page.pairs)
        for row in page.tasks:
            base = bases.get(row.name)
            run = None if base is None else self.run
            under = row._replace(base=base, run=run, algorithm=FAST_SBIC)
            yield self._restored(under, pairs.get(row.id, ()))

    # -- what comes to be

    def new_task(self, name: str) -> Task:
        """A task that this record names first."""
        self.task_count += 1
        t = Task(self.task_count, name, self.log_prior)
        self._tasks[name] = self._tasks_by_id[t.id] = t
        self._absent.discard(("t", name))
        self.dirty = True
        return t

    def new_worker(self, name: str) -> Worker:
        """A worker that this record names first."""
        self.worker_count += 1
        w = Worker(self.worker_count, name)
        self._workers[name] = self._workers_by_id[w.id] = w
        self._absent.discard(("w", name))
        self.dirty = True
        self.dirty_workers[w.id] = w
        return w

    def new_annotation(self, id: str) -> Annotation:
        """An annotation_id that this record names first."""
        a = Annotation(id)
        self._annotations[id] = a
        self._absent.discard(("a", id))
        return a

    def touch_pair(self, task: Task, worker_id: int) -> None:
        """Note that the pair's row changes. Call before the change: it sees whether it is new."""
        key = (task.id, worker_id)
        if key not in self.dirty_pairs:
            self.dirty_pairs[key] = worker_id not in task.votes and worker_id not in task.memories

    def memory(self, task: Task, worker_id: int) -> Memory:
        """The pair's memory, made where there is none."""
        found = task.memories.get(worker_id)
        if found is None:
            found = task.memories[worker_id] = Memory(voted=worker_id in task.votes)
        return found

    def prior_of(self, task: Task) -> tuple[float, ...]:
        """The task's own prior, or the project's."""
        return task.prior if task.prior is not None else self.config.class_prior

    def log_prior_of(self, task: Task) -> list[float]:
        """Logarithm of `prior_of`."""
        return self.log_prior if task.prior is None else [log(v) for v in task.prior]

    # -- rows in, rows out

    def _take_workers(self, found: Sequence[WorkerRow]) -> None:
        for row in found:
            if row.id not in self._workers_by_id:
                w = rows.worker_from(row)
                self._workers[w.name] = self._workers_by_id[w.id] = w

    def _adopt(self, storage: Storage, page: TaskPage) -> None:
        voters = {
            r.worker_id
            for r in page.pairs
            if r.x is not None and r.worker_id not in self._workers_by_id
        }
        if voters:
            self._take_workers(storage.workers_numbered(self.id, voters))
        pairs = _by_task(page.pairs)
        for row in page.tasks:
            if row.id not in self._tasks_by_id:
                t = self._restored(row, pairs.get(row.id, ()))
                self._tasks[t.name] = self._tasks_by_id[t.id] = t

    def _restored(self, row: TaskRow, pairs: Iterable[PairRow]) -> Task:
        t = Task.__new__(Task)
        t.id, t.name, t.priority, t.max_labels = row.id, row.name, row.priority, row.max_labels
        t.prior = rows.unpack(row.prior)
        t.run = row.run
        base = rows.unpack(row.base)
        t.run_base = None if base is None else list(base)
        t.withdrawn, t.truth, t.status, t.label = (
            bool(row.withdrawn),
            row.truth,
            row.status,
            row.label,
        )
        t.confidence = row.confidence
        t.q, t.shown = None, row.probabilities.encode()
        t.counted, t.version, t.algorithm = row.votes, row.version, row.algorithm
        t.resolved_at, t.updated_at = row.resolved_at, row.updated_at
        t.stored = True
        t.memories = {}
        votes = []
        for r in pairs:
            if r.x is not None:
                vote = rows.vote_from(r, self._workers_by_id[r.worker_id])
                if self.upto is not None:
                    self.weigh(vote)
                votes.append(vote)
            memory = rows.memory_from(r)
            if memory is not None:
                t.memories[r.worker_id] = memory
        votes.sort(key=lambda v: v.arrival)
        t.votes = {v.worker.id: v for v in votes}
        t.base = self.base_of(t)
        t.m = summed(t)
        t.mu = softmax(t.m) if t.truth is None else one_hot(t.truth, self.K)
        return t

    def row(self) -> ProjectRow:
        """The project's own row."""
        c = self.calibration
        shown = c.standing(self.config.confidence)
        return ProjectRow(
            self.id,
            self.name,
            self.topic,
            self.partition,
            to_json(self.config),
            self.task_count,
            self.worker_count,
            self.arrivals,
            self.pairs,
            msgspec.json.encode(self.uses).decode(),
            c.b,
            c.sequence,
            *shown,
            self.declared_at,
            self.run,
            self.upto,
            self.algorithm,
            self.classes_since,
        )

    def worker_rows(self, workers: Sequence[Worker]) -> list[WorkerRow]:
        """Rows of some workers, their 95 % intervals computed together."""
        alpha, beta = self.config.alpha, self.config.beta
        a = [w.S + alpha for w in workers]
        b = [w.n - w.S + beta for w in workers]
        lower, upper = beta_interval(a, b)
        return [
            rows.worker_row(self.id, w, w.accuracy(alpha, beta), lo, hi)
            for w, lo, hi in zip(workers, lower, upper, strict=True)
        ]


def _by_task(pairs: Iterable[PairRow]) -> dict[int, list[PairRow]]:
    found: dict[int, list[PairRow]] = {}
    for r in pairs:
        found.setdefault(r.task_id, []).append(r)
    return found
