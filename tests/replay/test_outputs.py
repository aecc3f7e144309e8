"""What a replay writes can be read back, to the last bit."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from connector.adapters.sql.views import VIEWS
from connector.domain.records import Outgoing
from connector.replay import replay
from connector.replay.outputs import check_output, message_file, write_labels, write_workers
from connector.replay.wrapped import message_line
from connector.reports.formats import Unsupported, Unwritable

from .files import Kept, write_csv, write_jsonl

CLASSES = ["0", "1, or so", 'a"b']
VOTES = [(f"t{i % 7}", f"w{i % 5}", CLASSES[(i % 7 + (i % 5 == 0)) % 3]) for i in range(30)]
WORKER_COLUMNS = VIEWS["worker_quality"].columns


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "votes.csv", VOTES)


def read(path: Path) -> list[dict[str, Any]]:
    """Rows with floats and integers as such, and None where there is nothing."""
    if path.suffix == ".csv":
        with path.open(newline="", encoding="utf-8") as file:
            return [{k: typed(k, v) for k, v in row.items()} for row in csv.DictReader(file)]
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    import pyarrow.parquet as parquet

    rows: list[dict[str, Any]] = parquet.read_table(path).to_pylist()
    return rows


def typed(column: str, text: str) -> Any:
    if not text:
        return None
    if column in ("votes", "cluster"):
        return int(text)
    exact = column.startswith("p_") or column in ("confidence", "accuracy", "lower", "upper")
    return float(text) if exact or column == "agreement" else text


@pytest.mark.parametrize("extension", ["csv", "jsonl", "parquet"])
def test_labels_and_workers_come_back_as_they_were_written(
    extension: str, votes: Path, tmp_path: Path
) -> None:
    labels, workers = tmp_path / f"labels.{extension}", tmp_path / f"workers.{extension}"
    with replay([votes]) as found:
        project = found.project()
        expected = list(project.labels())
        quality = [dict(row) for row in project.workers()]
        assert write_labels(str(labels), project.classes, project.labels()) == 7
        assert write_workers(str(workers), WORKER_COLUMNS, project.workers()) == 5
    rows = read(labels)
    probabilities = [f"p_{c}" for c in sorted(CLASSES)]
    assert list(rows[0]) == ["task", "label", "confidence", "status", "votes", *probabilities]
    for row, x in zip(rows, expected, strict=True):
        assert [row[c] for c in probabilities] == list(x.probabilities)
        assert (row["task"], row["label"], row["confidence"]) == (x.task, x.label, x.confidence)
        assert (row["status"], row["votes"]) == (x.status, x.votes)
    assert [x.task for x in expected] == [f"t{i}" for i in range(7)]
    assert list(read(workers)[0]) == list(WORKER_COLUMNS)
    assert read(workers) == quality


def test_every_message_is_a_line(votes: Path, tmp_path: Path) -> None:
    target = tmp_path / "messages.jsonl"
    kept = Kept(votes)
    with message_file(str(target)) as write, replay([votes], on_message=write):
        pass
    lines = [json.loads(line) for line in target.read_text().splitlines()]
    assert len(lines) == len(kept.messages) == kept.counts.messages > 0
    for line, message in zip(lines, kept.messages, strict=True):
        assert list(line) == ["topic", "key", "headers", "value"]
        assert line["topic"] == message.topic
        assert line["key"].encode() == message.key
        assert line["value"] == json.loads(message.value or b"")
        assert {k: v.encode() for k, v in line["headers"].items()} == dict(message.headers)


def test_a_dead_letter_s_bytes_are_kept_whatever_they_are(tmp_path: Path) -> None:
    lines = [
        {"offset": 0, "value": {"base64": "/w=="}, "key": {"base64": "/g=="}},
        {"offset": 1, "value": {"task": 1}, "headers": [["a", "1"], ["a", None], ["a", "3"]]},
        {"offset": 2, "value": None},
    ]
    kept = Kept(write_jsonl(tmp_path / "log.jsonl", lines))
    shown = [json.loads(message_line(m)) for m in kept.messages]
    assert shown[0]["value"] == {"base64": "/w=="}
    assert shown[0]["key"] == {"base64": "/g=="}
    assert shown[1]["value"] == '{"task": 1}'
    assert shown[1]["headers"]["a"] == ["1", None, "3"]
    assert shown[1]["headers"]["error-code"] == "unknown_type"
    assert shown[2]["value"] is None


def test_a_header_that_looks_like_ours_makes_no_json_of_foreign_bytes() -> None:
    headers = (("ce_specversion", b"1.0"), ("error-code", b"invalid_json"))
    message = Outgoing(0, 0, "annotations.dead", None, b"{oops", headers)
    assert json.loads(message_line(message))["value"] == "{oops"


def test_a_file_that_cannot_be_written_is_refused_before_the_work(tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match=r"\.csv, \.jsonl, \.parquet"):
        check_output(str(tmp_path / "labels.xlsx"))
    with pytest.raises(Unwritable, match="there is no directory"):
        check_output(str(tmp_path / "nowhere" / "labels.csv"))
    check_output(None)


def test_parquet_out_without_pyarrow_names_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow.parquet", None)
    with pytest.raises(Unsupported, match=r"pip install crowdresolve\[parquet\]"):
        check_output(str(tmp_path / "labels.parquet"))
