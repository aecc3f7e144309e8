"""From the bytes of an uncompressed batch straight to our records.

The client makes two objects of its own a record before ours, and calls a function a number: 8 µs,
where this takes less than 2.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from kafka.record.util import decode_varint

from connector.domain.records import Headers, Record

LATEST_TIME = 7_258_118_400_000_000
"""2200-01-01 in microseconds: a producer's clock cannot set time, which only moves forward,
beyond what an event may carry."""

HEADERS = 1000
"""Headers beyond these are left out: one takes 2 bytes of a batch, and 150 of memory."""


class Frame(NamedTuple):
    """What the records of a batch have in common.

    Attributes:
        base: offset of the batch, to which a record's is relative.
        first_ms: time of the batch, to which a record's is relative.
        appended: microseconds, where the broker has stamped all of them with one time, else None.
    """

    topic: str
    partition: int
    base: int
    first_ms: int
    appended: int | None

    def time(self, delta_ms: int) -> int:
        """A record's time in microseconds."""
        return in_range(self.first_ms + delta_ms) if self.appended is None else self.appended


def in_range(ms: int) -> int:
    """Microseconds of a record's timestamp; 0 where it has none."""
    return min(max(ms, 0) * 1000, LATEST_TIME)


def record_of(partition: Any, old: Any) -> Record:
    """A record as the client reads it from a batch of Kafka 0.10 and before."""
    return Record(
        partition.topic,
        partition.partition,
        old.offset,
        in_range(old.timestamp or 0),
        old.key,
        old.value,
    )


def parsed(data: bytes, at: int, length: int, frame: Frame) -> Record:
    """The record of that length which begins at ``data[at]``.

    A number is seven bits a byte, the lowest first, its sign in the very lowest. Most take one or
    two, and are read here: a function called for each would double the time.

    Raises:
        ValueError, IndexError: the bytes are damaged.
    """
    end = at + length
    at += 1  # the attributes say nothing
    delta = data[at]
    if delta < 0x80:
        at += 1
        delta = (delta >> 1) ^ -(delta & 1)
    else:
        delta, at = decode_varint(data, at)
    offset = data[at]
    if offset < 0x80:
        at += 1
        offset = (offset >> 1) ^ -(offset & 1)
    elif (high := data[at + 1]) < 0x80:
        at += 2
        offset = ((offset & 0x7F | high << 7) >> 1) ^ -(offset & 1)
    else:
        offset, at = decode_varint(data, at)
    size = data[at]
    if size < 0x80:
        at += 1
        size = (size >> 1) ^ -(size & 1)
    else:
        size, at = decode_varint(data, at)
    key = None
    if size >= 0:
        key = data[at : at + size]
        at += size
    size = data[at]
    if size >= 0x80 > (high := data[at + 1]):
        at += 2
        size = ((size & 0x7F | high << 7) >> 1) ^ -(size & 1)
    else:
        size, at = decode_varint(data, at)
    value = None
    if size >= 0:
        value = data[at : at + size]
        at += size
    headers: Headers = ()
    if at + 1 == end and not data[at]:  # none, as in most records
        at = end
    else:
        headers, at = _headers(data, at, end)
    if at != end:
        raise ValueError(f"the record ends at {at}, not at {end}")
    return Record(
        frame.topic,
        frame.partition,
        frame.base + offset,
        frame.appended if frame.appended is not None else frame.time(delta),
        key,
        value,
        headers,
    )


def _headers(data: bytes, at: int, end: int) -> tuple[Headers, int]:
    count, at = decode_varint(data, at)
    headers: list[tuple[str, bytes | None]] = []
    for _ in range(min(count, HEADERS)):
        size, at = decode_varint(data, at)
        name = text(data[at : at + size])
        at += size
        size, at = decode_varint(data, at)
        content = None
        if size >= 0:
            content = data[at : at + size]
            at += size
        headers.append((name, content))
    if count > HEADERS:
        headers.append(("headers-omitted", str(count - HEADERS).encode()))
        at = end
    return tuple(headers), at


def text(name: bytes) -> str:
    r"""A header's key; bytes that are not UTF-8 become ``\xNN``."""
    return name.decode("utf-8", "backslashreplace")
