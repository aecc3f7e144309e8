"""A consumer on the in-memory adapters, driven step by step, that can crash anywhere."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from typing import Any

from connector.adapters.memory.broker import MemoryBroker
from connector.adapters.memory.sink import MemorySink
from connector.adapters.memory.source import MemorySource
from connector.adapters.memory.store import MemoryStore
from connector.domain.records import TopicPartition
from connector.pipeline.consumer import Consumer, Options
from connector.pipeline.timekeeper import Timekeeper
from connector.ports import Sink, Store
from tests import compare
from tests.engine.plain_chooser import CHOICES
from tests.oracle.fold import PlainFold, Record

TOPIC, RESOLVED, DEAD = "annotations", "labels.resolved", "annotations.dead"
ASSIGNED = "tasks.assigned"


class Stopwatch:
    """A clock that only moves when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class World:
    """One broker, one store, and the consumers that live on them."""

    def __init__(self, partitions: int = 1, store: Store | None = None) -> None:
        self.ticks = itertools.count(1_767_323_045_000_000, 1_000)
        self.broker = MemoryBroker(clock=lambda: next(self.ticks))
        for name in (TOPIC, RESOLVED, ASSIGNED, DEAD):
            self.broker.create_topic(name, partitions if name == TOPIC else 1, 64 * 2**20)
        self.store = store or MemoryStore()
        self.clock = Stopwatch()
        self.names = itertools.count(1)

    def consumer(
        self, instance: str | None = None, timekeeper: Timekeeper | None = None, **options: Any
    ) -> Consumer:
        """A process of the group; `step` it."""
        name = instance or f"instance-{next(self.names)}"
        made: list[Consumer] = []
        source = MemorySource(
            self.broker,
            group="crowdresolve",
            topic=TOPIC,
            on_revoke=lambda gone, lost: made[0].on_revoke(gone, lost),
            committed_timeout_s=0.5,
        )

        def sink() -> Sink:
            return MemorySink(self.broker, transactional_id=name, dead_topic=DEAD)

        made.append(
            Consumer(
                source, self.store, sink, self.clock, Options(**options), timekeeper=timekeeper
            )
        )
        made[0].open()
        return made[0]

    def send(self, values: Iterable[bytes | dict[str, Any] | None], partition: int = 0) -> None:
        for v in values:
            raw = json.dumps(v).encode() if isinstance(v, dict) else v
            self.broker.produce(TOPIC, raw, partition=partition)

    def ends(self) -> dict[TopicPartition, int]:
        return {TopicPartition(TOPIC, log.partition): log.end for log in self.broker.logs(TOPIC)}

    def done(self) -> bool:
        """Everything is folded, and published as far as the group's cursor says."""
        for partition, end in self.ends().items():
            row = self.store.progress(partition)
            cursor = self.broker.cursor("crowdresolve", partition)
            if end and (row is None or row.next_offset < end or cursor is None):
                return False
            if end and cursor is not None and cursor.offset < end:
                return False
        return True

    def run(self, *consumers: Consumer, turns: int = 4000) -> None:
        """Step the consumers until all is done."""
        for _ in range(turns):
            for consumer in consumers:
                consumer.step(0.005)
            self.clock.now += 1.0
            if self.done():
                return
        raise AssertionError("not done: " + repr([c.describe() for c in consumers]))

    def fold(self) -> PlainFold:
        fold = PlainFold(choices=CHOICES)
        for r in sorted(self.broker.read(TOPIC), key=lambda r: r.timestamp):
            fold.feed(Record(r.partition, r.offset, r.timestamp // 1000, r.value, r.key, r.headers))
        return fold

    def assert_exact(self, repeats: bool = False) -> None:
        """Published and stored is what the plain fold of the log says, each message once.

        Where an operator has set the group back, a subscriber may see messages again: `repeats`
        drops them by their id, as the contract lets a subscriber do.
        """
        fold = self.fold()
        for topic in (RESOLVED, ASSIGNED, DEAD):
            got = [(r.key, r.value, r.headers) for r in self.broker.read(topic)]
            if repeats:
                first: dict[object, Any] = {}
                for message in got:
                    first.setdefault(compare.id_of(dict(message[2])), message)
                got = list(first.values())
            compare.assert_messages(fold, topic, got)
        compare.assert_views(fold, self.store.view)  # type: ignore[attr-defined]
