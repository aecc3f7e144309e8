"""Records folded in memory, batch by batch, with nothing beneath."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TypeVar

from connector.domain.records import Record, TopicPartition
from connector.domain.rows import AnnotationRow, Changes, ProjectRow, RunRow, WorkerRow
from connector.engine.messages import Topics
from connector.engine.shard import Shard
from connector.engine.storage import BriefRow, HeldRow, PartHead, RecordRow, TaskPage
from connector.pipeline.batch import decoded

BATCH = 1000
EVERYTHING = 10**12

T = TypeVar("T")


class Nothing:
    """A storage without a row (`connector.engine.storage.Storage`): all is in the shard."""

    def project(self, name: str) -> ProjectRow | None:
        return None

    def tasks_named(self, project_id: int, names: Collection[str]) -> TaskPage:
        return TaskPage((), ())

    def tasks_numbered(self, project_id: int, ids: Collection[int]) -> TaskPage:
        return TaskPage((), ())

    def task_ids_of(self, project_id: int, worker_id: int) -> list[int]:
        return []

    def workers_named(self, project_id: int, names: Collection[str]) -> Sequence[WorkerRow]:
        return ()

    def workers_numbered(self, project_id: int, ids: Collection[int]) -> Sequence[WorkerRow]:
        return ()

    def annotations(self, project_id: int, ids: Collection[str]) -> Sequence[AnnotationRow]:
        return ()

    def brief_tasks(self, project_id: int, after: int, limit: int) -> Sequence[BriefRow]:
        return ()

    def seen_task_ids(self, project_id: int, worker_id: int) -> Sequence[int]:
        return ()

    def leases(self, topic: str, partition: int) -> Sequence[HeldRow]:
        return ()

    def calibration_records(self, project_id: int) -> Sequence[RecordRow]:
        return ()

    def run(self, project_id: int, name: str) -> RunRow | None:
        return None

    def waiting_parts(self, project_id: int) -> Sequence[PartHead]:
        return ()

    def part_bodies(self, project_id: int, run: str) -> Iterator[bytes]:
        return iter(())

    def save(self, changes: Changes) -> None:
        raise RuntimeError("nothing of the bench is saved in the middle of a record")


def batches(items: Sequence[T], size: int = BATCH) -> Iterator[Sequence[T]]:
    """Slices of that size, the last one smaller."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def new_shard(topic: str = "annotations") -> Shard:
    """A shard that keeps everything in memory."""
    return Shard(TopicPartition(topic, 0), None, Topics(), held=EVERYTHING)


def fold(shard: Shard, records: Sequence[Record], size: int = BATCH) -> Iterator[Changes]:
    """What each batch changes; decoding included."""
    storage = Nothing()
    for batch in batches(records, size):
        events = decoded(batch)
        shard.prefetch(storage, events)
        for record, event in zip(batch, events, strict=True):
            shard.apply(storage, record, event)
        yield shard.collect()
