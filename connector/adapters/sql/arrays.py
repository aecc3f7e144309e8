"""Columns as PostgreSQL arrays in binary form.

`INSERT ... SELECT FROM unnest(...)` with psycopg's own lists takes 13 ms for 1,000 vote rows of 15
columns; with these it takes 5 (COPY: 4.2).  One class a type, because psycopg picks the format by
the parameter's class.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
from psycopg import Connection
from psycopg.adapt import Dumper
from psycopg.pq import Format

_NULL = b"\xff\xff\xff\xff"
_BOOLS = {None: _NULL, True: b"\0\0\0\1\1", False: b"\0\0\0\1\0"}
_header = struct.Struct(">iiIii").pack
_length = struct.Struct(">i").pack

# type: (its oid, oid of its array)
_OIDS = {
    "int8": (20, 1016),
    "int4": (23, 1007),
    "float8": (701, 1022),
    "bool": (16, 1000),
    "text": (25, 1009),
    "bytea": (17, 1001),
}
# Numbers: struct's letter, numpy's type, bytes.
_NUMBERS = {"int8": ("q", ">i8", 8), "int4": ("i", ">i4", 4), "float8": ("d", ">f8", 8)}
_PACKERS = {kind: struct.Struct(f">i{number[0]}").pack for kind, number in _NUMBERS.items()}
_LAYOUTS = {
    kind: np.dtype([("length", ">i4"), ("value", number[1])]) for kind, number in _NUMBERS.items()
}


class _Array(bytes):
    """An array's bytes on the wire."""


_CLASSES: dict[str, type[_Array]] = {kind: type(kind, (_Array,), {}) for kind in _OIDS}


def array(kind: str, values: Sequence[Any]) -> bytes:
    """A parameter for `%s::kind[]`."""
    nulls = values.count(None)
    if nulls == len(values):
        body = _NULL * nulls
    elif kind in _NUMBERS:
        body = _numbers(kind, values, nulls)
    elif kind == "bool":
        body = b"".join([_BOOLS[value] for value in values])
    else:
        body = _strings(values)
    oid = _OIDS[kind][0]
    return _CLASSES[kind](_header(1, 1 if nulls else 0, oid, len(values), 1) + body)


def _numbers(kind: str, values: Sequence[Any], nulls: int) -> bytes:
    size = _NUMBERS[kind][2]
    if nulls:
        pack = _PACKERS[kind]
        return b"".join([_NULL if value is None else pack(size, value) for value in values])
    laid = np.empty(len(values), _LAYOUTS[kind])
    laid["length"] = size
    laid["value"] = values
    return laid.tobytes()


def _strings(values: Sequence[str | bytes | None]) -> bytes:
    pieces: list[bytes] = []
    for value in values:
        if value is None:
            pieces.append(_NULL)
        else:
            data = value.encode() if isinstance(value, str) else value
            pieces.append(_length(len(data)))
            pieces.append(data)
    return b"".join(pieces)


def register(connection: Connection[Any]) -> None:
    """Let the connection take what `array` makes."""
    for kind, (_, oid) in _OIDS.items():
        dumper = type(f"{kind}Dumper", (_Dumper,), {"oid": oid})
        connection.adapters.register_dumper(_CLASSES[kind], dumper)


class _Dumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: bytes) -> bytes:
        """As it is."""
        return obj
