"""The outgoing topics: all messages of a publish and the group's offsets, or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from connector.domain.errors import Fenced
from connector.domain.records import Cursor, Outgoing, TopicPartition
from connector.pipeline.failpoints import failpoint

from . import quirks
from .client import ClientSettings
from .faults import explained
from .outlet import Outlet
from .producing import TooLarge, deliver, deliver_reduced
from .transacting import TransactionalOutlet
from .values import client_partition, offset_and_metadata


class KafkaSink(TransactionalOutlet):
    """Implements `connector.ports.Sink` with Kafka's transactions."""

    def publish(
        self,
        messages: Sequence[Outgoing],
        cursors: Mapping[TopicPartition, Cursor],
        membership: object,
    ) -> None:
        """All messages and the cursors, or nothing, as one transaction.

        Blocks some milliseconds as a rule; where the broker does not answer, for longer than a
        transaction may be open, but not for a minute.

        Raises:
            Fenced: another process of this instance, or another member of the group, took over.
            DependencyError: the outcome is unknown; open a new sink and recover.
            Refused: a message is too large for its topic (a dead letter goes without its value).
        """
        if not messages and not cursors:
            return
        if cursors and getattr(membership, "generation_id", -1) < 0:
            # The broker checks nothing for such a one: an outdated cursor would count.
            raise Fenced(f"{self._transactional_id} is not a member of the group any more")
        deliver_reduced(
            messages,
            self._dead_topic,
            self._compressed,
            lambda reduced: self._transact(reduced, cursors, membership),
        )

    def _transact(
        self,
        messages: Sequence[Outgoing],
        cursors: Mapping[TopicPartition, Cursor],
        membership: object,
    ) -> None:
        producer = self._take()
        try:
            producer.begin_transaction()
            with self._watching("sending"):
                deliver(producer, messages, self._answer_s)
            failpoint("after_send")
            if cursors:
                offsets = {
                    client_partition(partition): offset_and_metadata(cursor)
                    for partition, cursor in cursors.items()
                }
                with self._watching("sending the offsets"):
                    quirks.send_offsets(producer, offsets, membership, self._answer_s)
            failpoint("before_kafka_commit")
            with self._watching("committing the transaction"):
                quirks.commit(producer, self._answer_s)
            failpoint("after_kafka_commit")
        except TooLarge:
            # A refused batch leaves a gap in the client's sequence numbers. A new producer begins
            # anew, and aborts what this one has open.
            self._drop(producer)
            self.open()
            raise
        except Exception as error:
            failure = self._explained(producer, error, "publish as")
            self._discard(producer)
            raise failure from error
        except BaseException:
            self._discard(producer)
            raise
        self._give_back(producer)


class PlainSink(Outlet):
    """Implements `connector.ports.Sink` without transactions: at least once."""

    kind = "producer"

    def __init__(
        self,
        settings: ClientSettings,
        *,
        dead_topic: str | None = None,
        topics: Sequence[str] = (),
    ) -> None:
        """Nothing is connected before `open`.

        Args:
            settings: where the cluster is.
            dead_topic: messages of this topic may go without their value if they are too large.
            topics: must exist, or `open` says so.
        """
        super().__init__(settings, dead_topic=dead_topic, topics=topics)

    def open(self) -> None:
        """Connect. Blocks up to a minute.

        Raises:
            DependencyError: no broker answers.
            ConfigurationError: a setting is wrong, access is denied or a topic is missing.
        """
        self._producer = self._connect()

    def publish(
        self,
        messages: Sequence[Outgoing],
        cursors: Mapping[TopicPartition, Cursor],
        membership: object,
    ) -> None:
        """Return once every message is acknowledged; the caller commits the cursors.

        Blocks up to a minute.

        Raises:
            DependencyError: some may not have arrived; open a new sink and send all again.
            Refused: a message is too large for its topic (a dead letter goes without its value).
        """
        deliver_reduced(messages, self._dead_topic, self._compressed, self._deliver)

    def _deliver(self, messages: Sequence[Outgoing]) -> None:
        producer = self._take()
        try:
            deliver(producer, messages)
        except TooLarge:
            # The client counts a refused message of an idempotent producer as fatal.
            self._drop(producer)
            self.open()
            raise
        except Exception as error:
            self._drop(producer)
            cause = quirks.last_error(producer) or error
            raise explained(cause, f"cannot send to {self._settings.where}") from error
        except BaseException:
            self._drop(producer)
            raise
        self._give_back(producer)
