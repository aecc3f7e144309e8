"""Reading for people."""

from __future__ import annotations

import pytest

from connector.adapters.sql import queries
from connector.adapters.sql.arrays import array
from connector.domain.rows import DeadRow

from .conftest import Database
from .rows import PROJECT, project, task, write

DEAD = [
    DeadRow("annotations", 0, 2, 30, "invalid_json", "no", 3),
    DeadRow("annotations", 0, 5, 20, "unknown_class", "no", -1),
    DeadRow("annotations", 0, 9, 40, "invalid_json", "no", 0),
]


def test_projects_are_listed_by_name(sql: Database) -> None:
    rows = [project("b"), project("a", PROJECT + 1)]
    assert sql.engine is not None
    assert queries.all_projects(sql.engine) == []
    write(sql.open(), 0, 1, projects=rows)
    assert queries.all_projects(sql.engine) == [rows[1], rows[0]]
    assert queries.project(sql.engine, "b") == rows[0]
    assert queries.project(sql.engine, "c") is None


def test_dead_letters_by_code_and_time(sql: Database) -> None:
    assert sql.engine is not None
    write(sql.open(), 0, 1, dead=DEAD)
    assert list(queries.dead(sql.engine)) == DEAD
    assert list(queries.dead(sql.engine, "invalid_json")) == [DEAD[0], DEAD[2]]
    assert list(queries.dead(sql.engine, since=30)) == [DEAD[0], DEAD[2]]
    assert list(queries.dead(sql.engine, "invalid_json", since=40)) == [DEAD[2]]


def test_there_is_no_other_view(sql: Database) -> None:
    assert sql.engine is not None
    with pytest.raises(KeyError):
        queries.view(sql.engine, "tasks")


def test_many_rows_are_read_in_pages(sql: Database) -> None:
    assert sql.engine is not None
    count = queries.PAGE + 1
    tasks = [task(i, f"t{i:06d}") for i in range(count)]
    write(sql.open(), 0, 1, projects=[project()], new_tasks=tasks)
    columns, rows = queries.view(sql.engine, "task_labels", "rte")
    names = [row[columns.index("task")] for row in rows]
    assert names == [t.name for t in tasks]


@pytest.mark.parametrize("kind", ["int8", "int4", "float8", "bool", "text", "bytea"])
def test_an_array_of_nothing_but_nulls_is_one(kind: str) -> None:
    assert array(kind, [None, None]).endswith(b"\xff\xff\xff\xff" * 2)
    assert isinstance(array(kind, []), bytes)
