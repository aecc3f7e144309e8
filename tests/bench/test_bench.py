"""The bench's own parts, small: that they run, and that their figures are of the right kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from connector.bench.datasets import Datasets

from . import gold_errors
from .assign import measure_assign
from .confidence import WAYS, one_run, read
from .memory import measure_memory
from .stage import Stage
from .table import Table


def test_doubt_brings_what_is_stated_closer_to_what_is_right(data_dir: Path) -> None:
    """rte, one order: by 2 points too sure without, nearly right with."""
    data = read(data_dir / "rte")
    gaps = {}
    for way, resolve in WAYS.items():
        stop = one_run(data, resolve, order=0)
        assert stop is not None
        gaps[way] = stop.stated - stop.right
    assert gaps["paper"] > gaps["doubt"]
    assert abs(gaps["doubt"]) < 0.03


def test_a_run_over_a_real_crowd_is_judged_by_its_gold(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rte through the engine, then a run that is adopted: no worse than before by a point."""
    monkeypatch.setattr(gold_errors, "DATASETS", Datasets(data_dir))
    monkeypatch.setattr(gold_errors, "QUICK", ("rte",))
    with Stage() as stage:
        (row,) = gold_errors.errors(stage, lambda _: None, quick=True)
    name, kind, votes, gold, before, after, method, *_ = row
    assert (name, kind, votes, gold, method) == ("rte", "binary", 8000, 800, "sorted_sbic")
    assert isinstance(before, float)
    assert isinstance(after, float)
    assert 6.0 < after < before + 1.0 < 10.0


def test_memory_is_measured_at_ten_points() -> None:
    said: list[str] = []
    with Stage() as stage:
        (table,) = measure_memory(stage, said.append, quick=True, tasks=10_000)
    assert len(table.rows) == len(said) == 10


def test_assignments_are_measured_at_each_size() -> None:
    with Stage() as stage:
        (table,) = measure_assign(stage, lambda said: None, quick=True, sizes=(300, 3000))
    assert [row[0] for row in table.rows] == ["300", "3,000"]
    assert all(float(cell or 0) > 0 for row in table.rows for cell in row[3:])


def test_a_table_is_markdown_and_csv() -> None:
    table = Table("t", "Title", ["a", "b"], [["x", 1234.5], ["y", None]], ["A note."])
    assert "| x | 1,234 |" in table.markdown()
    assert table.csv() == "a,b\nx,1234.5\ny,\n"
