"""The figures of the reports are those of an independent computation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Engine

from connector.adapters.sql.database import engine
from connector.replay import replay
from connector.reports.rows import REPORTS, UnknownProject, projects
from connector.reports.tables import bucket
from tests import compare
from tests.oracle.fold import PlainFold
from tests.oracle.logs import random_log
from tests.replay.files import wrapped, write_jsonl


@pytest.fixture(scope="module")
def fold() -> PlainFold:
    fold = PlainFold()
    for record in random_log(8, 3000, projects=3, tasks=20, workers=20):
        fold.feed(record)
    return fold


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory, fold: PlainFold) -> str:
    directory = tmp_path_factory.mktemp("reports")
    log = random_log(8, 3000, projects=3, tasks=20, workers=20)
    url = f"sqlite:///{directory / 'reports.db'}"
    with replay([write_jsonl(directory / "log.jsonl", wrapped(log))], database=url):
        return url


@pytest.fixture
def reader(database: str) -> Iterator[Engine]:
    made = engine(database)
    yield made
    made.dispose()


def rows(reader: Engine, kind: str, project: str | None = None) -> list[dict[str, Any]]:
    report = REPORTS[kind](reader, project)
    return [dict(zip(report.columns, row, strict=True)) for row in report.rows]


def test_workers_and_tasks_are_the_views(reader: Engine, fold: PlainFold) -> None:
    compare.assert_view(fold, "worker_quality", rows(reader, "workers"))
    compare.assert_view(fold, "task_labels", rows(reader, "tasks"))


def test_resolutions_are_the_tasks_that_are_resolved(reader: Engine, fold: PlainFold) -> None:
    found = rows(reader, "resolutions")
    want = [row for row in fold.task_labels() if row["status"] != "open"]
    assert want
    assert {(r["project"], r["task"]) for r in found} == {(r["project"], r["task"]) for r in want}
    assert Counter(r["status"] for r in found) == Counter(r["status"] for r in want)


def test_a_project_has_its_progress_and_its_calibration(reader: Engine, fold: PlainFold) -> None:
    found = rows(reader, "project")
    compare.assert_view(fold, "project_progress", found)
    compare.assert_view(fold, "calibration", found)
    assert {r["project"]: r["confidence"] for r in found} == {
        name: p.config.confidence for name, p in fold.projects.items()
    }


def test_one_project_s_rows_are_its_own(reader: Engine) -> None:
    for kind in REPORTS:
        everything = rows(reader, kind)
        for name in projects(reader, None):
            assert rows(reader, kind, name) == [r for r in everything if r["project"] == name]


def test_an_unknown_project_names_those_that_there_are(reader: Engine, fold: PlainFold) -> None:
    with pytest.raises(UnknownProject) as refused:
        projects(reader, "nobody")
    assert all(repr(name) in str(refused.value) for name in fold.projects)


def test_every_confidence_lies_in_one_interval() -> None:
    assert bucket(0.3) == 0
    assert bucket(0.5) == 1
    assert bucket(0.95) == bucket(0.979) == bucket(0.98) - 1
    assert bucket(1.0) == 9
