"""Bare votes as the log that would have brought them: a declaration, then one record a row.

The log is partition 0 of the annotations topic.  The declaration is its record 0, the n-th row of
the files is record n, and the row's time is its `at`, or n microseconds where it has none.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from connector.domain.config import MAX_CLASSES
from connector.domain.decode import decode
from connector.domain.errors import InputError
from connector.domain.ids import as_id
from connector.domain.instants import parse_instant
from connector.domain.records import Record

from .entries import Entry
from .errors import Misused
from .inputs import Input
from .rows import Row, rows

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True)
class VoteOptions:
    """What a file of bare votes does not say.

    Attributes:
        project: its name; by default the first file's, without directory and extension.
        kind: of the classes; by default binary for two of them, else categorical.
        classes: in their order; by default the labels that occur, sorted (as numbers where all
            are integers).
        settings: further keys of a project file: `{"resolve": {"confidence": 0.9}, ...}`.
    """

    project: str | None = None
    kind: str | None = None
    classes: Sequence[str] | None = None
    settings: Mapping[str, Mapping[str, Any]] | None = None

    @property
    def stated(self) -> bool:
        """Whether anything but the name is given."""
        return any(v for v in (self.kind, self.classes, self.settings))


def vote_log(files: Sequence[Input], options: VoteOptions, topic: str) -> Iterator[Entry]:
    """The records, in order.

    Raises:
        Misused: the options do not make a project; the message says what to give.
        Unreadable: a file.
    """
    project = options.project or files[0].stem or "replay"
    declaration = _declaration(project, files, options)
    key = project.encode(errors="replace")
    yield Entry(Record(topic, 0, 0, 0, key, declaration), files[0].name, 0)
    n = 0
    for file in files:
        for row in rows(file):
            n += 1
            record = Record(topic, 0, n, _time(row.at, n), key, _value(project, row))
            yield Entry(record, file.name, row.line)


def _value(project: str, row: Row) -> bytes:
    if row.raw is not None:
        return row.raw
    # A cell that is missing is a missing field, one that is empty an empty name: the engine
    # refuses either, and says so in the dead letter.
    fields: dict[str, Any] = {"type": "annotation.submitted", "project": project}
    if row.task is not None:
        fields["task"] = row.task
    if row.worker is not None:
        fields["worker"] = row.worker
    if row.label is not None:
        fields["label"] = row.label
    if row.at is not None and row.at != "":
        fields["at"] = row.at
    try:
        return _encode(fields)
    except UnicodeEncodeError:
        return json.dumps(fields).encode()
    except TypeError:  # a cell of a kind that JSON does not have
        return json.dumps(fields, default=str).encode()


def _time(at: object, n: int) -> int:
    if at is None or at == "":
        return n
    try:
        return parse_instant(at)
    except ValueError:
        return n


def _declaration(project: str, files: Sequence[Input], options: VoteOptions) -> bytes:
    classes = list(options.classes) if options.classes else _classes(files)
    ordered = bool(options.classes) or all(map(_is_integer, classes))
    kind = options.kind or ("binary" if len(classes) == 2 else "categorical")
    if kind == "ordinal" and not ordered:
        raise Misused(
            "--kind ordinal needs --classes in their order; the labels are"
            f" {', '.join(sorted(classes)[:20])}"
        )
    fields = {"type": "project.declared", "project": project, "kind": kind, "classes": classes}
    value = json.dumps(fields | {k: dict(v) for k, v in (options.settings or {}).items()}).encode()
    try:
        decode(value)
    except InputError as error:
        raise Misused(f"the project {project!r} cannot be declared so: {error}") from None
    return value


def _classes(files: Sequence[Input]) -> list[str]:
    found: set[Any] = set()
    for file in files:
        for row in rows(file):
            if _is_class(row.label) and row.label not in found:
                found.add(row.label)
                if len(found) > MAX_CLASSES:
                    raise Misused(
                        f"{file.name} has more than {MAX_CLASSES} different labels: is `label` the"
                        " right column? --classes a,b,c names the classes"
                    )
    names = {as_id(label) for label in found}
    if len(names) < 2:
        seen = f"only the label {names.pop()!r}" if names else "no label at all"
        raise Misused(f"there is {seen}: --classes a,b,c names the classes of the project")
    return sorted(names, key=int if all(map(_is_integer, names)) else None)


def _is_class(label: object) -> bool:
    try:
        as_id(label)
    except ValueError:
        return False
    return True


def _is_integer(name: str) -> bool:
    digits = name.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) < 100
