"""Bare votes out of CSV, JSONL and Parquet: one row after the other, as they stand."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import chain
from typing import Any, BinaryIO, NamedTuple

import msgspec

from .errors import Unreadable
from .inputs import Format, Input

REQUIRED = ("task", "worker", "label")
COLUMNS = (*REQUIRED, "at")
_DELIMITERS = (",", "\t", ";")
_PARQUET_ROWS = 20_000


class Row(NamedTuple):
    """A row of a file; a cell that is not there at all is None.

    `raw` is a line that is no JSON object, in a JSONL file.
    """

    line: int
    task: Any
    worker: Any
    label: Any
    at: Any = None
    raw: bytes | None = None


def rows(file: Input) -> Iterator[Row]:
    """Every row, in order. Blank lines are none.

    Raises:
        Unreadable: a column is missing, or the file is not what its name says.
    """
    with file.open() as stream:
        yield from _READERS[file.format](file, stream)


def _csv(file: Input, stream: BinaryIO) -> Iterator[Row]:
    # Wrong UTF-8 goes on as half surrogate pairs, which the engine refuses row by row.
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="surrogateescape", newline="")
    with text:
        first = text.readline()
        delimiter = next((d for d in _DELIMITERS if _names_columns(first, d)), ",")
        # Strict: else a quote that is never closed would swallow the rest of the file as one cell.
        reader = csv.reader(chain([first], text), delimiter=delimiter, strict=True)
        try:
            header = [name.strip() for name in next(reader, [])]
            places = _places(file, header)
            for cells in reader:
                if cells:
                    n = len(cells)
                    found: list[Any] = [
                        cells[i] if i is not None and i < n else None for i in places
                    ]
                    yield Row(reader.line_num, *found)
        except csv.Error as error:
            raise Unreadable(f"{file.name}, line {reader.line_num}: {error}") from error


def _names_columns(line: str, delimiter: str) -> bool:
    names = {name.strip().strip('"') for name in line.split(delimiter)}
    return names.issuperset(REQUIRED)


def _jsonl(file: Input, stream: BinaryIO) -> Iterator[Row]:
    for number, line in enumerate(lines(stream), 1):
        if not line:
            continue
        try:
            found = _decode(line)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            yield Row(number, None, None, None, raw=line)
            continue
        if isinstance(found, dict):
            yield Row(number, *[found.get(name) for name in COLUMNS])
        else:
            yield Row(number, None, None, None, raw=line)


_decode = msgspec.json.Decoder().decode


def lines(stream: BinaryIO) -> Iterator[bytes]:
    """Lines without their end or a byte order mark; blank ones are empty."""
    for number, line in enumerate(stream):
        if not number:
            line = line.removeprefix(b"\xef\xbb\xbf")
        yield line.strip(b" \t\r\n")


def _parquet(file: Input, stream: BinaryIO) -> Iterator[Row]:
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError:
        raise Unreadable(
            f"{file.name} is Parquet, which needs pyarrow: pip install crowdresolve[parquet]"
        ) from None
    try:
        table = parquet.ParquetFile(stream)
        names = table.schema_arrow.names
        places = _places(file, names)
        wanted = [names[i] for i in places if i is not None]
        number = 0
        for batch in table.iter_batches(_PARQUET_ROWS, columns=wanted):
            cells = {name: _values(arrow, batch.column(name)) for name in wanted}
            absent = [None] * batch.num_rows
            ordered = [cells.get(names[i]) if i is not None else absent for i in places]
            for found in zip(*ordered, strict=True):
                number += 1
                yield Row(number, *found)
    except arrow.ArrowException as error:
        raise Unreadable(f"{file.name} is no readable Parquet: {error}") from error


def _values(arrow: Any, column: Any) -> list[Any]:
    if arrow.types.is_timestamp(column.type):
        zone = "UTC" if column.type.tz else None
        column = column.cast(arrow.timestamp("us", zone), safe=False)
        return [None if at is None else _instant(at) for at in column.to_pylist()]
    values: list[Any] = column.to_pylist()
    if arrow.types.is_floating(column.type):
        return [_whole(v) for v in values]
    if arrow.types.is_binary(column.type) or arrow.types.is_large_binary(column.type):
        return [None if v is None else v.decode(errors="surrogateescape") for v in values]
    return values


def _whole(value: float | None) -> Any:
    # A column of integers with a gap in it comes as floats.
    if value is None or value != value:
        return None
    return int(value) if value.is_integer() else value


def _instant(value: datetime) -> str:
    at = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


_READERS: dict[Format, Callable[[Input, BinaryIO], Iterator[Row]]] = {
    Format.CSV: _csv,
    Format.JSONL: _jsonl,
    Format.PARQUET: _parquet,
}


def _places(file: Input, header: list[str]) -> list[int | None]:
    missing = [name for name in REQUIRED if name not in header]
    if missing:
        raise Unreadable(
            f"{file.name} has no column {', '.join(map(repr, missing))}. It needs the columns"
            f" task, worker and label (and may have at); it has"
            f" {', '.join(map(repr, header[:20])) or 'none'}"
        )
    return [header.index(name) if name in header else None for name in COLUMNS]
