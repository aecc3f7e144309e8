"""The views show what interface.md says, the same from every store."""

from __future__ import annotations

import json
from typing import Any

import pytest

from connector.adapters.sql.views import VIEWS
from connector.domain.rows import HistoryRow, ProgressRow

from .conftest import Database
from .rows import P0, PROJECT, config, project, task, worker, write

US = 1_767_323_045_000_006  # 2026-01-02T03:04:05.000006Z
TIME = "2026-01-02T03:04:05.000006Z"
SECOND = PROJECT + 1


def only(rows: list[dict[str, Any]]) -> dict[str, Any]:
    assert len(rows) == 1
    return rows[0]


@pytest.mark.parametrize("name", VIEWS)
def test_every_view_is_empty_at_first(db: Database, name: str) -> None:
    db.open()
    assert db.view(name) == []


def test_task_labels(db: Database) -> None:
    resolved = task(
        1,
        "Ä/1",
        status="confident",
        label=2,
        confidence=0.98,
        votes=4,
        version=3,
        algorithm="cola",
        resolved_at=US,
        updated_at=0,
    )
    write(db.open(), 0, 1, projects=[project()], new_tasks=[resolved, task(2, "b", label=None)])
    first, second = sorted(db.view("task_labels"), key=lambda row: -row["votes"])
    assert json.loads(first.pop("probabilities")) == {"no": 0.3, "yes": 0.3, "Ä": 0.4}
    assert first == {
        "project": "rte",
        "task": "Ä/1",
        "label": "Ä",
        "confidence": 0.98,
        "status": "confident",
        "votes": 4,
        "version": 3,
        "algorithm": "cola",
        "resolved_at": TIME,
        "updated_at": "1970-01-01T00:00:00.000000Z",
    }
    assert (second["task"], second["label"], second["resolved_at"]) == ("b", None, None)


def test_a_label_is_a_class_of_the_configuration_that_holds_now(db: Database) -> None:
    store = db.open()
    write(store, 0, 1, projects=[project()], new_tasks=[task(1, label=1)])
    assert only(db.view("task_labels"))["label"] == "yes"
    write(store, 1, 2, projects=[project(config=config("no", "maybe"))])
    assert only(db.view("task_labels"))["label"] == "maybe"
    many = [f"c{i}" for i in range(1000)]
    write(store, 2, 3, projects=[project(config=config(*many))], tasks=[task(1, label=999)])
    assert only(db.view("task_labels"))["label"] == "c999"
    write(store, 3, 4, projects=[project(config=config(*many), b=2.0)])
    assert only(db.view("task_labels"))["label"] == "c999"


def test_worker_quality(db: Database) -> None:
    rows = [
        worker(1, n=8, accuracy=0.75, lower=0.5, upper=0.9, resolved_votes=4, agreed=3),
        worker(2, updated_at=US),
    ]
    write(db.open(), 0, 1, projects=[project()], new_workers=rows)
    first, second = db.view("worker_quality")
    nothing = {"cluster": None, "flag": None, "flag_reason": None}
    assert first == {
        "project": "rte",
        "worker": "w1",
        "accuracy": 0.75,
        "lower": 0.5,
        "upper": 0.9,
        "votes": 8,
        "agreement": 0.75,
        "updated_at": "1970-01-01T00:00:00.000000Z",
        **nothing,
    }
    assert (second["agreement"], second["updated_at"]) == (None, TIME)


def test_worker_quality_history(db: Database) -> None:
    points = [HistoryRow(PROJECT, 1, n, US + n, 0.5 + n / 10, 0.1, 0.9) for n in (1, 2)]
    rows: dict[str, Any] = {"projects": [project()], "new_workers": [worker(1)], "history": points}
    write(db.open(), 0, 1, P0, **rows)
    first, second = db.view("worker_quality_history")
    assert first == {
        "project": "rte",
        "worker": "w1",
        "at": "2026-01-02T03:04:05.000007Z",
        "votes": 1,
        "accuracy": 0.6,
        "lower": 0.1,
        "upper": 0.9,
    }
    assert second["votes"] == 2


def test_project_progress(db: Database) -> None:
    tasks = [
        task(1, status="confident", votes=3, confidence=0.9),
        task(2, status="ambiguous", votes=2, confidence=0.5),
        task(3, status="open", votes=1, confidence=0.7),
        task(4, status="gold", truth=1, votes=0, confidence=1.0),
        task(5, status="open", votes=0, confidence=0.3),
    ]
    workers = [worker(1, n=4), worker(2, n=2)]
    rows: dict[str, Any] = {
        "projects": [project(pairs=9)],
        "new_tasks": tasks,
        "new_workers": workers,
    }
    write(db.open(), 0, 1, P0, **rows)
    row = only(db.view("project_progress"))
    assert row.pop("mean_confidence") == pytest.approx((0.9 + 0.5 + 0.7 + 1.0) / 4, abs=1e-15)
    assert row == {
        "project": "rte",
        "tasks": 5,
        "open": 2,
        "resolved": 3,
        "ambiguous": 1,
        "votes": 6,
        "budget_used": 9,
    }
    assert all(isinstance(row[column], int) for column in ("tasks", "open", "votes"))


