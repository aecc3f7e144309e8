"""The bench that ships: small runs of it, and what it says where something is missing."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from connector.bench import extra, ordinal, speed
from connector.bench.contest import peers
from connector.bench.datasets import Datasets
from connector.bench.parts import PARTS, check_parts, measure_parts, possible_parts, write
from connector.bench.sources import SOURCES
from connector.domain.errors import ConfigurationError
from tests.aggregators.synthetic import one_coin

SAID: list[str] = []


@pytest.fixture
def small(tmp_path: Path) -> Datasets:
    """One collection, `mini`, in a directory of its own."""
    task, worker, label, truth = one_coin(2, tasks=30, workers=6, per_task=5, seed=4)
    folder = tmp_path / "data" / "mini"
    folder.mkdir(parents=True)
    rows = [f"t{i},w{j},{x}" for i, j, x in zip(task, worker, label, strict=True)]
    (folder / "labels.csv").write_text("\n".join(["task,worker,label", *rows, rows[0]]) + "\n")
    gold = [f"t{i},{x}" for i, x in enumerate(truth)]
    (folder / "gold.csv").write_text("\n".join(["task,label", *gold]) + "\n")
    (folder / "meta.json").write_text(json.dumps({"kind": "binary", "classes": ["0", "1"]}))
    return Datasets.found(tmp_path / "data")


def test_every_method_and_peer_is_scored_on_a_dataset_of_ones_own(
    small: Datasets, tmp_path: Path
) -> None:
    ((errors, *others),) = measure_parts(["real"], small, True, SAID.append)
    assert [r.name for r in (errors, *others)] == [
        "real_error", "real_nll", "real_ece", "real_seconds",
    ]  # fmt: skip
    assert {f"ck {name}" for name in peers()} | {"Fast", "Sorted", "COLA", "DS"} <= set(
        errors.columns
    )
    found = dict(zip(errors.columns, errors.rows[0], strict=True))
    assert found["dataset"] == "mini"
    assert all(0.0 <= float(str(found[c])) <= 0.3 for c in ("MV", "Fast", "ck MV"))
    write([errors], tmp_path / "out")
    (head, row) = csv.reader((tmp_path / "out" / "real_error.csv").open(encoding="utf-8"))
    assert (head, row[0]) == (list(errors.columns), "mini")
    assert (tmp_path / "out" / "real_error.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "out" / "real_error.md").read_text(encoding="utf-8") == errors.markdown()


def test_speed_is_measured_for_every_kind_of_ids() -> None:
    frame = speed.crowd(30_000)
    for held in speed.KINDS.values():
        seconds = speed.best(speed.fits(held(frame)), 1)
        assert set(seconds) == {"MajorityVote", "Fast", "Sorted", "ck"}
        assert all(s > 0 for s in seconds.values())
    task, label = frame["task"].to_numpy(), frame["label"].to_numpy()
    tops = speed.count_majority(task, label, 3000, 2)
    counts = np.array([np.bincount(label[task == i], minlength=2) for i in range(20)])
    assert tops[:20].tolist() == counts.argmax(axis=1).tolist()


def test_synthetic_data_are_what_the_cola_paper_describes() -> None:
    data = ordinal.synthetic(120, 6, seed=1)
    assert (len(data.votes), data.votes["task"].nunique()) == (720, 120)
    assert not data.votes.duplicated(["task", "worker"]).any()
    assert set(data.gold) <= set(data.classes) == set("01234")


def test_what_is_not_there_is_said_with_where_it_comes_from(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"no datasets in .*: a folder for each"):
        Datasets.found(tmp_path)
    with pytest.raises(ConfigurationError, match=r"birds .* --data DIR.*welinder/cubam"):
        check_parts(["sbic_table_2"], Datasets(None))
    with pytest.raises(ConfigurationError, match="--data DIR"):
        check_parts(["real"], Datasets(None))
    check_parts(["speed", "sbic_figure_2", "cola_table_2"], Datasets(None))
    assert possible_parts(Datasets(None)) == ["speed", "sbic_figure_2", "cola_table_2"]


def test_every_part_finds_its_datasets_and_their_sources_are_known(data_dir: Path) -> None:
    assert possible_parts(Datasets(data_dir)) == list(PARTS)
    assert set(SOURCES) == set(Datasets(data_dir).names())


def test_a_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    extra.check_extra()
    monkeypatch.setattr(extra, "NEEDS", {"no_such_module": "Nothing", "json": "JSON"})
    with pytest.raises(
        ConfigurationError, match=r"needs Nothing: pip install 'crowdresolve\[bench"
    ):
        extra.check_extra()
