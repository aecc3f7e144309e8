"""PostgreSQL looks rows up by their whole keys from the first rows on, statistics or not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from connector.adapters.sql import database, migrate, postgres, schema, statements
from connector.adapters.sql.store import SqlStore, open_store
from connector.adapters.sql.transaction import _Lookups

from .rows import PROJECT, pair, task, worker, write

pytestmark = pytest.mark.services


@pytest.fixture
def store(postgres_url: str) -> Iterator[SqlStore]:
    engine = database.engine(postgres_url)
    migrate.upgrade(engine)
    engine.dispose()
    made = open_store(postgres_url)
    yield made
    made.close()


def prepare(store: SqlStore, statement: str, types: list[str]) -> None:
    numbers = iter(range(1, 100))
    numbered = re.sub("%s", lambda _: f"${next(numbers)}", statement)
    run(store, f"PREPARE looked ({', '.join(types)}) AS {numbered}")


def kept_plan(store: SqlStore, parameters: int) -> str:
    """The plan that the server keeps for what was prepared."""
    nulls = ", ".join(["NULL"] * parameters)
    rows = run(store, f"EXPLAIN EXECUTE looked ({nulls})").fetchall()
    return "\n".join(row[0] for row in rows)


def plan(store: SqlStore, statement: str, types: list[str]) -> str:
    prepare(store, statement, types)
    found = kept_plan(store, len(types))
    run(store, "DEALLOCATE looked")
    return found


def run(store: SqlStore, statement: str) -> Any:
    return store._writer.execute(statement, prepare=False)


def assert_by_key(store: SqlStore) -> None:
    sql = _Lookups(store._dialect)
    of_project = ["int8", "int8[]"]
    for statement, types, condition in [
        (sql.tasks_named, ["int8", "text[]"], r"tasks_by_name.*\(name = ANY"),
        (sql.tasks_numbered, of_project, r"tasks_pkey.*\(id = ANY"),
        (sql.workers_named, ["int8", "text[]"], r"workers_by_name.*\(name = ANY"),
        (sql.workers_numbered, of_project, r"workers_pkey.*\(id = ANY"),
        (sql.pairs, of_project, r"votes_pkey.*\(task_id = ANY"),
        (sql.task_ids, ["int8", "int8"], r"votes_by_worker.*\(worker_id ="),
        (sql.seen_task_ids, ["int8", "int8"], r"votes_by_worker.*\(worker_id ="),
        (sql.brief_tasks, ["int8", "int8", "int8"], r"tasks_pkey.*\(id >"),
        (sql.records, ["int8"], r"tasks_by_record"),
        (postgres._update(schema.tasks), _arrays(schema.tasks), r"tasks_pkey.*\(id ="),
        (postgres._update(schema.workers), _arrays(schema.workers), r"workers_pkey.*\(id ="),
        (postgres._update(schema.votes), _arrays(schema.votes), r"votes_pkey.*worker_id ="),
    ]:
        found = plan(store, statement, types)
        assert re.search(condition, found, re.DOTALL), f"{statement}\n{found}"
        # Of what a worker has seen, few votes were taken back.
        found = found.replace("Filter: (x IS NOT NULL)", "")
        assert "Filter" not in found, found


def _arrays(table: object) -> list[str]:
    return [f"{kind}[]" for kind in statements.types(table)]  # type: ignore[arg-type]


def test_while_it_grows_and_nobody_has_analysed_it(store: SqlStore) -> None:
    for step in range(3):
        ids = range(step * 1000, step * 1000 + 1000)
        write(
            store,
            step,
            step + 1,
            new_tasks=[task(i, truth=0, record_z=1.0, record_seq=i) for i in ids],
            new_workers=[worker(i) for i in ids],
            new_pairs=[pair(i, i) for i in ids],
        )
        assert_by_key(store)


def test_after_statistics_of_one_project_when_another_one_comes(store: SqlStore) -> None:
    ids = range(3000)
    for step, of in enumerate((PROJECT, PROJECT + 1)):
        write(
            store,
            step,
            step + 1,
            new_tasks=[task(i, project_id=of) for i in ids],
            new_workers=[worker(i, project_id=of) for i in ids],
            new_pairs=[pair(i, i, project_id=of) for i in ids],
        )
        run(store, "ANALYZE")
        assert_by_key(store)


def test_plans_made_for_an_empty_table_are_made_again_as_it_fills(store: SqlStore) -> None:
    """An empty table that has been analysed may be read in any way: all ways cost nothing."""
    run(store, "ANALYZE")
    prepare(store, _Lookups(store._dialect).tasks_named, ["int8", "text[]"])
    at_first = kept_plan(store, 2)
    for step, ids in enumerate((range(1, 2), range(2, 5001))):
        write(store, step, step + 1, new_tasks=[task(i) for i in ids])
    at_last = kept_plan(store, 2)
    assert at_last != at_first
    assert "(name = ANY ($2))" in at_last
    assert "Filter" not in at_last
