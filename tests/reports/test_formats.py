"""Rows into files and back."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator

import pytest
from msgspec import Raw

from connector.reports.formats import FORMATS, write_csv, write_json

COLUMNS = ("task", "confidence", "probabilities")
ROWS = [('ü,\n"x"', 0.1 + 0.2, '{"a":0.1}'), ("", 5e-324, None), ("=1+1", 1.0, "{}")]


def test_csv_gives_every_double_and_text_back() -> None:
    file = io.BytesIO()
    assert write_csv(file, COLUMNS, ROWS) == 3
    header, *rows = csv.reader(io.StringIO(file.getvalue().decode(), newline=""))
    assert tuple(header) == COLUMNS
    assert [(a, float(b), c or None) for a, b, c in rows] == ROWS


def test_json_is_one_list_whatever_the_number_of_rows() -> None:
    for count in range(4):
        file = io.BytesIO()
        write_json(file, COLUMNS, [(a, b, c and Raw(c.encode())) for a, b, c in ROWS[:count]])
        found = json.loads(file.getvalue())
        want = [(a, b, c and json.loads(c)) for a, b, c in ROWS[:count]]
        assert [tuple(row.values()) for row in found] == want


@pytest.mark.parametrize("name", ["csv", "json", "jsonl"])
def test_rows_are_written_as_they_come(name: str) -> None:
    file = io.BytesIO()
    seen: list[int] = []

    def rows() -> Iterator[tuple[str, float, None]]:
        for i in range(20_000):
            seen.append(len(file.getvalue()))
            yield f"t{i}", 0.5, None

    FORMATS[name](file, COLUMNS, rows())
    assert seen[-1] > 0.9 * len(file.getvalue())
