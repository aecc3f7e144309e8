"""What comes from and goes to the log: records in, messages out."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

Headers = tuple[tuple[str, bytes | None], ...]


class TopicPartition(NamedTuple):
    """One ordered log."""

    topic: str
    partition: int


class Record(msgspec.Struct, frozen=True, gc=False):
    """One record as the log has it; `timestamp` in microseconds since 1970."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Headers = ()


class Cursor(NamedTuple):
    """How far publishing has come: everything before (offset, sequence) is out.

    It is the group's committed offset, `sequence` riding in its metadata: 0 but for a record
    with more messages than one Kafka transaction should hold.
    """

    offset: int
    sequence: int = 0


class Outgoing(NamedTuple):
    """A message to publish, stamped with the record that caused it and its place among them."""

    offset: int
    sequence: int
    topic: str
    key: bytes | None
    value: bytes | None
    headers: Headers
