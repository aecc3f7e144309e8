"""Between the engine's objects and the rows that a store keeps."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from connector.domain.rows import AnnotationRow, PairRow, TaskRow, WorkerRow

from .choosing import margin
from .state import Annotation, Memory, Task, Vote, Worker

NOTHING = Memory()

_make = tuple.__new__
"""Makes a row from its fields in order. A named tuple's own constructor is a function of Python's
and takes five times as long, for the sake of names; a batch makes thousands of rows."""


def pack(vector: Sequence[float] | None) -> bytes | None:
    """Little-endian float64, so that every bit comes back."""
    return None if vector is None else struct.pack(f"<{len(vector)}d", *vector)


def unpack(data: bytes | None) -> tuple[float, ...] | None:
    """The reverse of `pack`."""
    return None if data is None else struct.unpack(f"<{len(data) // 8}d", data)


def task_row(
    project_id: int,
    t: Task,
    kind: str,
    classes: Sequence[str],
    record: tuple[float, bool, int] | None,
) -> TaskRow:
    """The row of a task; `record` is its calibration record (z, hit, place in order)."""
    z, hit, place = record or (None, None, None)
    return _make(
        TaskRow,
        (
            project_id,
            t.id,
            t.name,
            t.priority,
            t.max_labels,
            pack(t.prior),
            pack(t.run_base),
            t.run,
            t.withdrawn,
            t.truth,
            t.status,
            t.label,
            t.confidence,
            t.shown_probabilities(classes).decode(),
            t.counted,
            t.version,
            t.algorithm,
            t.resolved_at,
            t.updated_at,
            z,
            hit,
            place,
            margin(kind, t.m, t.mu),
        ),
    )


def worker_row(
    project_id: int, w: Worker, accuracy: float, lower: float, upper: float
) -> WorkerRow:
    """The row of a worker; the interval is computed for a whole batch at once."""
    return _make(
        WorkerRow,
        (
            project_id,
            w.id,
            w.name,
            w.S,
            w.n,
            accuracy,
            lower,
            upper,
            w.blocked,
            w.block_reason,
            w.resolved,
            w.agreed,
            w.mark,
            w.updated_at,
            w.run_p,
            w.assigned,
        ),
    )


def worker_from(row: WorkerRow) -> Worker:
    """A worker as it was stored."""
    w = Worker(row.id, row.name)
    w.S = row.S
    w.n = row.n
    w.blocked = bool(row.blocked)
    w.block_reason = row.block_reason
    w.resolved = row.resolved_votes
    w.agreed = row.agreed
    w.mark = row.mark
    w.run_p = row.run_p
    w.assigned = row.assigned
    w.updated_at = row.updated_at
    w.stored = True
    return w


def pair_row(project_id: int, t: Task, worker_id: int) -> PairRow:
    """The row of one worker on one task."""
    v: Vote | None = t.votes.get(worker_id)
    m = t.memories.get(worker_id, NOTHING) if t.memories else NOTHING
    if v is None:
        vote = (None, None, None, None, None, None, None)
        return PairRow(
            project_id, t.id, worker_id, *vote, m.voted, m.skipped, m.gone, m.revision, m.at
        )
    return _make(
        PairRow,
        (
            project_id,
            t.id,
            worker_id,
            v.x,
            v.p if v.own is None else v.own,
            v.arrival,
            v.offset,
            v.revision,
            v.at,
            v.annotation_id,
            True,
            m.skipped,
            m.gone,
            m.revision,
            m.at,
        ),
    )


def memory_from(row: PairRow) -> Memory | None:
    """What a pair remembers beside its vote, or None."""
    if not (row.gone or row.skipped or (row.voted and row.x is None)):
        return None
    return Memory(
        gone=bool(row.gone),
        revision=row.gone_revision,
        at=row.gone_at,
        skipped=bool(row.skipped),
        voted=bool(row.voted),
    )


def vote_from(row: PairRow, worker: Worker) -> Vote:
    """The present vote of a pair row that has one."""
    assert row.x is not None
    assert row.p is not None
    assert row.arrival is not None
    assert row.offset is not None
    return Vote(
        worker,
        row.x,
        arrival=row.arrival,
        offset=row.offset,
        revision=row.revision,
        at=row.at,
        annotation_id=row.annotation_id,
        p=row.p,
    )


def annotation_row(project_id: int, a: Annotation) -> AnnotationRow:
    """The row of an annotation_id."""
    m = a.memory
    return AnnotationRow(project_id, a.id, a.task_id, a.worker_id, m.gone, m.revision, m.at)


def annotation_from(row: AnnotationRow) -> Annotation:
    """An annotation_id as it was stored."""
    a = Annotation(row.annotation_id)
    a.task_id = row.task_id
    a.worker_id = row.worker_id
    a.memory = Memory(gone=bool(row.gone), revision=row.gone_revision, at=row.gone_at)
    return a
