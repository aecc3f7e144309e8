"""What reports read beside the views, on both databases."""

from __future__ import annotations

from connector.adapters.sql import queries
from connector.adapters.sql.quality import gold_records, shares, vote_counts

from .conftest import Database
from .rows import PROJECT, pair, project, task, worker, write


def test_a_worker_s_parts_come_together_whatever_the_project(sql: Database) -> None:
    assert sql.engine is not None
    people = [
        worker(1, "ann", S=2.5, n=4, resolved_votes=3, agreed=2, updated_at=7),
        worker(2, "bob"),
        worker(1, "ann", project_id=PROJECT + 1, S=1.0, n=1),
    ]
    both = [project("b"), project("a", PROJECT + 1)]
    write(sql.open(), 0, 1, projects=both, new_workers=people)
    found = list(shares(sql.engine))
    assert [(s.worker, s.project) for s in found] == [("ann", "a"), ("ann", "b"), ("bob", "b")]
    assert found[1] == ("ann", "b", 2.5, 4, 3, 2, None, None, 7)


def test_votes_are_counted_by_task_and_class_without_the_blocked(sql: Database) -> None:
    assert sql.engine is not None
    people = [worker(j, f"w{j}", blocked=j == 3) for j in (1, 2, 3, 4)]
    votes = [pair(1, 1, x=0), pair(1, 2, x=0), pair(1, 3, x=0), pair(1, 4, x=1), pair(2, 2, x=1)]
    votes.append(pair(2, 4, x=None))
    tasks = [task(1, "t1"), task(2, "t2")]
    write(
        sql.open(), 0, 1, projects=[project()], new_tasks=tasks, new_workers=people, new_pairs=votes
    )
    assert list(vote_counts(sql.engine, "rte")) == [(1, 0, 2), (1, 1, 1), (2, 1, 1)]
    assert list(vote_counts(sql.engine, "another")) == []


def test_gold_records_come_in_the_order_of_their_last_change(sql: Database) -> None:
    assert sql.engine is not None
    tasks = [
        task(1, "t1", record_z=1.5, record_hit=True, record_seq=9),
        task(2, "t2"),
        task(3, "t3", record_z=-0.5, record_hit=False, record_seq=4),
    ]
    write(sql.open(), 0, 1, projects=[project()], new_tasks=tasks)
    assert gold_records(sql.engine, "rte") == [(-0.5, False), (1.5, True)]


def test_a_view_can_be_narrowed_to_some_workers(sql: Database) -> None:
    assert sql.engine is not None
    people = [worker(1, "ann"), worker(2, "bob"), worker(3, "o'neil")]
    write(sql.open(), 0, 1, projects=[project()], new_workers=people)
    only = {"worker": ["o'neil", "ann", "nobody"]}
    columns, rows = queries.view(sql.engine, "worker_quality", "rte", only)
    assert [row[columns.index("worker")] for row in rows] == ["ann", "o'neil"]
    assert list(queries.view(sql.engine, "worker_quality", "rte", {"worker": []})[1]) == []
