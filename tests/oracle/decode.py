"""From the bytes of a record to one checked event, or the code of its dead letter."""

from __future__ import annotations

import json
from collections.abc import Callable

from . import run_fields
from .config import check_config
from .events import (
    Added,
    Available,
    Blocked,
    Declared,
    Event,
    GoldSet,
    Record,
    Retracted,
    Skipped,
    Stamp,
    Submitted,
    TimePassed,
    Unblocked,
    Withdrawn,
)
from .fields import (
    MAX_INT32,
    Fields,
    Oversized,
    Rejected,
    check_instant,
    check_integer,
    check_number,
    check_prior,
    check_reason,
    identifier,
    optional_identifier,
)


def check_stamp(fields: Fields) -> Stamp:
    revision = None
    if "revision" in fields:
        revision = check_integer(fields["revision"], "revision", -(2**63), 2**63 - 1)
    return Stamp(revision, check_instant(fields["at"], "at") if "at" in fields else None)


def submitted(project: str, fields: Fields) -> Event:
    return Submitted(
        project,
        identifier(fields, "task"),
        identifier(fields, "worker"),
        identifier(fields, "label"),
        optional_identifier(fields, "annotation_id"),
        check_stamp(fields),
    )


def skipped(project: str, fields: Fields) -> Event:
    check_reason(fields)
    task, worker = identifier(fields, "task"), identifier(fields, "worker")
    return Skipped(project, task, worker, check_stamp(fields))


def retracted(project: str, fields: Fields) -> Event:
    annotation_id = optional_identifier(fields, "annotation_id")
    needed = identifier if annotation_id is None else optional_identifier
    task, worker = needed(fields, "task"), needed(fields, "worker")
    return Retracted(project, task, worker, annotation_id, check_stamp(fields))


def added(project: str, fields: Fields) -> Event:
    prior = check_prior(fields["prior"], "prior") if "prior" in fields else None
    priority = check_number(fields["priority"], "priority") if "priority" in fields else None
    max_labels = None
    if "max_labels" in fields:
        max_labels = check_integer(fields["max_labels"], "max_labels", 1, MAX_INT32)
    return Added(project, identifier(fields, "task"), prior, priority, max_labels)


def withdrawn(project: str, fields: Fields) -> Event:
    return Withdrawn(project, identifier(fields, "task"))


def gold_set(project: str, fields: Fields) -> Event:
    task = identifier(fields, "task")
    if "label" in fields and fields["label"] is None:
        return GoldSet(project, task, None)
    return GoldSet(project, task, identifier(fields, "label"))


def blocked(project: str, fields: Fields) -> Event:
    check_reason(fields)
    return Blocked(project, identifier(fields, "worker"), optional_identifier(fields, "run"))


def unblocked(project: str, fields: Fields) -> Event:
    check_reason(fields)
    return Unblocked(project, identifier(fields, "worker"))


def available(project: str, fields: Fields) -> Event:
    want = check_integer(fields.get("want", 1), "want", 1, MAX_INT32)
    return Available(project, identifier(fields, "worker"), want)


def declared(project: str, fields: Fields) -> Event:
    return Declared(project, check_config(fields))


# The one kind that is of no project.
TIME_PASSED = "time.passed"

# The one place to add a kind.
KINDS: dict[str, Callable[[str, Fields], Event]] = {
    "annotation.submitted": submitted,
    "annotation.skipped": skipped,
    "annotation.retracted": retracted,
    "task.added": added,
    "task.withdrawn": withdrawn,
    "task.gold": gold_set,
    "worker.blocked": blocked,
    "worker.unblocked": unblocked,
    "worker.available": available,
    "project.declared": declared,
    "reconciliation.part": run_fields.part,
    "reconciliation.completed": run_fields.completed,
    "reconciliation.approved": run_fields.approved,
    "reconciliation.rejected": run_fields.rejected,
}


# --- the record -------------------------------------------------------------------------------


def parse_integer(text: str) -> object:
    return int(text) if len(text) <= 600 else Oversized()


def refuse_constant(text: str) -> object:
    raise ValueError(f"{text} is not JSON")


def parse(value: bytes | None) -> dict[str, object]:
    """The JSON object of a record's value; of a repeated key the last counts."""
    try:
        parsed = json.loads(
            (value or b"").decode("utf-8"),
            parse_int=parse_integer,
            parse_constant=refuse_constant,
        )
    except (ValueError, RecursionError) as error:
        raise Rejected("invalid_json", str(error)) from None
    if not isinstance(parsed, dict):
        raise Rejected("invalid_json", "not an object")
    return parsed


def header(record: Record, name: str) -> str | None:
    """The last header of this name, if it is text."""
    values = [value for key, value in record.headers if key == name and value is not None]
    try:
        return values[-1].decode("utf-8") if values else None
    except UnicodeDecodeError:
        return None


def unwrap(record: Record) -> dict[str, object]:
    """The event's own fields, out of plain JSON or a CloudEvent (structured or binary)."""
    body = parse(record.value)
    content_type = (header(record, "content-type") or "").lower()
    structured = content_type.startswith("application/cloudevents+json")
    if isinstance(body.get("specversion"), str) and isinstance(body.get("data"), dict):
        structured = True
    if structured:
        data = body.get("data")
        if not isinstance(data, dict):
            raise Rejected("invalid_json", "the data of the CloudEvent is not an object")
        outer = {"type": body["type"]} if "type" in body else {}
        return outer | data
    binary_type = header(record, "ce_type")
    return body if binary_type is None else {"type": binary_type} | body


def decode(record: Record) -> Event:
    """Checks JSON, type, and the type's own fields, in this order."""
    fields = unwrap(record)
    kind = fields.get("type")
    if not isinstance(kind, str) or kind not in {*KINDS, TIME_PASSED}:
        raise Rejected("unknown_type", "no such type of event")
    if "at" in fields:
        check_instant(fields["at"], "at")
    if kind == TIME_PASSED:
        return TimePassed("")
    project = identifier(fields, "project")
    return KINDS[kind](project, fields)
