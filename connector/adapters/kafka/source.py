"""The annotations topic as a member of a consumer group."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kafka import KafkaConsumer, errors
from kafka.coordinator.assignors.range import RangePartitionAssignor

from connector.domain.errors import ConfigurationError, DependencyError, Fenced
from connector.domain.records import Cursor, TopicPartition
from connector.ports import Polled

from . import quirks
from .client import ClientSettings
from .connecting import PATIENCE, connecting, within
from .duties import Duties, RevokeHook
from .faults import explained
from .values import client_partition, offset_and_metadata, sequence_of, unreadable

log = logging.getLogger(__name__)

_REJOINS = (
    errors.UnknownMemberIdError,
    errors.IllegalGenerationError,
    errors.RebalanceInProgressError,
    errors.MemberIdRequiredError,
)

_SLICE_MS = 100
"""`wake` is noticed this soon: the client has no way to cut a poll short."""

_KNOWN_S = 2.0
"""A broker that has just started may not know its topics yet."""

_ANSWER_S = 30.0
"""How long a single question to the broker may take."""


class KafkaSource:
    """Implements `connector.ports.Source`.

    Partitions are given out by the range assignor, eagerly: at each rebalance all are revoked and
    the new ones assigned, paused until `seek`.  With `group_instance_id` the member is a static
    one: started again within its session timeout it has its partitions back at once, without a
    rebalance, even after a `kill -9`; but it does not give them up on `close`, and a second
    process of the same id takes them from the first, which ends as `Fenced`.
    """

    def __init__(
        self,
        settings: ClientSettings,
        *,
        group: str,
        topic: str,
        on_revoke: RevokeHook | None = None,
        group_instance_id: str | None = None,
        batch_size: int = 1000,
        batch_bytes: int = 16 * 1024 * 1024,
        committed_timeout_s: float = 60.0,
    ) -> None:
        """Nothing is connected before `open`.

        Args:
            settings: where the cluster is.
            group: id of the consumer group.
            topic: the annotations.
            on_revoke: called on the client's I/O thread, which sends no heartbeats meanwhile:
                it should return within 5 s, and must not call this source.
            group_instance_id: makes the member static; only for an instance whose name survives
                a restart.
            batch_size: most records of one poll.
            batch_bytes: most bytes of keys and values of one poll, but for one record more.
            committed_timeout_s: how long `committed` waits for another's transaction to end.
        """
        self._settings = settings
        self._group = group
        self._topic = topic
        self._instance_id = group_instance_id
        self._batch_size = batch_size
        self._batch_bytes = batch_bytes
        self._committed_timeout_s = committed_timeout_s
        self._budget = quirks.Budget()
        self._duties = Duties(on_revoke)
        self._consumer: KafkaConsumer | None = None
        self._woken = False

    def open(self) -> None:
        """Connect, check that the topic is there, subscribe. Blocks up to a minute.

        Raises:
            DependencyError: no broker answers.
            ConfigurationError: a setting is wrong, access is denied or there is no such topic.
        """
        with connecting("consumer", self._settings) as client:
            consumer = KafkaConsumer(
                **self._settings.consumer(
                    **PATIENCE,
                    # Long polls delay what other partitions wait for: a seek, above all.
                    fetch_max_wait_ms=200,
                    # One record may be as large as its topic allows, and a batch is never cut.
                    receive_message_max_bytes=1 << 30,
                    # A killed member's partitions are free after this.
                    session_timeout_ms=15_000,
                    metrics_enabled=False,
                    kafka_client=client,
                ),
                group_id=self._group,
                group_instance_id=self._instance_id,
                auto_offset_reset="none",
                enable_auto_commit=False,
                isolation_level="read_committed",
                allow_auto_create_topics=False,
                partition_assignment_strategy=(RangePartitionAssignor,),
                max_poll_records=self._batch_size,
            )
        quirks.prepare(consumer, self._budget)
        self._consumer = consumer
        self._duties.consumer = consumer
        try:
            consumer.subscribe([self._topic], listener=self._duties)
            self.partitions()
        except BaseException:
            self.close()
            raise

    def poll(self, timeout_s: float) -> Polled:
        """Wait up to the timeout for records, or for a change of what is ours.

        Blocks longer only while a rebalance waits for the hook.

        Raises:
            DependencyError: the client's own machinery failed.
            ConfigurationError: access is denied, or the group is used by something else.
            Refused: the log cannot be read on from where it is.
            Fenced: another process has this one's `group_instance_id`.
        """
        deadline = time.monotonic() + timeout_s
        duties = self._duties
        while True:
            left_ms = max(0.0, (deadline - time.monotonic()) * 1000)
            fetched = self._fetch(min(left_ms, _SLICE_MS))
            if duties.failure is not None:
                failure, duties.failure = duties.failure, None
                raise failure
            if fetched or duties.changed or self._woken or left_ms <= _SLICE_MS:
                break
        self._woken = False
        if self._instance_id is not None and quirks.heartbeats_refused(self._open_consumer()):
            raise Fenced(
                f"another process has joined group {self._group} as {self._instance_id}: "
                "give each process an --instance of its own"
            )
        assigned, revoked = duties.report()
        return Polled(
            assigned=assigned,
            revoked=revoked,
            records={TopicPartition(*partition): records for partition, records in fetched.items()},
            membership=duties.membership,
            reachable=bool(fetched) or quirks.connected(self._open_consumer()),
        )

    def _fetch(self, timeout_ms: float) -> Mapping[Any, Sequence[Any]]:
        self._budget.left = self._batch_bytes
        try:
            fetched: Mapping[Any, Sequence[Any]] = self._open_consumer().poll(timeout_ms=timeout_ms)
            return fetched
        except quirks.Unreadable as damage:
            raise unreadable(damage) from damage.cause
        except errors.KafkaError as error:
            if error.retriable or isinstance(error, _REJOINS):
                # The broker is away or the group is changing; the next poll goes on with it.
                log.debug("poll is repeated: %r", error)
                time.sleep(min(timeout_ms, 50) / 1000)
                return {}
            raise explained(error, self._doing("poll")) from error
        except RuntimeError as error:
            raise DependencyError(f"{self._doing('poll')}: {error}") from error

    def committed(self, partition: TopicPartition) -> Cursor | None:
        """The group's cursor. Waits out an unfinished transaction, a minute at most.

        A killed producer's transaction is ended by the broker 15 to 25 s after it began.

        Raises:
            DependencyError: the broker does not answer, or the transaction does not end.
        """
        with self._asking("read the committed offset"):
            found = self._open_consumer().committed(
                client_partition(partition),
                metadata=True,
                timeout_ms=self._committed_timeout_s * 1000,
            )
        if found is None:
            return None
        return Cursor(found.offset, sequence_of(found.metadata, partition))

    def bounds(self, partition: TopicPartition) -> tuple[int, int]:
        """First offset that the log still has, and the end of what is committed in it.

        Blocks up to a minute. Raises DependencyError.
        """
        where = client_partition(partition)
        consumer = self._open_consumer()
        with self._asking("read where the log begins and ends"):
            first = consumer.beginning_offsets([where], timeout_ms=_ANSWER_S * 1000)[where]
            last = consumer.end_offsets([where], timeout_ms=_ANSWER_S * 1000)[where]
        return int(first), int(last)

    def seek(self, partition: TopicPartition, offset: int) -> None:
        """Deliver the partition from there on. Does not block.

        Raises:
            ValueError: the partition is not assigned; a mistake of the caller's.
        """
        where = client_partition(partition)
        consumer = self._open_consumer()
        if where not in consumer.assignment():
            raise ValueError(f"{partition} is not assigned")
        consumer.seek(where, offset)
        consumer.resume(where)

    def pause(self, partition: TopicPartition) -> None:
        """Deliver nothing of the partition until `seek`; nothing where it is not ours."""
        where = client_partition(partition)
        consumer = self._open_consumer()
        if where in consumer.assignment():
            consumer.pause(where)

    def commit(self, cursors: Mapping[TopicPartition, Cursor]) -> None:
        """Commit outside a transaction. Blocks up to half a minute.

        While the group is changing nothing may be committed; that is not an error here: at least
        once, the partition's next owner publishes again what was not committed.

        Raises:
            DependencyError: the broker does not answer.
            Fenced: another process has this one's `group_instance_id`.
        """
        offsets = {
            client_partition(partition): offset_and_metadata(cursor)
            for partition, cursor in cursors.items()
        }
        if not offsets:
            return
        try:
            with self._asking("commit offsets"):
                self._open_consumer().commit(offsets, timeout_ms=_ANSWER_S * 1000)
        except Fenced as refusal:
            if isinstance(refusal.__cause__, errors.FencedInstanceIdError):
                raise
            log.warning("offsets were not committed, since the group has changed: %s", refusal)

    def partitions(self) -> int:
        """How many partitions the topic has now, by the broker. Blocks up to half a minute.

        Raises:
            DependencyError: the broker does not answer.
            ConfigurationError: there is no such topic.
        """
        consumer = self._open_consumer()
        deadline = time.monotonic() + _KNOWN_S
        while True:
            with (
                self._asking("read the topic's partitions"),
                contextlib.suppress(errors.UnknownTopicOrPartitionError),
            ):
                quirks.refresh_metadata(consumer, _ANSWER_S)
            count = len(quirks.known_partitions(consumer, self._topic))
            if count:
                return count
            if time.monotonic() > deadline:
                raise ConfigurationError(
                    f"topic {self._topic} does not exist on {self._settings.where}: make it with "
                    "`crowdresolve topics create`"
                )
            time.sleep(0.2)

    def wake(self) -> None:
        """Cut the present or the next poll short. For any thread, and for signal handlers."""
        self._woken = True

    def close(self) -> None:
        """Leave the group, calling the hook for what is still ours. Some seconds; never raises."""
        consumer, self._consumer = self._consumer, None
        if consumer is not None:
            within(10.0, "close the consumer", lambda: consumer.close(False, timeout_ms=5000))

    def _open_consumer(self) -> KafkaConsumer:
        if self._consumer is None:
            raise DependencyError("the source is not open")
        return self._consumer

    def _doing(self, what: str) -> str:
        return f"cannot {what}: group {self._group}, topic {self._topic} on {self._settings.where}"

    @contextlib.contextmanager
    def _asking(self, what: str) -> Iterator[None]:
        try:
            yield
        except errors.KafkaError as error:
            raise explained(error, self._doing(what)) from error
        except RuntimeError as error:
            raise DependencyError(f"{self._doing(what)}: {error}") from error
