"""The messages that go out, with their deterministic ids."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import quote

import msgspec

from connector.domain.errors import InputError
from connector.domain.ids import quoted
from connector.domain.instants import format_instant
from connector.domain.records import Headers, Outgoing, Record

from .leases import Lease
from .state import Task

ASSIGNED, EXPIRED, NONE = "task.assigned", "assignment.expired", "assignment.none"
JSON = b"application/json"
_encode = msgspec.json.Encoder().encode


class Topics(NamedTuple):
    """Where messages go, and who they say they come from."""

    resolved: str = "labels.resolved"
    assigned: str = "tasks.assigned"
    dead: str = "annotations.dead"
    group: str = "crowdresolve"

    @property
    def source(self) -> bytes:
        """`ce_source` of every message."""
        return f"/crowdresolve/{quote(self.group)}".encode()


class Cause(NamedTuple):
    """The record that a message comes from."""

    topic: str
    partition: int
    offset: int

    def id(self, sequence: int) -> str:
        """Of its message with that number."""
        return f"{self.topic}/{self.partition}/{self.offset}/{sequence}"


def cloudevent_headers(kind: str, cause: Cause, sequence: int, source: bytes, time: int) -> Headers:
    """CloudEvents 1.0, binary mode; the id is the same however often the record is applied."""
    return (
        ("ce_specversion", b"1.0"),
        ("ce_id", cause.id(sequence).encode()),
        ("ce_type", kind.encode()),
        ("ce_source", source),
        ("ce_time", format_instant(time).encode()),
        ("content-type", JSON),
    )


def label_message(
    kind: str,
    project: str,
    task: Task,
    label: str | None,
    probabilities: bytes,
    cause: Cause,
) -> tuple[bytes, bytes]:
    """Key and value of a `label.*` message, of the task as it stands."""
    value = {
        "type": kind,
        "project": project,
        "task": task.name,
        "label": label,
        "confidence": task.confidence,
        "probabilities": msgspec.Raw(probabilities),
        "votes": task.counted,
        "status": task.status,
        "algorithm": task.algorithm,
        "version": task.version,
        "cause": {"topic": cause.topic, "partition": cause.partition, "offset": cause.offset},
    }
    return f"{quoted(project)}/{quoted(task.name)}".encode(), _encode(value)


def assigned_message(lease: Lease, score: float, policy: str) -> tuple[bytes, bytes]:
    """Key and value of a `task.assigned`. Nothing in it depends on why the task was chosen."""
    value = {
        "type": ASSIGNED,
        "project": lease.project,
        "task": lease.task,
        "worker": lease.worker,
        "lease": lease.id,
        "expires_at": format_instant(lease.expires_at),
        "score": score,
        "policy": policy,
    }
    return _worker_key(lease.project, lease.worker), _encode(value)


def expired_message(lease: Lease, reason: str) -> tuple[bytes, bytes]:
    """Key and value of an `assignment.expired`."""
    value = {
        "type": EXPIRED,
        "project": lease.project,
        "task": lease.task,
        "worker": lease.worker,
        "lease": lease.id,
        "reason": reason,
    }
    return _worker_key(lease.project, lease.worker), _encode(value)


def none_message(project: str, worker: str, reason: str) -> tuple[bytes, bytes]:
    """Key and value of an `assignment.none`."""
    value = {"type": NONE, "project": project, "worker": worker, "reason": reason}
    return _worker_key(project, worker), _encode(value)


def _worker_key(project: str, worker: str) -> bytes:
    return f"{quoted(project)}/{quoted(worker)}".encode()


def dead_letter(record: Record, error: InputError, topic: str, sequence: int) -> Outgoing:
    """The record as it came, with the reason in headers."""
    return Outgoing(
        record.offset,
        sequence,
        topic,
        record.key,
        record.value,
        (
            *record.headers,
            ("error-code", error.code.value.encode()),
            ("error-message", str(error).encode("utf-8", "replace")),
            ("origin-topic", record.topic.encode()),
            ("origin-partition", str(record.partition).encode()),
            ("origin-offset", str(record.offset).encode()),
        ),
    )
