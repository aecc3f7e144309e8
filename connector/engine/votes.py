"""Votes, skips and retractions: which counts, which is stale, what is remembered of it."""

from __future__ import annotations

from typing import TypeVar

from msgspec import UNSET, UnsetType

from connector.domain.errors import DeadCode, InputError
from connector.domain.events import AnnotationRetracted, AnnotationSkipped, AnnotationSubmitted

from .project import Project
from .state import Annotation, Memory, Task, Vote, Worker
from .turn import Outcome, Turn

T = TypeVar("T")

APPLIED, DUPLICATE, STALE = Outcome.APPLIED, Outcome.DUPLICATE, Outcome.STALE


def compare(
    revision: int | None, at: int | None, other_revision: int | None, other_at: int | None
) -> int | None:
    """Sign of new against old, None where they cannot be compared.

    By `revision` where both have one, else by `at` where both have one.
    """
    if revision is not None and other_revision is not None:
        return (revision > other_revision) - (revision < other_revision)
    if at is not None and other_at is not None:
        return (at > other_at) - (at < other_at)
    return None


def class_of(project: Project, label: str) -> int:
    """Index of a class by its name.

    Raises:
        InputError: unknown_class.
    """
    x = project.class_index.get(label)
    if x is None:
        known = ", ".join(project.config.classes[:10])
        raise InputError(
            DeadCode.UNKNOWN_CLASS,
            f"`label` {label[:80]!r} is no class of project {project.name!r}; it has {known}"
            + (", ..." if project.K > 10 else ""),
        )
    return x


def submitted(turn: Turn, e: AnnotationSubmitted) -> Outcome:
    """`annotation.submitted`."""
    p, storage = turn.project, turn.storage
    x = p.class_index.get(e.label)
    if x is None:
        x = class_of(p, e.label)
    revision = None if e.revision is UNSET else e.revision
    at = None if e.at is UNSET else e.at
    task, worker = p.task(storage, e.task), p.worker(storage, e.worker)
    if e.annotation_id is not UNSET:
        a = p.annotation(storage, e.annotation_id)
        if a is not None:
            _check_owner(a, task, worker, p.name)
            if a.memory.gone and not _newer(revision, at, a.memory):
                return STALE
    old: Vote | None = None
    if task is not None and worker is not None:
        memory = task.memories.get(worker.id) if task.memories else None
        if memory is not None and memory.gone:
            order = compare(revision, at, memory.revision, memory.at)
            if order is not None and order <= 0:
                return STALE
        old = task.votes.get(worker.id)
        if old is not None:
            order = compare(revision, at, old.revision, old.at)
            if order == 0 or (order is None and old.x == x):
                return DUPLICATE
            if order == -1:
                return STALE
    if task is None:
        task = turn.task(e.task)
    if worker is None:
        worker = turn.worker(e.worker)
    memory = task.memories.get(worker.id) if task.memories else None
    if old is not None:
        counted = turn.withdraw(task, worker.id).counts
    else:
        counted = False
        if memory is None or not memory.voted:
            p.pairs += 1
    if memory is not None:
        memory.voted = True
        memory.skipped = False
    annotation_id = None if e.annotation_id is UNSET else e.annotation_id
    vote = Vote(
        worker,
        x,
        arrival=p.arrivals + 1,
        offset=turn.cause.offset,
        revision=revision,
        at=at,
        annotation_id=annotation_id,
    )
    turn.cast(task, vote)
    if annotation_id is not None:
        a = turn.annotation(annotation_id)
        if a.task_id is None:
            a.task_id, a.worker_id = task.id, worker.id
    turn.answered(task, worker)
    if vote.counts or counted:
        if task.truth is not None or p.calibration.records:
            turn.record_gold(task)
        expert = p.experts and vote.counts and worker.name in p.experts
        turn.judge(task, x if expert else None)
    return APPLIED


def skipped(turn: Turn, e: AnnotationSkipped) -> Outcome:
    """`annotation.skipped`: a retraction by pair that also marks the pair as skipped."""
    return _retract_pair(turn, e.task, e.worker, _value(e.revision), _value(e.at), skip=True)


def retracted(turn: Turn, e: AnnotationRetracted) -> Outcome:
    """`annotation.retracted`, by pair or by annotation_id."""
    revision, at = _value(e.revision), _value(e.at)
    if e.annotation_id is UNSET:
        assert e.task is not UNSET
        assert e.worker is not UNSET
        return _retract_pair(turn, e.task, e.worker, revision, at)
    return _retract_id(turn, e, e.annotation_id, revision, at)


