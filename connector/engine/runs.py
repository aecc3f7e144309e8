"""The parts of a run and its end: kept, refused, held, adopted, approved or rejected.

A run whose end is there has a row in `reconciliation_runs`, whatever became of it; one without has
parts alone, which are dropped after a day of the partition's time.
"""

from __future__ import annotations

from msgspec import UNSET

from connector.domain.errors import DeadCode, InputError
from connector.domain.instants import parse_instant
from connector.domain.rows import PartRow, RunRow
from connector.domain.runs import (
    ReconciliationApproved,
    ReconciliationCompleted,
    ReconciliationPart,
    ReconciliationRejected,
    as_json,
    finite,
)

from .adopt import adopt
from .findings import Findings, Unusable, encode_part
from .project import Project
from .turn import Outcome, Turn

PARTS_KEPT_US = 86_400_000_000
"""A day."""

ADOPTED, HELD, REJECTED, REFUSED, FAILED = "adopted", "held", "rejected", "refused", "failed"


def part(turn: Turn, e: ReconciliationPart) -> Outcome:
    """`reconciliation.part`: kept until the run's end."""
    p = turn.project
    body = encode_part(e)
    p.staging.expire(turn.storage, turn.time - PARTS_KEPT_US)
    if p.staging.ended(turn.storage, e.run) is not None:
        return Outcome.DUPLICATE
    kept = p.staging.keep(turn.storage, PartRow(p.id, e.run, e.part, turn.time, body))
    return Outcome.APPLIED if kept else Outcome.DUPLICATE


def completed(turn: Turn, e: ReconciliationCompleted) -> Outcome:
    """`reconciliation.completed`: the run is adopted, held by the guard, or noted as failed.

    Raises:
        InputError: run_parts_missing, run_other_classes, run_outdated: noted as refused;
            invalid_field: it claims to have read what comes after it.
    """
    p = turn.project
    if e.upto > turn.cause.offset:
        raise InputError(
            DeadCode.INVALID_FIELD,
            f"`upto` is {e.upto}: a run cannot have read what comes after this record",
        )
    p.staging.expire(turn.storage, turn.time - PARTS_KEPT_US)
    if p.staging.ended(turn.storage, e.run) is not None:
        return Outcome.DUPLICATE
    row = _row(p, turn.cause.offset, e)
    there = len(p.staging.waiting(turn.storage).get(e.run, ()))
    if e.error is not UNSET:
        _end(turn, row._replace(status=FAILED, reason=e.error))
        return Outcome.APPLIED
    if there < e.parts:
        raise _refused(
            turn,
            row,
            DeadCode.RUN_PARTS_MISSING,
            f"run {e.run[:80]!r} has {e.parts} parts, of which {there} are there; parts whose end"
            " does not come within a day are dropped",
        )
    return _adopt(turn, row, guarded=True)


def approved(turn: Turn, e: ReconciliationApproved) -> Outcome:
    """`reconciliation.approved`: a held run is adopted, whatever it changes."""
    row = turn.project.staging.ended(turn.storage, e.run)
    if row is None or row.status != HELD:
        return Outcome.DUPLICATE
    return _adopt(turn, row, guarded=False)


def rejected(turn: Turn, e: ReconciliationRejected) -> Outcome:
    """`reconciliation.rejected`: a held run is dropped."""
    row = turn.project.staging.ended(turn.storage, e.run)
    if row is None or row.status != HELD:
        return Outcome.DUPLICATE
    _end(turn, row._replace(status=REJECTED))
    return Outcome.APPLIED


def _adopt(turn: Turn, row: RunRow, *, guarded: bool) -> Outcome:
    turn.save_first()
    p = turn.project
    try:
        _check_classes(p, row)
        findings = Findings(p, turn.storage.part_bodies(p.id, row.run))
    except Unusable as reason:
        raise _refused(
            turn, row, DeadCode.RUN_OTHER_CLASSES, _other(row.run, str(reason))
        ) from None
    if p.upto is not None and row.upto <= p.upto:
        raise _refused(
            turn,
            row,
            DeadCode.RUN_OUTDATED,
            f"run {row.run[:80]!r} has read up to offset {row.upto}, the adopted one up to"
            f" {p.upto}",
        )
    row = row._replace(
        tasks=len(findings.bases) if row.tasks is None else row.tasks,
        workers=len(findings.workers) if row.workers is None else row.workers,
    )
    done = adopt(turn, row, findings, guarded=guarded)
    row = row._replace(changed=done.changed, changes=done.told)
    if done.held is not None:
        turn.project.staging.note(turn.storage, row._replace(status=HELD, reason=done.held))
    else:
        _end(turn, row._replace(status=ADOPTED, adopted_at=turn.time))
    return Outcome.APPLIED


def _check_classes(p: Project, row: RunRow) -> None:
    if row.classes is None:
        if p.classes_since >= row.upto:
            raise Unusable(f"the classes from before offset {p.classes_since}")
    elif row.classes != as_json(list(p.config.classes)):
        raise Unusable(f"the classes {row.classes[:200]}")


def _refused(turn: Turn, row: RunRow, code: DeadCode, why: str) -> InputError:
    _end(turn, row._replace(status=REFUSED, reason=f"{code}: {why}"))
    return InputError(code, why)


def _other(run: str, classes: str) -> str:
    return f"run {run[:80]!r} was computed for {classes}; the project has others now"


def _end(turn: Turn, row: RunRow) -> None:
    """The run has come to its end: its parts are no longer needed."""
    turn.project.staging.drop(row.run, turn.time)
    turn.project.staging.note(turn.storage, row)


def _row(p: Project, offset: int, e: ReconciliationCompleted) -> RunRow:
    said = e.summary
    durations = said.get("durations")
    return RunRow(
        p.id,
        offset,
        e.run,
        e.upto,
        None if e.classes is UNSET else as_json(e.classes),
        None if e.algorithm is UNSET else e.algorithm,
        None if e.version is None else str(e.version),
        e.seed,
        as_json(e.parameters),
        finite(said.get("bound")),
        e.parts,
        "",
        None,
        as_json(said),
        _count(said.get("tasks")),
        _count(said.get("workers")),
        _count(said.get("votes")),
        None,
        "[]",
        as_json(durations if isinstance(durations, dict) else {}),
        _instant(said.get("started_at")),
        _instant(said.get("finished_at")),
        None,
    )


def _count(value: object) -> int | None:
    good = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63
    return value if good else None  # type: ignore[return-value]


def _instant(value: object) -> int | None:
    try:
        return parse_instant(value)
    except ValueError:
        return None
