"""Rows to put in: plain ones, and ones whose values are hard to keep."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from connector.adapters.memory.store import MemoryStore
from connector.adapters.sql.store import SqlStore
from connector.domain.config import Declaration, effective, to_json
from connector.domain.ids import Id
from connector.domain.records import Outgoing, TopicPartition
from connector.domain.rows import (
    AnnotationRow,
    Changes,
    LeaseRow,
    PairRow,
    ProgressRow,
    ProjectRow,
    RunRow,
    TaskRow,
    WorkerRow,
)

P0 = TopicPartition("annotations", 0)
P1 = TopicPartition("annotations", 1)
PROJECT = 8_123_456_789_012_345_678

Store = MemoryStore | SqlStore

# Doubles that a text form, a REAL column or a careless sum would change.
DOUBLES = (5e-324, 2.2250738585072014e-308, 1e308, -0.0, 0.1, 1 / 3, 1.0, 2.0**53 + 2)
LARGEST, SMALLEST = 2**63 - 1, -(2**63)
NAMES = ("a", "Ä/%\t\n", "x" * 512, "'\"\\", "日本", "\U0001f600", " ", "\x01", "null", "1")


def write(
    store: Store, expected: int, following: int, at: TopicPartition = P0, **lists: Iterable[Any]
) -> None:
    """A whole transaction: go on from one offset to another, and save these lists if any."""
    with store.transaction(at) as transaction:
        transaction.advance(expected, following)
        if lists:
            transaction.save(changes(at, **lists))


def changes(partition: TopicPartition = P0, **lists: Iterable[Any]) -> Changes:
    """Changes with these lists, and counters of nothing."""
    made = Changes(partition, ProgressRow(*partition, 0, 0, 0, 0, 0, 0, 0))
    for name, rows in lists.items():
        setattr(made, name, list(rows) if name != "progress" else rows)
    return made


def config(*classes: str) -> str:
    return to_json(
        effective(Declaration(kind="categorical", classes=cast("list[Id]", list(classes))))
    )


def project(name: str = "rte", id_: int = PROJECT, **fields: Any) -> ProjectRow:
    row = ProjectRow(
        id=id_,
        name=name,
        topic="annotations",
        partition=0,
        config=config("no", "yes", "Ä"),
        tasks=0,
        workers=0,
        arrivals=0,
        pairs=0,
        uses="[0,0,0]",
        b=1.0,
        record_seq=0,
        gold_records=0,
        gold_resolved=0,
        gold_right=0,
        gold_lower=None,
        gold_upper=None,
        gold_stated=None,
        declared_at=0,
        run=None,
        upto=None,
        algorithm=None,
        classes_since=-1,
    )
    return row._replace(**fields)


def task(id_: int, name: str | None = None, **fields: Any) -> TaskRow:
    row = TaskRow(
        project_id=PROJECT,
        id=id_,
        name=f"t{id_}" if name is None else name,
        priority=0.0,
        max_labels=None,
        prior=None,
        base=None,
        run=None,
        withdrawn=False,
        truth=None,
        status="open",
        label=None,
        confidence=1 / 3,
        probabilities='{"no":0.3,"yes":0.3,"\u00c4":0.4}',
        votes=0,
        version=0,
        algorithm="fast_sbic",
        resolved_at=None,
        updated_at=0,
        record_z=None,
        record_hit=None,
        record_seq=None,
        margin=0.0,
    )
    return row._replace(**fields)


def worker(id_: int, name: str | None = None, **fields: Any) -> WorkerRow:
    row = WorkerRow(
        project_id=PROJECT,
        id=id_,
        name=f"w{id_}" if name is None else name,
        S=0.0,
        n=0,
        accuracy=2 / 3,
        lower=0.1,
        upper=0.9,
        blocked=False,
        block_reason=None,
        resolved_votes=0,
        agreed=0,
        mark=0,
        updated_at=0,
        run_p=None,
        assigned=0,
    )
    return row._replace(**fields)


def pair(task_id: int, worker_id: int, **fields: Any) -> PairRow:
    row = PairRow(
        project_id=PROJECT,
        task_id=task_id,
        worker_id=worker_id,
        x=0,
        p=0.5,
        arrival=1,
        offset=0,
        revision=None,
        at=None,
        annotation_id=None,
        voted=True,
        skipped=False,
        gone=False,
        gone_revision=None,
        gone_at=None,
    )
    return row._replace(**fields)


def no_vote(task_id: int, worker_id: int, **fields: Any) -> PairRow:
    """A pair whose vote was taken back."""
    nothing = dict.fromkeys(("x", "p", "arrival", "offset", "annotation_id"))
    return pair(task_id, worker_id, **(nothing | {"gone": True} | fields))


def annotation(id_: str, **fields: Any) -> AnnotationRow:
    row = AnnotationRow(PROJECT, id_, 1, 1, False, None, None)
    return row._replace(**fields)


def lease(task_id: int, worker_id: int, **fields: Any) -> LeaseRow:
    row = LeaseRow(PROJECT, task_id, worker_id, f"annotations/0/{task_id}/{worker_id}", 1_000)
    return row._replace(**fields)


def message(offset: int, sequence: int = 0, **fields: Any) -> Outgoing:
    row = Outgoing(offset, sequence, "labels.resolved", b"rte/t1", b"{}", (("ce_id", b"1"),))
    return row._replace(**fields)


def run(id_: int, name: str, **fields: Any) -> RunRow:
    row = RunRow(
        project_id=PROJECT,
        id=id_,
        run=name,
        upto=99,
        classes=None,
        algorithm="cola",
        version="1",
        seed=-5,
        parameters="{}",
        bound=-0.1,
        parts=2,
        status="adopted",
        reason=None,
        summary="{}",
        tasks=7,
        workers=None,
        votes=2**40,
        changed=None,
        changes="[]",
        durations="{}",
        started_at=None,
        finished_at=None,
        adopted_at=None,
    )
    return row._replace(**fields)