def _retract_id(
    turn: Turn, e: AnnotationRetracted, id: str, revision: int | None, at: int | None
) -> Outcome:
    p, storage = turn.project, turn.storage
    a = p.annotation(storage, id)
    if a is not None and a.task_id is not None and a.worker_id is not None:
        task = p.task_numbered(storage, a.task_id)
        worker = p.worker_numbered(storage, a.worker_id)
        if (e.task is not UNSET and e.task != task.name) or (
            e.worker is not UNSET and e.worker != worker.name
        ):
            raise InputError(
                DeadCode.ANNOTATION_ID_CONFLICT,
                f"annotation_id {id[:80]!r} belongs to task {task.name[:80]!r}, worker"
                f" {worker.name[:80]!r}, not to those that the retraction names",
            )
        vote: Vote | None = task.votes.get(worker.id)
        if vote is not None and vote.annotation_id == id:
            return _remove(turn, task, worker, vote, revision, at)
    if a is not None and a.memory.gone:
        outcome = _against_memory(revision, at, a.memory)
        if outcome is not APPLIED:
            return outcome
    a = turn.annotation(id)
    _remember(a.memory, revision, at)
    return APPLIED


def _retract_pair(
    turn: Turn,
    task_name: str,
    worker_name: str,
    revision: int | None,
    at: int | None,
    skip: bool = False,
) -> Outcome:
    p, storage = turn.project, turn.storage
    task, worker = p.task(storage, task_name), p.worker(storage, worker_name)
    if task is not None and worker is not None:
        vote: Vote | None = task.votes.get(worker.id)
        if vote is not None:
            return _remove(turn, task, worker, vote, revision, at, skip)
        memory = task.memories.get(worker.id)
        if memory is not None and memory.gone:
            outcome = _against_memory(revision, at, memory)
            if outcome is DUPLICATE and skip and not memory.skipped:
                p.touch_pair(task, worker.id)
                memory.skipped = True
                turn.answered(task, worker)
                return APPLIED
            if outcome is not APPLIED:
                return outcome
    task, worker = turn.task(task_name), turn.worker(worker_name)
    p.touch_pair(task, worker.id)
    memory = p.memory(task, worker.id)
    _remember(memory, revision, at)
    memory.skipped = memory.skipped or skip
    if skip:
        turn.answered(task, worker)
    return APPLIED


def _remove(
    turn: Turn,
    task: Task,
    worker: Worker,
    vote: Vote,
    revision: int | None,
    at: int | None,
    skip: bool = False,
) -> Outcome:
    """Take the present vote out, unless the retraction is older, and remember that."""
    p = turn.project
    order = compare(revision, at, vote.revision, vote.at)
    if order is not None and order < 0:
        return STALE
    p.touch_pair(task, worker.id)
    memory = p.memory(task, worker.id)
    memory.voted = True
    revision = vote.revision if revision is None else revision
    at = vote.at if at is None else at
    turn.withdraw(task, worker.id)
    _remember(memory, revision, at)
    memory.skipped = memory.skipped or skip
    if vote.annotation_id is not None:
        _remember(turn.annotation(vote.annotation_id).memory, revision, at)
    if vote.counts:
        turn.record_gold(task)
        turn.judge(task)
    return APPLIED


def _remember(memory: Memory, revision: int | None, at: int | None) -> None:
    """The newest retraction is remembered; what it lacks is kept from the other."""
    order = compare(revision, at, memory.revision, memory.at) if memory.gone else None
    memory.gone = True
    if order == -1:
        memory.revision = revision if memory.revision is None else memory.revision
        memory.at = at if memory.at is None else memory.at
    else:
        memory.revision = memory.revision if revision is None else revision
        memory.at = memory.at if at is None else at


def _against_memory(revision: int | None, at: int | None, memory: Memory) -> Outcome:
    """A retraction without a vote, compared with the remembered one."""
    order = compare(revision, at, memory.revision, memory.at)
    if order is not None:
        return APPLIED if order > 0 else STALE if order < 0 else DUPLICATE
    news = revision not in (None, memory.revision) or at not in (None, memory.at)
    return APPLIED if news else DUPLICATE


def _newer(revision: int | None, at: int | None, memory: Memory) -> bool:
    order = compare(revision, at, memory.revision, memory.at)
    return order is not None and order > 0


def _check_owner(a: Annotation, task: Task | None, worker: Worker | None, project: str) -> None:
    if a.task_id is None:
        return
    if task is None or worker is None or (a.task_id, a.worker_id) != (task.id, worker.id):
        raise InputError(
            DeadCode.ANNOTATION_ID_CONFLICT,
            f"annotation_id {a.id[:80]!r} belongs to another task or worker of {project!r}",
        )


def _value(value: T | UnsetType) -> T | None:
    return None if value is UNSET else value
