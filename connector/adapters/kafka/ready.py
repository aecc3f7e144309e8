"""Batches of records that are encoded already, for the client to send.

`KafkaProducer.send` costs 65 µs a message: it checks what it is given, encodes byte by byte, and
makes an object with a lock to tell what became of it. A publication's messages are known together,
so they are encoded at once (5 µs each), and asked after batch by batch. From there on the client
treats them as its own: sequence numbers, transactions, repeats, and splitting a batch that a
broker finds too large.

Read and tried on kafka-python 3.0.12, as `quirks`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from kafka import KafkaProducer
from kafka.producer.future import FutureRecordMetadata
from kafka.producer.producer_batch import ProducerBatch
from kafka.record.memory_records import MemoryRecordsBuilder
from kafka.structs import TopicPartition

from connector.domain.records import Outgoing

from .encoding import encoded
from .partitioner import partition_for

LARGE = 64 * 1024
"""Bytes of a message from which the client takes it by itself."""


class Sent(NamedTuple):
    """A batch on its way, and the places of its messages in the publication."""

    batch: ReadyBatch
    indices: list[int]


class ReadyRecords(MemoryRecordsBuilder):  # type: ignore[misc]
    """The client's builder, filled."""

    __slots__ = ()

    def __init__(self, compression: int, count: int, records: bytes) -> None:
        super().__init__(2, compression, len(records))
        now = int(time.time() * 1000)
        builder = self._builder
        builder._buffer.extend(records)
        builder._num_records = count
        builder._last_offset = count - 1
        builder._first_timestamp = builder._max_timestamp = now
        self.skip(count)  # the next one's number

    def append(self, *_: Any) -> None:
        """No room for more."""

    def is_full(self) -> bool:
        """So that it is sent at once."""
        return True


class ReadyBatch(ProducerBatch):  # type: ignore[misc]
    """The client's batch, with a future for each record only once it is split.

    Then what was `produce_future` never ends, and the records' own are what to wait for.
    """

    def __init__(self, partition: TopicPartition, records: ReadyRecords) -> None:
        self.split: list[FutureRecordMetadata] | None = None
        super().__init__(partition, records)

    @property
    def _record_futures(self) -> list[FutureRecordMetadata]:
        if self.split is None:
            self.split = [
                FutureRecordMetadata(self.produce_future, number, None, None, -1, -1, -1)
                for number in range(self.record_count)
            ]
        return self.split

    @_record_futures.setter
    def _record_futures(self, _: list[FutureRecordMetadata]) -> None:
        """The parent begins with none."""


def send(producer: KafkaProducer, messages: Sequence[Outgoing]) -> list[Sent] | None:
    """Begin to send; None: nothing was done, as the client has to take some of them itself.

    Raises:
        KafkaError: the producer has failed before.
    """
    sent = _batches(producer, messages)
    if sent is None:
        return None
    manager, accumulator = producer._transaction_manager, producer._accumulator
    if manager.is_transactional():
        for partition in {batch.topic_partition for batch, _ in sent}:
            manager.maybe_add_partition_to_transaction(partition)
    accumulator._appends_in_progress.increment()  # `close` waits for these
    try:
        for batch, _ in sent:
            with accumulator._tp_lock(batch.topic_partition):
                accumulator._batches[batch.topic_partition].append(batch)
                accumulator._incomplete.add(batch)
    finally:
        accumulator._appends_in_progress.decrement()
    producer._sender.wakeup()
    return sent


def _batches(producer: KafkaProducer, messages: Sequence[Outgoing]) -> list[Sent] | None:
    settings = producer._accumulator.config
    if settings["message_version"] < 2:
        return None
    compression, limit = settings["compression_attrs"], settings["batch_size"]
    topics: dict[str, list[int]] = {}
    filling: dict[tuple[str, int], tuple[list[int], list[bytes]]] = {}
    sizes: dict[tuple[str, int], int] = {}
    sent: list[Sent] = []

    def close(place: tuple[str, int]) -> None:
        indices, records = filling.pop(place)
        made = ReadyRecords(compression, len(records), b"".join(records))
        sent.append(Sent(ReadyBatch(TopicPartition(*place), made), indices))

    for index, (_, _, topic, key, value, headers) in enumerate(messages):
        partitions = topics.get(topic)
        if partitions is None:
            known = producer._metadata.partitions_for_topic(topic)
            if not known:
                return None
            partitions = topics[topic] = sorted(known)
        if key is None or (value is not None and len(value) > LARGE):
            return None
        count = len(partitions)
        place = (topic, partitions[partition_for(key, count) if count > 1 else 0])
        group = filling.get(place)
        record = encoded(0 if group is None else len(group[0]), key, value, headers)
        if len(record) > LARGE:
            return None
        if group is not None and sizes[place] + len(record) > limit:
            close(place)
            group = None
            record = encoded(0, key, value, headers)
        if group is None:
            group = filling[place] = ([], [])
            sizes[place] = 0
        group[0].append(index)
        group[1].append(record)
        sizes[place] += len(record)
    for place in list(filling):
        close(place)
    return sent
