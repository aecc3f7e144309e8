"""JSONL events as on the topic, bare or wrapped in where and when they stood there.

A wrapped line is `{"partition": 0, "offset": 4711, "timestamp": 1767323045000, "value": {...}}`:
timestamp in milliseconds, as Kafka has it, or RFC 3339; value an object, or a string that holds
the record's text, or null, or `{"base64": "..."}` for bytes that are no text; `key` (string) and
`headers` (an object, or a list of pairs) may stand beside it.  A bare line is the value alone: it
is on partition 0, its offset is the number of lines before it, and its time is its `at`, or its
line's number in microseconds where it has none.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator, Sequence
from itertools import islice

import msgspec
from msgspec import UNSET, Raw, UnsetType

from connector.domain.instants import parse_instant
from connector.domain.records import Record

from .entries import Entry
from .errors import Misused, Unreadable
from .inputs import Input
from .rows import REQUIRED, lines
from .wrapped import Wrapped, unwrapped

_LOOKED_AT = 1000
_NAMED = 20


class _Peek(msgspec.Struct, gc=False):
    """What must be known of an event before the engine reads it."""

    project: Raw | UnsetType = UNSET
    at: Raw | UnsetType = UNSET
    specversion: Raw | UnsetType = UNSET
    data: Raw | UnsetType = UNSET
    data_base64: Raw | UnsetType = UNSET


_peek = msgspec.json.Decoder(_Peek)
_plain = msgspec.json.Decoder().decode


def holds_events(file: Input) -> bool:
    """Whether a JSONL file holds events, by its first object; else it holds bare votes.

    Raises:
        Unreadable: there is no JSON object in its first 1,000 lines.
    """
    fields = _first_object(file)
    if _is_wrapped(fields) or "type" in fields or "specversion" in fields:
        return True
    return not any(name in fields for name in REQUIRED)


def _is_wrapped(fields: dict[str, object]) -> bool:
    return "type" not in fields and "offset" in fields and "value" in fields


def _first_object(file: Input) -> dict[str, object]:
    with file.open() as stream:
        for line in islice(filter(None, lines(stream)), _LOOKED_AT):
            try:
                fields = _plain(line)
            except (msgspec.DecodeError, RecursionError):
                continue
            if isinstance(fields, dict):
                return fields
    raise Unreadable(f"{file.name} holds no JSON object in its first {_LOOKED_AT} lines")


class EventLog:
    """The records of files of events, in order.

    Attributes:
        filtered: records left out since they are of other projects.
        others: names of some of those.
        matched: events that name the wanted one.
    """

    def __init__(self, files: Sequence[Input], topic: str, project: str | None = None) -> None:
        self._files = files
        self._topic = topic
        self._project = project
        self.filtered = self.matched = 0
        self.others: set[str] = set()

    def __iter__(self) -> Iterator[Entry]:
        """Read the files.

        Raises:
            Misused: bare and wrapped files together.
            Unreadable: a file, or a line that does not say where it stood.
        """
        wrapped = [_is_wrapped(_first_object(f)) for f in self._files]
        if len(set(wrapped)) > 1:
            other = self._files[wrapped.index(not wrapped[0])]
            raise Misused(
                f"{self._files[0].name} and {other.name} do not go together: one holds events"
                " with their offsets, the other without"
            )
        records = self._wrapped() if wrapped[0] else self._bare()
        return records if self._project is None else self._of_project(records, self._project)

    def _bare(self) -> Iterator[Entry]:
        offset = -1
        for file in self._files:
            with file.open() as stream:
                for line, value in enumerate(lines(stream), 1):
                    offset += 1
                    if not value:
                        continue
                    time = _at(value)
                    if time is None:
                        time = offset + 1
                    yield Entry(Record(self._topic, 0, offset, time, None, value), file.name, line)

    def _wrapped(self) -> Iterator[Entry]:
        last: dict[int, int] = {}
        n = 0
        for file in self._files:
            with file.open() as stream:
                for line, text in enumerate(lines(stream), 1):
                    n += 1
                    if not text:
                        continue
                    try:
                        found = unwrapped(text)
                        _check_order(found, last)
                    except ValueError as error:
                        raise Unreadable(f"{file.name}, line {line}: {error}") from None
                    time = found.timestamp
                    if time is None and found.value:
                        time = _at(found.value)
                    record = Record(
                        self._topic,
                        found.partition,
                        found.offset,
                        n if time is None else time,
                        found.key,
                        found.value,
                        found.headers,
                    )
                    yield Entry(record, file.name, line)

    def _of_project(self, entries: Iterator[Entry], project: str) -> Iterator[Entry]:
        # The partition's time is that of all its records, whoever's they are.
        times: dict[int, int] = {}
        for entry in entries:
            record = entry.record
            time = max(times.get(record.partition, 0), record.timestamp)
            times[record.partition] = time
            name = _project_of(record.value)
            if name is None or name == project:
                self.matched += name is not None
                yield entry._replace(record=msgspec.structs.replace(record, timestamp=time))
            else:
                self.filtered += 1
                if len(self.others) < _NAMED:
                    self.others.add(name)

    def named_others(self) -> str:
        """Some of the projects that were left out, for a message."""
        more = ", ..." if len(self.others) == _NAMED else ""
        return ", ".join(map(repr, sorted(self.others))) + more


def _check_order(found: Wrapped, last: dict[int, int]) -> None:
    before = last.get(found.partition, -1)
    if found.offset <= before:
        raise ValueError(
            f"offset {found.offset} of partition {found.partition} comes after {before}:"
            " the lines of a partition must be in order of offset, each once"
        )
    last[found.partition] = found.offset


def _peeked(value: bytes) -> _Peek:
    """Of a CloudEvent its data, whatever its envelope says under the same names.

    An envelope that only its record's headers tell is taken for one where it has data and no
    project of its own.

    Raises:
        ValueError: there is no such JSON.
    """
    found = _peek.decode(value)
    if found.specversion is UNSET and found.project is not UNSET:
        return found
    if found.data is not UNSET:
        return _peek.decode(found.data)
    if found.data_base64 is not UNSET:
        return _peek.decode(b64decode(msgspec.json.decode(found.data_base64, type=str)))
    return found


def _at(value: bytes) -> int | None:
    """The event's own time, None where it has none (or one that the engine will refuse)."""
    if b'"at"' not in value and b'"data_base64"' not in value:
        return None
    try:
        found = _peeked(value)
        return None if found.at is UNSET else parse_instant(_plain(found.at))
    except (ValueError, RecursionError):
        return None


def _project_of(value: bytes | None) -> str | None:
    """Whose event it is; None where it is nobody's: no event, or one for all."""
    if not value:
        return None
    try:
        found = _peeked(value)
        name = None if found.project is UNSET else _plain(found.project)
    except (ValueError, RecursionError):
        return None
    if isinstance(name, bool) or not isinstance(name, str | int):
        return None
    return str(name)
