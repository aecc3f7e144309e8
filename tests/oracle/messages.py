"""Outgoing messages, as interface.md shows them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from .events import Message, Record
from .fields import Rejected
from .project import Project
from .rules import Verdict
from .state import Lease, Task, Worker


@dataclass(frozen=True)
class Topics:
    """The topic read from, the group that reads it, and the topics written to."""

    topic: str
    group: str
    resolved: str
    dead: str
    assigned: str


def timestamp(microseconds: int) -> str:
    instant = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)
    return instant.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def encoded(name: str) -> str:
    return name.replace("%", "%25").replace("/", "%2F")


def of_label(
    topics: Topics, record: Record, project: Project, task: Task, verdict: Verdict
) -> Message:
    votes = len(project.counting(task))
    nothing_said = not votes and task.gold is None
    cause = {"topic": topics.topic, "partition": record.partition, "offset": record.offset}
    value = {
        "type": verdict.type,
        "project": project.name,
        "task": task.name,
        "label": None if nothing_said else verdict.label,
        "confidence": task.stated[verdict.label],
        "probabilities": dict(task.stated),
        "votes": votes,
        "status": verdict.status,
        "algorithm": project.algorithm(task),
        "version": task.version,
        "cause": cause,
    }
    key = f"{encoded(project.name)}/{encoded(task.name)}".encode()
    return Message(topics.resolved, key, (), value)


def of_assignment(topics: Topics, project: Project, lease: Lease, score: float) -> Message:
    """Nothing in it says why the task was chosen."""
    value = lease_fields("task.assigned", project, lease) | {
        "expires_at": timestamp(lease.expires_at),
        "score": score,
        "policy": project.config.policy,
    }
    return Message(topics.assigned, worker_key(project, lease.worker), (), value)


def of_expiry(topics: Topics, project: Project, lease: Lease, reason: str) -> Message:
    value = lease_fields("assignment.expired", project, lease) | {"reason": reason}
    return Message(topics.assigned, worker_key(project, lease.worker), (), value)


def of_none(topics: Topics, project: Project, worker: Worker, reason: str) -> Message:
    value = {"type": "assignment.none", "project": project.name, "worker": worker.name}
    key = worker_key(project, worker.name)
    return Message(topics.assigned, key, (), value | {"reason": reason})


def lease_fields(type_: str, project: Project, lease: Lease) -> dict[str, object]:
    return {
        "type": type_,
        "project": project.name,
        "task": lease.task,
        "worker": lease.worker,
        "lease": lease.id,
    }


def worker_key(project: Project, worker: str) -> bytes:
    return f"{encoded(project.name)}/{encoded(worker)}".encode()


def ce_id(topics: Topics, record: Record, sequence: int) -> str:
    """Of the record's message with this number; a lease has that of its `task.assigned`."""
    return f"{topics.topic}/{record.partition}/{record.offset}/{sequence}"


def with_headers(
    topics: Topics, record: Record, time: int, sequence: int, message: Message
) -> Message:
    assert isinstance(message.value, dict)
    headers = {
        "ce_specversion": "1.0",
        "ce_id": ce_id(topics, record, sequence),
        "ce_type": message.value["type"],
        "ce_source": f"/crowdresolve/{topics.group}",
        "ce_time": timestamp(time),
        "content-type": "application/json",
    }
    return replace(message, headers=tuple((name, text.encode()) for name, text in headers.items()))


def dead_letter(topics: Topics, record: Record, rejected: Rejected) -> Message:
    why = {
        "error-code": rejected.code,
        "error-message": str(rejected),
        "origin-topic": topics.topic,
        "origin-partition": str(record.partition),
        "origin-offset": str(record.offset),
    }
    headers = tuple((name, text.encode(errors="replace")) for name, text in why.items())
    return Message(topics.dead, record.key, record.headers + headers, record.value)
