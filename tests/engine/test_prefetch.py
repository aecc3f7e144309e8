"""The storage is asked only for what it alone can know."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

from connector.domain.records import Record, TopicPartition
from connector.domain.rows import WorkerRow
from connector.engine.messages import Topics
from connector.engine.shard import Shard
from connector.engine.storage import TaskPage
from connector.pipeline.batch import decoded
from tests.bench.folding import Nothing


class Noting(Nothing):
    """Holds nothing, and notes what it is asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def tasks_named(self, project_id: int, names: Collection[str]) -> TaskPage:
        self.asked += sorted(names)
        return super().tasks_named(project_id, names)

    def workers_named(self, project_id: int, names: Collection[str]) -> Sequence[WorkerRow]:
        self.asked += sorted(names)
        return super().workers_named(project_id, names)


class Partition:
    """A shard that votes are folded into, a batch each."""

    def __init__(self) -> None:
        self.storage = Noting()
        self.shard = Shard(TopicPartition("annotations", 0), None, Topics())
        self.fold(type="project.declared", kind="binary", classes=["0", "1"])

    def fold(self, **fields: object) -> None:
        value = json.dumps({"project": "p", **fields}).encode()
        record = Record("annotations", 0, self.shard.next_offset, 1, None, value)
        (event,) = decoded([record])
        self.shard.prefetch(self.storage, [event])
        self.shard.apply(self.storage, record, event)
        self.shard.collect()

    def vote(self, task: str, worker: str) -> list[str]:
        """What the storage is asked for to take it."""
        self.storage.asked = []
        self.fold(type="annotation.submitted", task=task, worker=worker, label="1")
        return self.storage.asked


def test_where_everything_is_in_memory_a_new_name_is_not_looked_up() -> None:
    p = Partition()
    assert p.vote("t1", "w1") == []
    assert p.vote("t2", "w2") == []
    assert p.vote("t2", "w1") == []


def test_where_something_was_dropped_it_is() -> None:
    p = Partition()
    p.vote("t1", "w1")
    p.shard.projects["p"].forget()
    assert p.vote("t2", "w2") == ["t2", "w2"]
