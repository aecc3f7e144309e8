"""`crowdresolve bench aggregators`: what it refuses, before it measures anything."""

from __future__ import annotations

from pathlib import Path

from .conftest import Run


def test_without_datasets_it_says_where_they_come_from(crowdresolve: Run, tmp_path: Path) -> None:
    found = crowdresolve("bench", "aggregators", "cola_table_4", "--out", "out")
    assert found.returncode == 3
    assert "--data DIR" in found.stderr
    assert "github.com/zhangyuc/SpectralMethodsMeetEM" in found.stderr
    assert not (tmp_path / "out").exists()


def test_a_part_that_is_none_is_a_mistake_of_usage(crowdresolve: Run) -> None:
    found = crowdresolve("bench", "aggregators", "everything", "--out", "out")
    assert found.returncode == 2
    assert "no part 'everything'" in found.stderr
    assert "sbic_table_2" in found.stderr
