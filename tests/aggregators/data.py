"""The real datasets as columns, without pandas."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from aggregators import Aggregator

Columns = dict[str, list[str]]


def load(data_dir: Path, name: str) -> tuple[Columns, dict[str, str]]:
    """The columns task, worker, label in file order, and the gold by task."""
    with (data_dir / name / "labels.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    with (data_dir / name / "gold.csv").open(encoding="utf-8") as lines:
        gold = {row["task"]: row["label"] for row in csv.DictReader(lines)}
    return {c: [row[c] for row in rows] for c in ("task", "worker", "label")}, gold


def classes(data_dir: Path, name: str) -> list[str]:
    """The dataset's classes, in order."""
    meta = json.loads((data_dir / name / "meta.json").read_text(encoding="utf-8"))
    found: list[str] = [str(c) for c in meta["classes"]]
    return found


def error(model: Aggregator, gold: dict[str, str]) -> float:
    """Share of gold tasks whose label is wrong."""
    labels = dict(zip(model.tasks_, model.labels_, strict=True))
    wrong = sum(bool(labels[i] != x) for i, x in gold.items())
    return wrong / len(gold)
