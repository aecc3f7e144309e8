"""The same broker behaviour, by the real one and by the one in memory."""

from __future__ import annotations

import contextlib
import itertools
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from unittest import mock

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.producer.transaction_manager import TransactionState
from kafka.structs import TopicPartition as KafkaTopicPartition

from connector.adapters.kafka import quirks
from connector.adapters.kafka.client import ClientSettings, client_settings
from connector.adapters.kafka.sink import KafkaSink, PlainSink
from connector.adapters.kafka.source import KafkaSource
from connector.adapters.memory.broker import Fault, MemoryBroker
from connector.adapters.memory.sink import MemoryPlainSink, MemorySink
from connector.adapters.memory.source import MemorySource
from connector.domain.errors import DependencyError
from connector.domain.records import Cursor, Headers, Outgoing, Record, TopicPartition
from connector.ports import Polled, Sink, Source

Hook = Callable[[Sequence[TopicPartition], bool], None]


class World(ABC):
    """A broker and what a test does with it. Names are new in each test."""

    def __init__(self) -> None:
        self._opened = contextlib.ExitStack()
        self._names = itertools.count()
        self.group = f"group-{uuid.uuid4().hex[:8]}"
        self.hung: list[str] = []

    def close(self) -> None:
        self._opened.close()

    def name(self, kind: str) -> str:
        return f"{self.group}.{kind}{next(self._names)}"

    @abstractmethod
    def topic(self, partitions: int = 1, *, max_message_bytes: int = 1_048_588) -> str:
        """A new one."""

    @abstractmethod
    def delete_before(self, topic: str, offset: int) -> None:
        """What retention does, in partition 0."""

    @abstractmethod
    def add_partitions(self, topic: str, total: int) -> None:
        """More than it has."""

    @abstractmethod
    def produce(
        self,
        topic: str,
        value: bytes | None,
        key: bytes | None = b"k",
        headers: Headers = (),
        partition: int = 0,
    ) -> None:
        """Outside a transaction, acknowledged."""

    @abstractmethod
    def read(self, topic: str, *, committed: bool = True) -> list[Record]:
        """All that a subscriber gets."""

    @abstractmethod
    def source(self, topic: str, *, on_revoke: Hook | None = None, **options: Any) -> Source:
        """A member of the group, opened."""

    @abstractmethod
    def sink(self, transactional_id: str = "one", *, dead_topic: str | None = None) -> Sink:
        """Of the group's transactional id, opened."""

    @abstractmethod
    def plain_sink(self, *, dead_topic: str | None = None) -> Sink:
        """Without transactions, opened."""

    @abstractmethod
    def die_before_commit(
        self,
        sink: Sink,
        messages: Sequence[Outgoing],
        cursors: Mapping[TopicPartition, Cursor],
        membership: object,
    ) -> None:
        """All of `publish` but the commit: the transaction stays open, as after a `kill -9`."""

    @abstractmethod
    def evict(self, source: Source) -> None:
        """Make the broker take the member for dead, without its knowing."""


class MemoryWorld(World):
    def __init__(self) -> None:
        super().__init__()
        self.broker = MemoryBroker()

    def topic(self, partitions: int = 1, *, max_message_bytes: int = 1_048_588) -> str:
        name = self.name("topic")
        self.broker.create_topic(name, partitions, max_message_bytes)
        return name

    def delete_before(self, topic: str, offset: int) -> None:
        self.broker.delete_before(TopicPartition(topic, 0), offset)

    def add_partitions(self, topic: str, total: int) -> None:
        self.broker.create_topic(topic, total)

    def produce(
        self,
        topic: str,
        value: bytes | None,
        key: bytes | None = b"k",
        headers: Headers = (),
        partition: int = 0,
    ) -> None:
        self.broker.produce(topic, value, key, headers, partition=partition)

    def read(self, topic: str, *, committed: bool = True) -> list[Record]:
        return self.broker.read(topic, committed=committed)

    def source(self, topic: str, *, on_revoke: Hook | None = None, **options: Any) -> Source:
        source = MemorySource(
            self.broker, group=self.group, topic=topic, on_revoke=on_revoke, **options
        )
        source.open()
        self._opened.callback(source.close)
        return source

    def sink(self, transactional_id: str = "one", *, dead_topic: str | None = None) -> Sink:
        sink = MemorySink(
            self.broker,
            transactional_id=f"{self.group}-{transactional_id}",
            dead_topic=dead_topic,
        )
        sink.open()
        return sink

    def plain_sink(self, *, dead_topic: str | None = None) -> Sink:
        sink = MemoryPlainSink(self.broker, dead_topic=dead_topic)
        sink.open()
        return sink

    def die_before_commit(
        self,
        sink: Sink,
        messages: Sequence[Outgoing],
        cursors: Mapping[TopicPartition, Cursor],
        membership: object,
    ) -> None:
        self.broker.faults.append(Fault.HELD)
        with contextlib.suppress(DependencyError):
            sink.publish(messages, cursors, membership)

    def evict(self, source: Source) -> None:
        assert isinstance(source, MemorySource)
        assert source.member is not None
        self.broker.expire_member(self.group, source.member)


