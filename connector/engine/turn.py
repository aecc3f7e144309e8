"""One record's turn: what a handler may do to tasks and workers, and what follows from it.

A handler checks everything first and then changes state through this object alone, so that what
must hold after any change (S current, rows marked, one message per task) is said in one place.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from aggregators.confidence import stated, top, vote_counts
from aggregators.streaming import cast, set_truth, settle, withdraw
from connector.domain.records import Outgoing

from .desk import Desk
from .history import Milestone, mark
from .leases import Calendar
from .messages import Cause, Topics, cloudevent_headers, label_message
from .project import Project
from .resolve import REOPENED, Standing, judge, stays_open
from .state import ADJUDICATED, OPEN, Annotation, Task, Vote, Worker
from .storage import Storage

HELD_DIRTY = 5000
"""Changed tasks that one record may hold in memory before they are saved in between."""


class Outcome(Enum):
    """What became of a record that could be used."""

    APPLIED = "applied"
    DUPLICATE = "duplicate"
    STALE = "stale"


class Turn:
    """The application of one record to one project; used for one record after the other.

    Attributes:
        saved_early: the record has touched so many tasks that some are saved already.
        sequence: messages that the record has caused so far.
    """

    __slots__ = (
        "calendar",
        "cause",
        "history",
        "outgoing",
        "project",
        "save_early",
        "saved_early",
        "sequence",
        "storage",
        "time",
        "topics",
    )

    project: Project
    storage: Storage
    cause: Cause
    time: int

    def __init__(
        self,
        topics: Topics,
        outgoing: list[Outgoing],
        history: list[Milestone],
        save_early: Callable[[Storage], None],
        calendar: Calendar,
    ) -> None:
        self.topics = topics
        self.outgoing = outgoing
        self.history = history
        self.save_early = save_early
        self.calendar = calendar
        self.saved_early = False
        self.sequence = 0

    def begin(
        self, project: Project, storage: Storage, cause: Cause, time: int, sequence: int = 0
    ) -> None:
        """Turn to the next record, which has caused so many messages already."""
        self.project = project
        self.storage = storage
        self.cause = cause
        self.time = time
        self.saved_early = False
        self.sequence = sequence

    # -- what comes to be

    def task(self, name: str) -> Task:
        """The task, made if this record names it first."""
        p = self.project
        t = p.task(self.storage, name)
        if t is None:
            t = p.new_task(name)
            self.show(t)
            self.changed(t)
        return t

    def worker(self, name: str) -> Worker:
        """The worker, made if this record names it first."""
        w = self.project.worker(self.storage, name)
        if w is None:
            w = self.project.new_worker(name)
            w.updated_at = self.time
        return w

    def annotation(self, id: str) -> Annotation:
        """The annotation_id, noted if this record names it first."""
        p = self.project
        a = p.annotation(self.storage, id)
        if a is None:
            a = p.new_annotation(id)
        p.dirty_annotations[id] = a
        return a

    def desk(self) -> Desk:
        """The project's assignments, from the first on."""
        p = self.project
        if p.desk is None:
            p.desk = Desk()
        return p.desk

    # -- changes

    def cast(self, task: Task, vote: Vote) -> None:
        """Apply a vote of a worker who has none on the task."""
        p = self.project
        worker = vote.worker
        p.touch_pair(task, worker.id)
        p.arrivals += 1
        p.uses[vote.x] += 1
        p.dirty = True
        before = task.mu
        cast(task, worker.id, worker, vote, p.config.alpha, p.config.beta)
        if task.status != OPEN:
            worker.resolved += 1
            worker.agreed += vote.x == task.label
        if task.mu is not before:
            p.moved_tasks[task.id] = (task, self.time)
        worker.updated_at = self.time
        p.dirty_workers[worker.id] = worker
        reached = mark(worker.n)
        if reached > worker.mark:
            worker.mark = reached
            self._note_history(worker)

    def withdraw(self, task: Task, worker_id: int) -> Vote:
        """Take a present vote out."""
        p = self.project
        p.touch_pair(task, worker_id)
        before = task.mu
        if task.run_base is not None:
            task.base = p.base_of(task, without=worker_id)
        vote: Vote = withdraw(task, worker_id)  # type: ignore[assignment]
        p.uses[vote.x] -= 1
        p.dirty = True
        if task.resolved:
            vote.worker.resolved -= 1
            vote.worker.agreed -= vote.x == task.label
        self.moved(task, before)
        self.worker_changed(vote.worker)
        return vote

    def set_truth(self, task: Task, truth: int | None) -> None:
        """Fix the task's posterior to its truth, or free it."""
        p = self.project
        for x, by in ((task.truth, -1), (truth, 1)):
            if x is not None:
                p.uses[x] += by
        p.dirty = True
        before = task.mu
        set_truth(task, truth)
        self.moved(task, before)

    def settle(self, task: Task) -> None:
        """Sum the task's weights anew after its base or the weight of votes changed."""
        before = task.mu
        if task.run_base is not None:
            task.base = self.project.base_of(task)
        settle(task)
        self.moved(task, before)

    def moved(self, task: Task, before: list[float]) -> None:
        """Note that the voters' S moved with the task's posterior.

        Their rows are marked once a batch (`Project.mark_moved`), not once a vote.
        """
        if task.mu is not before:
            self.project.moved_tasks[task.id] = (task, self.time)

    def worker_changed(self, worker: Worker) -> None:
        """Mark a worker's row."""
        worker.updated_at = self.time
        self.project.dirty_workers[worker.id] = worker

    def changed(self, task: Task) -> None:
        """Mark a task's row."""
        task.updated_at = self.time
        p = self.project
        p.dirty_tasks[task.id] = task
        if p.desk is not None:
            p.desk.changed_task(task)

    def answered(self, task: Task, worker: Worker) -> None:
        """A vote or a skip that counts for something: it ends the pair's lease."""
        desk = self.project.desk
        if desk is not None:
            desk.answered(task.id, worker.id)

    # -- records that touch many tasks

    def begin_wide(self) -> None:
        """Before a record that changes how tasks are read.

        No task may then be changed and unsaved, if any are to be saved on the way.
        """
        if self.project.task_count >= HELD_DIRTY and self.project.dirty_tasks:
            self._save()

    def save_first(self) -> None:
        """Before a record that reads from the storage what others before it may have changed."""
        if self.project.changed:
            self._save()

    def relieve(self) -> None:
        """Between two chunks of tasks: save and drop what is done where it has become much."""
        if len(self.project.dirty_tasks) >= HELD_DIRTY:
            self._save()

    def end_wide(self) -> None:
        """After it: what was saved on the way is read as it is now, not as it was then."""
        if self.saved_early:
            self._save()

    def _save(self) -> None:
        self.save_early(self.storage)
        self.saved_early = True

    # -- what follows

    def record_gold(self, task: Task) -> None:
        """Bring the task's calibration record up to date, before the task is judged."""
        p = self.project
        if not p.config.calibrate:
            return
        if task.truth is None and task.id not in p.calibration.records:
            return
        for id in p.calibration.update(task, p.prior_of(task), p.config.doubt, p.b0):
            t = p.task_numbered(self.storage, id)
            p.dirty_tasks[t.id] = t
        p.dirty = True

    def judge(self, task: Task, expert: int | None = None) -> None:
        """Apply the resolution rules to a touched task; sends at most one message."""
        p = self.project
        config = p.config
        counts = vote_counts(task)
        n = sum(counts.values())
        if task.truth is not None:
            q, x = task.mu, task.truth
        else:
            q = self._stated(task, counts)
            x = top(q)
        maximum = task.max_labels if task.max_labels is not None else config.max_labels
        verdict = None
        if not stays_open(task.status, q[x], n, task.truth, maximum, config):
            standing = Standing(task.status, task.label, x, q[x], n, task.truth, expert, maximum)
            verdict = judge(standing, config)
        task.counted = n
        if task.run_base is not None:
            task.algorithm = p.algorithm_of(task)
        task.q, task.shown = q, None
        if verdict is None:
            if task.status == OPEN:
                task.label = x if n else None
                task.confidence = q[x]
            elif task.label is not None:
                task.confidence = q[task.label]
        else:
            self._stand(
                task, verdict.status, verdict.label if n or task.truth is not None else None
            )
            task.confidence = q[verdict.label]
            task.version += 1
            task.resolved_at = None if verdict.message == REOPENED else self.time
            self._send(verdict.message, task)
        self.changed(task)

    def show(self, task: Task) -> None:
        """What a task without votes says of itself: the stated prior."""
        task.q, task.shown = self._stated(task, {}), None
        task.confidence = max(task.q)

    def _stated(self, task: Task, counts: dict[int, int]) -> list[float]:
        p = self.project
        return p.calibration.apply(
            stated(task.m, counts, p.prior_of(task), p.config.doubt, task.mu)
        )

    def _stand(self, task: Task, status: str, label: int | None) -> None:
        """Give the task another status or label, and its voters their agreement with it."""
        was, old = task.resolved, task.label
        uses = self.project.uses
        if task.status == ADJUDICATED and old is not None:
            uses[old] -= 1
        if status == ADJUDICATED and label is not None:
            uses[label] += 1
        task.status, task.label = status, label
        now = task.resolved
        if (was, old) == (now, label) or not (was or now):
            return
        dirty = self.project.dirty_workers
        for v in task.votes.values():
            w: Worker = v.worker
            w.resolved += now - was
            w.agreed += (now and v.x == label) - (was and v.x == old)
            dirty[w.id] = w

    def _send(self, kind: str, task: Task) -> None:
        config = self.project.config
        label = None if task.label is None else config.classes[task.label]
        probabilities = task.shown_probabilities(config.classes)
        key, value = label_message(kind, self.project.name, task, label, probabilities, self.cause)
        self.emit(kind, self.topics.resolved, key, value)

    def emit(self, kind: str, topic: str, key: bytes, value: bytes) -> None:
        """Add a message, with the next sequence number of this record."""
        headers = cloudevent_headers(kind, self.cause, self.sequence, self.topics.source, self.time)
        self.outgoing.append(Outgoing(self.cause.offset, self.sequence, topic, key, value, headers))
        self.sequence += 1

    def _note_history(self, worker: Worker) -> None:
        config = self.project.config
        a, b = worker.S + config.alpha, worker.n - worker.S + config.beta
        accuracy = worker.accuracy(config.alpha, config.beta)
        self.history.append(
            Milestone(self.project.id, worker.id, worker.n, self.time, accuracy, a, b)
        )
