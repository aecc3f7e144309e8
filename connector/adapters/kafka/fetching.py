"""Reading records where they stand in the log, outside any group."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from kafka import KafkaConsumer, errors
from kafka.structs import TopicPartition as ClientPartition

from connector.domain.errors import DependencyError
from connector.domain.records import Record, TopicPartition

from . import quirks
from .client import ClientSettings
from .connecting import connecting, within
from .faults import explained

SILENCE_S = 30.0
NEAR = 2000
"""Reading so many records that are not wanted is cheaper than asking anew."""


class Fetcher:
    """A consumer that belongs to no group; made by `fetcher`."""

    def __init__(self, consumer: Any, budget: Any, where: str) -> None:
        self._consumer = consumer
        self._budget = budget
        self._where = where

    def partitions(self, topic: str) -> list[TopicPartition]:
        """Of the topic; none where there is no topic."""
        with self._asking(f"look at topic {topic}"):
            found = self._consumer.partitions_for_topic(topic) or ()
        return [TopicPartition(topic, n) for n in sorted(found)]

    def bounds(self, partition: TopicPartition) -> tuple[int, int]:
        """The first offset that the log has, and the one after its last."""
        where = self._tp(partition)
        with self._asking("read where the log begins and ends"):
            first = self._consumer.beginning_offsets([where])[where]
            end = self._consumer.end_offsets([where])[where]
        return int(first), int(end)

    def at(self, partition: TopicPartition, offsets: Collection[int]) -> Iterator[Record]:
        """Those of the records that the log still has, in order."""
        first, end = self.bounds(partition)
        wanted = {offset for offset in offsets if first <= offset < end}
        for start, stop in runs(wanted):
            for record in self.between(partition, start, stop):
                if record.offset in wanted:
                    yield record

    def between(self, partition: TopicPartition, start: int, end: int) -> Iterator[Record]:
        """Every record from one offset up to another, that one not included."""
        where = self._tp(partition)
        with self._asking("read the log"):
            self._consumer.assign([where])
            self._consumer.seek(where, start)
        heard = time.monotonic()
        while True:
            with self._asking("read the log"):
                if self._consumer.position(where) >= end:
                    return
                self._budget.left = 16 * 1024 * 1024
                fetched = self._consumer.poll(timeout_ms=500).get(where, ())
            if fetched:
                heard = time.monotonic()
            elif time.monotonic() - heard > SILENCE_S:
                raise DependencyError(
                    f"{self._where} does not deliver {partition.topic}/{partition.partition}"
                )
            for record in fetched:
                if record.offset >= end:
                    return
                yield record

    @contextmanager
    def _asking(self, what: str) -> Iterator[None]:
        try:
            yield
        except errors.KafkaError as error:
            raise explained(error, f"cannot {what} on {self._where}") from error

    @staticmethod
    def _tp(partition: TopicPartition) -> Any:
        return ClientPartition(*partition)


@contextmanager
def fetcher(client: ClientSettings) -> Iterator[Fetcher]:
    """A consumer without a group, closed at the end.

    Raises:
        DependencyError: no broker answers.
        ConfigurationError: a setting is wrong, or access is denied.
    """
    budget = quirks.Budget()
    with connecting("consumer", client) as connection:
        consumer = KafkaConsumer(
            **client.consumer(
                receive_message_max_bytes=1 << 30, metrics_enabled=False, kafka_client=connection
            ),
            group_id=None,
            auto_offset_reset="none",
            enable_auto_commit=False,
            # Aborted records were no dead letters, and nobody's redriven ones.
            isolation_level="read_committed",
            allow_auto_create_topics=False,
        )
    quirks.prepare(consumer, budget)
    try:
        yield Fetcher(consumer, budget, client.where)
    finally:
        within(10.0, "close the consumer", lambda: consumer.close(False, timeout_ms=3000))


def runs(offsets: Collection[int], near: int = NEAR) -> Iterator[tuple[int, int]]:
    """Stretches (end exclusive) that cover the offsets, without long gaps in them."""
    start = last = None
    for offset in sorted(offsets):
        if start is None or last is None:
            start = offset
        elif offset - last > near:
            yield start, last + 1
            start = offset
        last = offset
    if start is not None and last is not None:
        yield start, last + 1
