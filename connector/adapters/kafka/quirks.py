"""What we need of kafka-python beyond its public surface, each with the reason.

Read and tried on 3.0.12; the distribution is pinned below 3.1, and tests/adapters/broker fails
where a later 3.0.x has moved something.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Collection, Iterator
from typing import Any

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, errors
from kafka.consumer.fetcher import Fetcher
from kafka.protocol.api_key import ApiKey
from kafka.protocol.consumer import IsolationLevel

from connector.domain.records import Record, TopicPartition

from .batches import lenient
from .parsing import record_of


class Unreadable(Exception):
    """A batch of the log cannot be decoded: damaged, or of a codec whose library is missing."""

    def __init__(self, partition: TopicPartition, offset: int, cause: BaseException) -> None:
        super().__init__(f"{partition.topic}[{partition.partition}] at {offset}: {cause!r}")
        self.partition = partition
        self.offset = offset
        self.cause = cause


class Budget:
    """Bytes that one poll may still return.

    `max_poll_records` counts records only: a thousand of 1 MB, or some of 30 MB that gzip made
    small, would be copied out of the batch all at once.
    """

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = 0


class _Records(Fetcher.PartitionRecords):  # type: ignore[misc]
    """One answer's records of a partition: ours, leniently read."""

    unreadable: Unreadable | None = None
    next_fetch_offset: int

    def taken(self, n: int | None, budget: Budget) -> list[Record]:
        """So many records, or fewer where the budget ends."""
        if self.unreadable is not None:
            raise self.unreadable
        records: list[Record] = []
        take = records.append
        left = budget.left
        failure: Exception | None = None
        try:
            for record in itertools.islice(self.record_iterator, n):
                take(record)
                left -= len(record.value or b"") + len(record.key or b"")
                if left <= 0:
                    break
        except Exception as error:
            failure = error
        budget.left = left
        if records:
            self.next_fetch_offset = max(self.next_fetch_offset, records[-1].offset + 1)
        if failure is not None:
            partition = TopicPartition(*self.topic_partition)
            self.unreadable = Unreadable(partition, self.next_fetch_offset, failure)
            if not records:
                raise self.unreadable from failure
        return records

    def _unpack_records(self, tp: Any, batches: Any, *_: Any) -> Iterator[Record]:
        """The records of every batch that counts; `next_fetch_offset` is `taken`'s to move on."""
        topic, partition = tp
        batch = last = batches.next_batch()
        while batch is not None:
            if self.check_crcs and not batch.validate_crc():
                raise errors.CorruptRecordError("the batch's checksum is not that of its bytes")
            self.bytes_read += batch.size_in_bytes
            if batch.magic < 2:
                yield from map(record_of, itertools.repeat(tp), batch)
            elif self._counts(batch):
                yield from lenient(batch).records(topic, partition)
            else:
                self.next_fetch_offset = batch.next_offset
            last, batch = batch, batches.next_batch()
        if last is not None and last.magic == 2:
            # The last records of a batch may be gone (compacted): go on behind it all the same.
            self.next_fetch_offset = last.next_offset
        self.drain()

    def _counts(self, batch: Any) -> bool:
        """Whether it is neither a transaction's marker nor part of an aborted one."""
        self.leader_epoch = batch.leader_epoch
        if self.isolation_level == IsolationLevel.READ_COMMITTED and batch.has_producer_id():
            self._consume_aborted_transactions_up_to(batch.last_offset)
            if self._contains_abort_marker(batch):
                self.aborted_producer_ids.discard(batch.producer_id)
            elif self._is_batch_aborted(batch):
                return False
        return not batch.is_control_batch


def prepare(consumer: KafkaConsumer, budget: Budget) -> None:
    """Make this one consumer give our records, keep to the budget, and say what it cannot read.

    Unchanged, it would spin for ever in the poll after the one that raised: the generator of the
    damaged batch is at its end, and nothing takes it out of the queue.
    """

    class Records(_Records):
        def take(self, n: int | None = None) -> list[Record]:
            return self.taken(n, budget)

    fetcher = consumer._fetcher
    fetcher.PartitionRecords = Records
    append = fetcher._append

    def append_within_budget(drained: Any, part: Any, room: int, update_offsets: bool) -> int:
        taken: int = append(drained, part, room, update_offsets)
        return taken if budget.left > 0 else room  # the caller stops where there is no room left

    fetcher._append = append_within_budget
    send_fetches = fetcher.send_fetches

    def send_fetches_where_due() -> Any:
        # It hands the work to the I/O thread and waits for it, though nothing is to be fetched
        # while what came last has not been read to its end: a millisecond for each poll.
        return send_fetches() if fetcher._fetchable_partitions() else []

    fetcher.send_fetches = send_fetches_where_due


