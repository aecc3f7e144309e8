"""What both kinds of files become: records of the log, each with the place that it came from."""

from __future__ import annotations

from typing import NamedTuple

from connector.domain.records import Record


class Entry(NamedTuple):
    """One record, and the line of the file (of Parquet: the row) that holds it, from 1."""

    record: Record
    file: str
    line: int
