"""The bench's own parts, small: that they run, and that their figures are of the right kind."""

from __future__ import annotations

from pathlib import Path

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


def test_memory_is_measured_at_ten_points() -> None:
    said: list[str] = []
    with Stage() as stage:
        (table,) = measure_memory(stage, said.append, quick=True, tasks=10_000)
    assert len(table.rows) == len(said) == 10


def test_a_table_is_markdown_and_csv() -> None:
    table = Table("t", "Title", ["a", "b"], [["x", 1234.5], ["y", None]], ["A note."])
    assert "| x | 1,234 |" in table.markdown()
    assert table.csv() == "a,b\nx,1234.5\ny,\n"
