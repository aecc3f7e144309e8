"""Rows into files: CSV, JSON, JSONL, Parquet; streamed, doubles as they are.

A missing value is an empty cell in CSV and null elsewhere.  A value that is JSON (the
probabilities of `task_labels`) is text in CSV and Parquet, and itself in JSON.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from connector.domain.errors import CrowdResolveError

Values = Sequence[Any]
_encode = msgspec.json.Encoder().encode
_PARQUET_ROWS = 20_000
PARQUET_NEEDS = "Parquet needs pyarrow: pip install crowdresolve[parquet]"


class Unwritable(CrowdResolveError):
    """A file that cannot be written; the message names it."""


class Unsupported(CrowdResolveError):
    """A format that there is not; the message names those that there are."""

    exit_code = 2


def write_csv(file: BinaryIO, columns: Sequence[str], rows: Iterable[Values]) -> int:
    """A header and one line a row; how many rows there were."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=False)
    try:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        count = 0
        for row in rows:
            # True and False as JSON has them; csv itself writes doubles so that they come back.
            writer.writerow([str(v).lower() if isinstance(v, bool) else v for v in row])
            count += 1
        return count
    finally:
        text.detach()


def write_jsonl(file: BinaryIO, columns: Sequence[str], rows: Iterable[Values]) -> int:
    """One object a line; how many rows there were."""
    count = 0
    for row in rows:
        file.write(_encode(dict(zip(columns, row, strict=True))) + b"\n")
        count += 1
    return count


def write_json(file: BinaryIO, columns: Sequence[str], rows: Iterable[Values]) -> int:
    """One list of objects, an object a line; how many rows there were."""
    count = 0
    file.write(b"[")
    for row in rows:
        file.write(b",\n " if count else b"\n ")
        file.write(_encode(dict(zip(columns, row, strict=True))))
        count += 1
    file.write(b"\n]\n" if count else b"]\n")
    return count


def write_parquet(file: BinaryIO, columns: Sequence[str], rows: Iterable[Values]) -> int:
    """One table; how many rows there were. Raises Unsupported without pyarrow."""
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError:
        raise Unsupported(PARQUET_NEEDS) from None
    kinds = {"votes": arrow.int64(), "version": arrow.int64(), "cluster": arrow.int64()}
    texts = ("project", "task", "worker", "label", "status", "flag", "flag_reason", "updated_at")
    schema = arrow.schema(
        [
            (name, kinds.get(name, arrow.string() if name in texts else arrow.float64()))
            for name in columns
        ]
    )
    count = 0
    with parquet.ParquetWriter(file, schema) as writer:
        for page in _paged(rows, _PARQUET_ROWS):
            count += len(page)
            cells = [
                arrow.array(c, f.type) for c, f in zip(zip(*page, strict=True), schema, strict=True)
            ]
            writer.write_table(arrow.Table.from_arrays(cells, schema=schema))
    return count


Write = Callable[[BinaryIO, Sequence[str], Iterable[Values]], int]

FORMATS: Mapping[str, Write] = {
    "csv": write_csv,
    "json": write_json,
    "jsonl": write_jsonl,
    "parquet": write_parquet,
}


def format_of(path: str, known: Collection[str]) -> str:
    """The format that a file's extension names.

    Raises:
        Unsupported: it names none of `known`, or one that needs a package that is not there.
    """
    found = Path(path).suffix.lower().removeprefix(".")
    if found not in known:
        names = ", ".join("." + name for name in known)
        raise Unsupported(f"{path}: the extension says how to write it, one of {names}")
    if found == "parquet":
        try:
            import pyarrow.parquet  # noqa: F401
        except ImportError:
            raise Unsupported(f"{path}: {PARQUET_NEEDS}") from None
    return found


@contextmanager
def target(path: str) -> Iterator[BinaryIO]:
    """The file to write; what was there stays until all is written, and where the block raises.

    Raises Unwritable, also from the block.
    """
    place = Path(path)
    whole = place.is_file() or not place.exists()  # a pipe or a terminal is written as it is
    written = place.with_name(place.name + ".part") if whole else place
    try:
        with written.open("wb") as file:
            yield file
        if whole:
            written.replace(place)
    except BaseException as error:
        if whole:
            written.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise Unwritable(f"{path} cannot be written: {error.strerror or error}") from error
        raise


def check_target(path: str) -> None:
    """Raise Unwritable, before any work, where `target` would in the end; nothing is changed."""
    place = Path(path)
    if place.is_dir():
        raise Unwritable(f"{path} cannot be written: it is a directory")
    at = place if place.exists() else place.parent
    if not os.access(at, os.W_OK):
        why = "permission denied" if at.exists() else f"there is no directory {at}"
        raise Unwritable(f"{path} cannot be written: {why}")


def _paged(rows: Iterable[Values], size: int) -> Iterator[list[Values]]:
    page: list[Values] = []
    for row in rows:
        page.append(row)
        if len(page) == size:
            yield page
            page = []
    if page:
        yield page
