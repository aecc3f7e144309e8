"""Declarations on their way: sent, consumed, in force or refused."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from connector.domain.errors import ConfigurationError, CrowdResolveError, DependencyError
from connector.domain.records import TopicPartition

from . import reading
from .sending import Sender, ToSend, sender
from .terminal import result, say, waiting

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from connector.projectfile import ProjectFile
    from connector.settings import Loaded

LOOK_S = 0.1


class Sent(NamedTuple):
    """A declaration and where it stands in the log."""

    name: str
    partition: TopicPartition
    offset: int

    def __str__(self) -> str:
        return f"{self.partition.topic}/{self.partition.partition} at offset {self.offset}"


def declare(
    loaded: Loaded,
    engine: Engine,
    files: Sequence[ProjectFile],
    partition: int | None,
    timeout_s: float | None,
) -> list[str]:
    """Send declarations and wait for what becomes of them.

    Args:
        loaded: the settings.
        engine: the service's database.
        files: what to declare.
        partition: where to send them, None: where each lives, or its key's.
        timeout_s: how long to wait, None: not at all.

    Returns:
        What was refused, in words.
    """
    from .clients import kafka_client

    client = kafka_client(loaded.settings, loaded.origins)
    topic = loaded.settings.topic_annotations
    with waiting(f"Sending to {client.where}"), sender(client, topic) as to:
        sent = _send(to, engine, topic, files, partition, needed=timeout_s is not None)
    if timeout_s is None:
        for declaration in sent:
            result(f"{declaration.name}: sent to {declaration}")
        return []
    return _await(engine, sent, time.monotonic() + timeout_s, timeout_s)


def _send(
    to: Sender,
    engine: Engine,
    topic: str,
    files: Sequence[ProjectFile],
    partition: int | None,
    *,
    needed: bool,
) -> list[Sent]:
    from connector.adapters.kafka.partitioner import partition_for

    count = to.partitions()
    if partition is not None and partition >= count:
        raise ConfigurationError(
            f"--partition {partition}: topic {topic} has {count} partitions, 0 to {count - 1}"
        )
    records = []
    for file in files:
        key = file.name.encode()
        home = partition
        if home is None:
            try:
                home = _home(engine, topic, file.name)
            except DependencyError as error:
                if needed:
                    raise
                say(f"Warning: {file.name} goes to its key's partition. {error}", "yellow")
        records.append(
            ToSend(
                partition_for(key, count) if home is None else home,
                key,
                file.event,
                (("content-type", b"application/json"),),
            )
        )
    sent = []
    for file, record, outcome in zip(files, records, to.send(records), strict=True):
        if isinstance(outcome, Exception):
            raise DependencyError(f"{file.name}: could not be sent: {outcome}") from outcome
        sent.append(Sent(file.name, TopicPartition(topic, record.partition), outcome))
    return sent


def _home(engine: Engine, topic: str, name: str) -> int | None:
    """The partition of a project that exists; anywhere else it would be refused."""
    from connector.adapters.sql import queries

    if not _there(engine):
        return None
    try:
        row = queries.project(engine, name)
    except ConfigurationError:
        return None  # no schema yet: the service makes it
    return row.partition if row is not None and row.topic == topic else None


def _await(engine: Engine, sent: list[Sent], deadline: float, timeout_s: float) -> list[str]:
    refused = []
    for declaration in sent:
        with waiting(f"Waiting until {declaration} has been consumed"):
            while not _consumed(engine, declaration):
                if time.monotonic() >= deadline:
                    raise CrowdResolveError(_late(engine, declaration, timeout_s))
                time.sleep(LOOK_S)
        dead = reading.dead_at(engine, declaration.partition, declaration.offset)
        if dead is None:
            result(f"{declaration.name}: applied from {declaration}")
        else:
            refused.append(f"{declaration.name}: refused as {dead.code}: {dead.message}")
    return refused


def _consumed(engine: Engine, declaration: Sent) -> bool:
    if not _there(engine):
        return False
    try:
        return reading.next_offset(engine, declaration.partition) > declaration.offset
    except ConfigurationError:
        return False


def _there(engine: Engine) -> bool:
    """Whether looking would not make an empty SQLite file."""
    path = engine.url.database
    return engine.dialect.name != "sqlite" or path is None or Path(path).exists()


def _late(engine: Engine, declaration: Sent, timeout_s: float) -> str:
    return (
        f"{declaration.name}: sent to {declaration}, but not consumed within {timeout_s:g} s: is"
        f" `crowdresolve run` running, with the same --database ({reading.place(engine)}) and"
        " --topic-annotations? It will be applied when it is"
    )