def heartbeats_refused(consumer: KafkaConsumer) -> bool:
    """Whether another process has taken this one's static membership.

    The client then only stops its heartbeats and goes on delivering records, as if nothing were.
    """
    coordinator = consumer._coordinator
    with coordinator._lock:
        return bool(
            coordinator.stable()
            and not coordinator._heartbeat_enabled
            and not coordinator.rejoining
            and not coordinator.need_rejoin()
        )


def connected(consumer: KafkaConsumer) -> bool:
    """Whether any broker has a connection; `poll` itself says nothing while there is none."""
    return any(connection.connected for connection in list(consumer._manager._conns.values()))


def refresh_metadata(consumer: KafkaConsumer, timeout_s: float) -> None:
    """Ask the broker anew which topics and partitions there are; KafkaError if it does not say."""
    future = consumer._cluster.request_update()
    consumer._net.run(consumer._manager.wait_for, future, timeout_s * 1000)


def last_error(producer: KafkaProducer) -> BaseException | None:
    """Why a transactional producer refuses to go on; what it raises says so only as text."""
    manager = producer._transaction_manager
    error: BaseException | None = manager.last_error if manager is not None else None
    return error


def known_partitions(consumer: KafkaConsumer, topic: str) -> Collection[int]:
    """What was read last; `partitions_for_topic` asks for all topics where it knows none."""
    return consumer._cluster.partitions_for_topic(topic) or ()


def find_topic(producer: KafkaProducer, topic: str, seconds: float) -> None:
    """As `partitions_for`, which does not tell a missing topic from a broker that is away.

    Raises:
        UnknownTopicOrPartitionError: there is none, by the broker's last word.
        KafkaError: the broker did not say.
    """
    deadline = time.monotonic() + seconds
    cluster = producer._metadata
    said: BaseException = errors.KafkaTimeoutError(f"no answer within {seconds:.0f} s")
    while cluster.partitions_for_topic(topic) is None:
        producer._sender.add_topic(topic)
        answered = threading.Event()
        future = cluster.request_update()
        future.add_both(lambda _, answered=answered: answered.set())
        producer._sender.wakeup()
        answered.wait(max(0.0, deadline - time.monotonic()))
        if topic in cluster.unauthorized_topics:
            raise errors.TopicAuthorizationFailedError({topic})
        said = future.exception or said
        if time.monotonic() > deadline:
            raise said
        time.sleep(0.2)


def send_offsets(producer: KafkaProducer, offsets: Any, membership: Any, seconds: float) -> None:
    """As `send_offsets_to_transaction`, which waits for ever."""
    manager = producer._transaction_manager
    _finish(producer, manager.send_offsets_to_transaction(offsets, membership), seconds)


def commit(producer: KafkaProducer, seconds: float) -> None:
    """As `commit_transaction`, which waits for ever."""
    _finish(producer, producer._transaction_manager.begin_commit(), seconds)


def abort(producer: KafkaProducer, seconds: float) -> None:
    """As `abort_transaction`, which waits for ever."""
    _finish(producer, producer._transaction_manager.begin_abort(), seconds)


def _finish(producer: KafkaProducer, result: Any, seconds: float) -> None:
    producer._sender.wakeup()
    if not result.wait(seconds * 1000):
        raise errors.KafkaTimeoutError(f"no answer within {seconds:.0f} s")


def refused_by_broker(future: Any) -> bool:
    """Whether the broker refused this message, not only the batch before it.

    The first refusal ends a transaction; what was not sent yet then fails with the very same
    exception.  Only the offset differs that the client notes (None, and -1 where it gave up).
    """
    outcome = future._produce_future.value
    return outcome is not None and outcome[0] is None


def abandon(producer: KafkaProducer) -> None:
    """Let a producer's thread end without waiting for anything.

    `close` gives up half-way where unsent messages do not go out in time.
    """
    producer._sender.force_close()


def api_versions(admin: KafkaAdminClient) -> dict[str, int]:
    """The newest version of each request that the broker knows, by the request's name.

    The client's own method raises where a broker is newer than the client.
    """
    names = {key.value: key.name for key in ApiKey}
    known = admin._manager.broker_version_data.api_versions
    return {names[key]: newest for key, (_, newest) in known.items() if key in names}


def broker_version(admin: KafkaAdminClient) -> tuple[int, ...]:
    """The release that the client takes the broker for."""
    version: tuple[int, ...] = admin._manager.broker_version
    return version