def test_the_mean_confidence_does_not_depend_on_the_order_of_the_rows(db: Database) -> None:
    """Added as doubles, these give 0.6000000000000001 one way, 0.6 the other."""
    tasks = [
        task(n, votes=1, confidence=c, project_id=id_)
        for id_, order in ((PROJECT, (0.1, 0.2, 0.3)), (SECOND, (0.3, 0.2, 0.1)))
        for n, c in enumerate(order, start=1)
    ]
    projects = [project(), project("second", SECOND)]
    write(db.open(), 0, 1, P0, projects=projects, new_tasks=tasks)
    first, second = db.view("project_progress")
    assert first["mean_confidence"] == second["mean_confidence"]


def test_a_project_without_tasks_has_progress_too(db: Database) -> None:
    write(db.open(), 0, 1, projects=[project()])
    row = only(db.view("project_progress"))
    assert row["mean_confidence"] is None
    assert [row[c] for c in ("tasks", "open", "resolved", "ambiguous", "votes")] == [0] * 5


def test_event_accounting(db: Database) -> None:
    counted = ProgressRow("annotations", 0, 10, US, 10, 4, 3, 2, 1)
    write(db.open(), 0, 10, progress=counted)
    assert only(db.view("event_accounting")) == {
        "topic": "annotations",
        "partition": 0,
        "received": 10,
        "applied": 4,
        "duplicates": 3,
        "stale": 2,
        "dead": 1,
    }


def test_calibration(db: Database) -> None:
    rows = [
        project(
            b=0.7,
            gold_records=5,
            gold_resolved=4,
            gold_right=3,
            gold_lower=0.3,
            gold_upper=0.9,
            gold_stated=0.96,
        ),
        project("temp", SECOND),
    ]
    write(db.open(), 0, 1, projects=rows)
    first, second = db.view("calibration")
    assert first == {
        "project": "rte",
        "b": 0.7,
        "gold_tasks": 5,
        "resolved_at_stop": 4,
        "right_at_stop": 3,
        "lower": 0.3,
        "upper": 0.9,
        "stated_mean": 0.96,
    }
    assert second["lower"] is second["upper"] is second["stated_mean"] is None


def test_projects_are_kept_apart_and_rows_are_in_order(db: Database) -> None:
    rows: dict[str, Any] = {
        "projects": [project(), project("Rte", SECOND, config=config("a", "b"))],
        "new_tasks": [
            task(1, "b", label=0),
            task(2, "a"),
            task(1, "z", project_id=SECOND, label=0),
        ],
    }
    write(db.open(), 0, 1, P0, **rows)
    shown = [(r["project"], r["task"], r["label"]) for r in db.view("task_labels")]
    assert shown == [("Rte", "z", "a"), ("rte", "a", None), ("rte", "b", "no")]
    assert [r["task"] for r in db.view("task_labels", "rte")] == ["a", "b"]
    assert db.view("task_labels", "nobody's") == []
    assert db.view("event_accounting", "rte") == db.view("event_accounting")
    assert only(db.view("project_progress", "Rte"))["tasks"] == 1


@pytest.mark.parametrize("us", [0, 1, 999_999, 1_000_000, US, 7_289_654_399_999_999])
def test_a_time_is_exact_to_the_microsecond(db: Database, us: int) -> None:
    from connector.domain.instants import format_instant

    write(db.open(), 0, 1, projects=[project()], new_workers=[worker(1, updated_at=us)])
    assert only(db.view("worker_quality"))["updated_at"] == format_instant(us)


def test_a_time_before_1970_is_shown_too(sql: Database) -> None:
    """A record without a timestamp has -1 ms."""
    write(sql.open(), 0, 1, projects=[project()], new_workers=[worker(1, updated_at=-1000)])
    assert only(sql.view("worker_quality"))["updated_at"] == "1969-12-31T23:59:59.999000Z"


def test_times_and_json_have_their_own_types_in_postgresql(postgres_url: str) -> None:
    from connector.adapters.sql import database, migrate
    from connector.adapters.sql.store import open_store

    engine = database.engine(postgres_url)
    migrate.upgrade(engine)
    store = open_store(postgres_url)
    write(store, 0, 1, projects=[project()], new_tasks=[task(1, updated_at=US)])
    store.close()
    with engine.connect() as connection:
        row = connection.exec_driver_sql(
            "SELECT pg_typeof(updated_at)::text, pg_typeof(probabilities)::text,"
            " probabilities ->> 'Ä' FROM task_labels"
        ).one()
    engine.dispose()
    assert tuple(row) == ("timestamp with time zone", "json", "0.4")
