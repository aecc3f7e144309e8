"""Outgoing messages, as interface.md shows them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from .events import Message, Record
from .fields import Rejected
from .rules import Verdict
from .state import Project, Task


@dataclass(frozen=True)
class Topics:
    """The topic read from, the group that reads it, and the topics written to."""

    topic: str
    group: str
    resolved: str
    dead: str


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


def with_headers(
    topics: Topics, record: Record, time: int, sequence: int, message: Message
) -> Message:
    assert isinstance(message.value, dict)
    headers = {
        "ce_specversion": "1.0",
        "ce_id": f"{topics.topic}/{record.partition}/{record.offset}/{sequence}",
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
