"""The outgoing topics in memory: all messages of a publish and the cursors, or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from connector.adapters.kafka.letters import reduced
from connector.domain.errors import DependencyError, Fenced
from connector.domain.records import Cursor, Outgoing, TopicPartition

from .broker import Fault, MemoryBroker
from .group import Membership
from .log import State, Transaction


class MemorySink:
    """Implements `connector.ports.Sink` on a `MemoryBroker`, with transactions."""

    def __init__(
        self, broker: MemoryBroker, *, transactional_id: str, dead_topic: str | None = None
    ) -> None:
        """Nothing happens before `open`.

        Args:
            broker: where the topics are.
            transactional_id: a sink of the same id fences this one.
            dead_topic: messages of this topic may go without their value if they are too large.
        """
        self._broker = broker
        self._transactional_id = transactional_id
        self._dead_topic = dead_topic
        self._epoch: int | None = None

    def open(self) -> None:
        """Abort what a former process of the same id left open, and fence it."""
        with self._broker.changed:
            self._epoch = self._broker.begin_as(self._transactional_id)

    def publish(
        self,
        messages: Sequence[Outgoing],
        cursors: Mapping[TopicPartition, Cursor],
        membership: object,
    ) -> None:
        """As `KafkaSink.publish`, with the broker's next fault if there is one."""
        broker = self._broker
        with broker.changed:
            epoch, self._epoch = self._epoch, None  # until the outcome is known
            if epoch is None:
                raise DependencyError("the sink is not open, or its last outcome is unknown")
            fault = broker.faults.popleft() if broker.faults else None
            if fault is Fault.FENCED:
                broker.begin_as(self._transactional_id)
            if epoch != broker.epoch(self._transactional_id):
                raise Fenced(f"another process uses the id {self._transactional_id}")
            if fault is Fault.LOST:
                raise DependencyError("the connection was lost before the commit")
            groups = self._groups(cursors, membership)
            messages = [
                reduced(message, broker.limit(message.topic), self._dead_topic)
                for message in messages
            ]
            transaction = Transaction()
            for message in messages:
                broker.log_for(message.topic, message.key).append(
                    message.key, message.value, message.headers, broker.now(), transaction
                )
            for partition, cursor in cursors.items():
                transaction.cursors[groups, partition] = cursor
                broker.group(groups).pending.append(transaction)
            if fault is Fault.HELD:
                broker.hold(self._transactional_id, transaction)
                raise DependencyError("the process died with the transaction open")
            transaction.end(State.COMMITTED)
            broker.group(groups).cursors.update(cursors)
            broker.changed.notify_all()
            if fault is Fault.UNKNOWN:
                raise DependencyError("the answer to the commit was lost")
            self._epoch = epoch

    def _groups(self, cursors: Mapping[TopicPartition, Cursor], membership: object) -> str:
        """The group that the cursors are of, the membership being valid."""
        if not cursors:
            return ""
        if not isinstance(membership, Membership):
            raise Fenced(f"{self._transactional_id} is not a member of the group any more")
        if not self._broker.group(membership.group).allows(membership):
            raise Fenced(f"{membership} is outdated: the group has moved on")
        return membership.group

    def close(self) -> None:
        """Let go."""
        self._epoch = None


class MemoryPlainSink:
    """Implements `connector.ports.Sink` on a `MemoryBroker`, without transactions."""

    def __init__(self, broker: MemoryBroker, *, dead_topic: str | None = None) -> None:
        """Nothing happens before `open`; `dead_topic` as for `MemorySink`."""
        self._broker = broker
        self._dead_topic = dead_topic
        self._opened = False

    def open(self) -> None:
        """Ready."""
        self._opened = True

    def publish(
        self,
        messages: Sequence[Outgoing],
        cursors: Mapping[TopicPartition, Cursor],
        membership: object,
    ) -> None:
        """As `PlainSink.publish`. `Fault.LOST` and `HELD` lose the second half of the messages."""
        broker = self._broker
        with broker.changed:
            if not self._opened:
                raise DependencyError("the sink is not open, or its last outcome is unknown")
            fault = broker.faults.popleft() if broker.faults else None
            if fault in (Fault.LOST, Fault.HELD):
                messages = messages[: len(messages) // 2]
            for message in messages:
                sent = reduced(message, broker.limit(message.topic), self._dead_topic)
                broker.produce(sent.topic, sent.value, sent.key, sent.headers)
            if fault is not None:
                self._opened = False
                raise DependencyError("some messages may not have arrived")

    def close(self) -> None:
        """Let go."""
        self._opened = False
