"""The figures of the reports are those of an independent computation."""

from __future__ import annotations

import json
from collections import Counter
from statistics import fmean
from typing import Any

import krippendorff
import numpy as np
import pytest
from scipy import stats
from sqlalchemy import Engine

from aggregators.agreement import Level
from connector.reports.rows import REPORTS, UnknownProject, projects
from connector.reports.tables import bucket
from tests import compare
from tests.oracle.fold import PlainFold
from tests.oracle.project import Project


def rows(reader: Engine, kind: str, project: str | None = None) -> list[dict[str, Any]]:
    report = REPORTS[kind](reader, project)
    return [dict(zip(report.columns, row, strict=True)) for row in report.rows]


def test_workers_and_tasks_are_the_views(reader: Engine, fold: PlainFold) -> None:
    found = [row for name in projects(reader, None) for row in rows(reader, "workers", name)]
    compare.assert_view(fold, "worker_quality", found)
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


def test_a_worker_across_projects_is_all_of_the_worker_s_votes(
    reader: Engine, fold: PlainFold
) -> None:
    mine: dict[str, list[Project]] = {}
    for _, project in sorted(fold.projects.items()):
        for worker in project.workers:
            mine.setdefault(worker, []).append(project)
    found = rows(reader, "workers")
    assert [r["worker"] for r in found] == sorted(mine)
    assert any(len(parts) > 1 for parts in mine.values())
    for row in found:
        name, parts = row["worker"], mine[row["worker"]]
        assert json.loads(row["projects"]) == [p.name for p in parts]
        S = sum(p.S(p.workers[name]) for p in parts)
        votes = [(p, vote) for p in parts for vote in p.workers[name].votes]
        a, b = (fmean(p.config.worker_prior[i] for p in parts) for i in (0, 1))
        belief = stats.beta(S + a, len(votes) - S + b)
        assert row["votes"] == len(votes)
        assert row["accuracy"] == pytest.approx(belief.mean(), abs=1e-9)
        assert row["lower"] == pytest.approx(belief.ppf(0.025), abs=1e-7)
        assert row["upper"] == pytest.approx(belief.ppf(0.975), abs=1e-7)
        hits = [
            p.tasks[v.task].label == v.label for p, v in votes if p.tasks[v.task].status != "open"
        ]
        assert row["agreement"] == (pytest.approx(fmean(hits)) if hits else None)


def test_alpha_is_that_of_the_krippendorff_package(reader: Engine, fold: PlainFold) -> None:
    for row in rows(reader, "project"):
        project = fold.projects[row["project"]]
        classes = list(project.config.classes)
        counts = np.zeros((len(project.tasks), len(classes)), dtype=int)
        for at, task in enumerate(project.tasks.values()):
            for vote in project.counting_votes(task):
                counts[at, classes.index(vote.label)] += 1
        level: Level = "ordinal" if project.config.kind == "ordinal" else "nominal"
        want = krippendorff.alpha(value_counts=counts, level_of_measurement=level)
        assert row["alpha"] == pytest.approx(want, abs=1e-9)


def test_one_project_s_rows_are_its_own(reader: Engine) -> None:
    for kind in REPORTS.keys() - {"workers"}:
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