class KafkaWorld(World):
    def __init__(self, bootstrap: str) -> None:
        super().__init__()
        self.bootstrap = bootstrap
        self.settings: ClientSettings = client_settings(bootstrap, {"session_timeout_ms": "6000"})
        self.admin = KafkaAdminClient(bootstrap_servers=bootstrap)
        self._opened.callback(self.admin.close)
        self._producer: KafkaProducer | None = None

    @property
    def producer(self) -> KafkaProducer:
        if self._producer is None:
            self._producer = KafkaProducer(bootstrap_servers=self.bootstrap)
            self._opened.callback(self._producer.close, 5)
        return self._producer

    def topic(self, partitions: int = 1, *, max_message_bytes: int = 1_048_588) -> str:
        name = self.name("topic")
        shape = {
            "num_partitions": partitions,
            "replication_factor": 1,
            "configs": {"max.message.bytes": str(max_message_bytes)},
        }
        self.admin.create_topics({name: shape}, wait_for_metadata=True)
        return name

    def delete_before(self, topic: str, offset: int) -> None:
        self.admin.delete_records({KafkaTopicPartition(topic, 0): offset})

    def add_partitions(self, topic: str, total: int) -> None:
        self.admin.create_partitions({topic: total})
        self.admin.wait_for_topics([topic])

    def produce(
        self,
        topic: str,
        value: bytes | None,
        key: bytes | None = b"k",
        headers: Headers = (),
        partition: int = 0,
    ) -> None:
        future = self.producer.send(
            topic, value, key, [(n, v or b"") for n, v in headers], partition
        )
        future.get(10)

    def read(self, topic: str, *, committed: bool = True) -> list[Record]:
        consumer = KafkaConsumer(
            bootstrap_servers=self.bootstrap,
            isolation_level="read_committed" if committed else "read_uncommitted",
            auto_offset_reset="earliest",
            group_id=None,
        )
        with contextlib.closing(consumer):
            partitions = sorted(
                KafkaTopicPartition(topic, n) for n in consumer.partitions_for_topic(topic)
            )
            consumer.assign(partitions)
            consumer.seek_to_beginning()
            ends = consumer.end_offsets(partitions)
            found: dict[Any, list[Any]] = {partition: [] for partition in partitions}
            while any(consumer.position(p) < ends[p] for p in partitions):
                for partition, records in consumer.poll(200).items():
                    found[partition] += records
        return [
            Record(r.topic, r.partition, r.offset, r.timestamp, r.key, r.value, tuple(r.headers))
            for partition in partitions
            for r in found[partition]
            if r.offset < ends[partition]
        ]

    def source(self, topic: str, *, on_revoke: Hook | None = None, **options: Any) -> Source:
        source = KafkaSource(
            self.settings, group=self.group, topic=topic, on_revoke=on_revoke, **options
        )
        source.open()
        self._opened.callback(source.close)
        return source

    def sink(self, transactional_id: str = "one", *, dead_topic: str | None = None) -> Sink:
        sink = KafkaSink(
            self.settings,
            transactional_id=f"{self.group}-{transactional_id}",
            on_hang=self.hung.append,
            dead_topic=dead_topic,
        )
        sink.open()
        self._opened.callback(sink.close)
        return sink

    def plain_sink(self, *, dead_topic: str | None = None) -> Sink:
        sink = PlainSink(self.settings, dead_topic=dead_topic)
        sink.open()
        self._opened.callback(sink.close)
        return sink

    def die_before_commit(
        self,
        sink: Sink,
        messages: Sequence[Outgoing],
        cursors: Mapping[TopicPartition, Cursor],
        membership: object,
    ) -> None:
        """The sink's own steps up to the commit, which never comes; then it is left alone."""
        assert isinstance(sink, KafkaSink)
        producer = sink._producer
        with (
            mock.patch.object(quirks, "commit", side_effect=_Killed) as commit,
            mock.patch.object(quirks, "abort"),
            pytest.raises(_Killed),
        ):
            sink.publish(messages, cursors, membership)
        commit.assert_called_once()
        assert producer is not None
        # The transaction is open on the broker: that is what the test is about.
        assert producer._transaction_manager._current_state is TransactionState.IN_TRANSACTION

    def evict(self, source: Source) -> None:
        members = self.admin.describe_groups([self.group])[self.group]["members"]
        assert isinstance(source, KafkaSource)
        mine = source._duties.membership.member_id
        assert mine in [member["member_id"] for member in members]
        from kafka.admin import MemberToRemove

        self.admin.remove_group_members(self.group, [MemberToRemove(member_id=mine)])


class _Killed(BaseException):
    pass


def polled_until(
    source: Source, done: Callable[[Polled], bool], seconds: float = 30.0
) -> list[Polled]:
    """Every poll up to the one that `done` accepts. Newly assigned partitions are not sought."""
    import time

    deadline = time.monotonic() + seconds
    polls: list[Polled] = []
    while time.monotonic() < deadline:
        polls.append(source.poll(0.1))
        if done(polls[-1]):
            return polls
    raise AssertionError(f"it did not come within {seconds} s: {polls[-3:]}")


def joined(source: Source, start: int | None = 0, seconds: float = 30.0) -> Polled:
    """Poll until partitions are assigned, and read them from `start` on (None: not yet)."""
    polled = polled_until(source, lambda one: bool(one.assigned), seconds)[-1]
    if start is not None:
        for partition in polled.assigned:
            source.seek(partition, start)
    return polled


def records_of(source: Source, count: int, seconds: float = 30.0) -> list[Record]:
    """So many records, in the order of arrival."""
    found: list[Record] = []

    def enough(polled: Polled) -> bool:
        for records in polled.records.values():
            found.extend(records)
        return len(found) >= count

    polled_until(source, enough, seconds)
    return found
