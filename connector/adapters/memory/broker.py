"""A broker in memory, for tests and for the demo where no real one can be had.

Transactions are atomic, a group's cursor rides in them, partitions move between members as in
Kafka, and the failures that a real broker has now and then come when they are asked for.
"""

from __future__ import annotations

import random
import threading
import time
from collections import deque
from collections.abc import Callable
from enum import Enum

from connector.adapters.kafka.partitioner import partition_for
from connector.domain.errors import ConfigurationError
from connector.domain.records import Cursor, Headers, Record, TopicPartition

from .group import Group
from .log import PartitionLog, State, Transaction


class Fault(Enum):
    """What happens to the next publish."""

    LOST = "lost"
    """It fails before the commit; nothing is written."""
    UNKNOWN = "unknown"
    """It is written, but the answer gets lost: the caller sees a DependencyError all the same."""
    HELD = "held"
    """The process dies in it: the transaction stays open until its id is used again."""
    FENCED = "fenced"
    """Another process has taken the transactional id."""


def _now() -> int:
    return time.time_ns() // 1000


class MemoryBroker:
    """Topics, groups and transactional ids. Safe for threads.

    Sources and sinks are made with `MemorySource` and `MemorySink`.
    """

    def __init__(self, clock: Callable[[], int] = _now, seed: int = 0) -> None:
        """Empty.

        Args:
            clock: microseconds since 1970, the timestamp of what is appended.
            seed: of the partitions of records without a key.
        """
        self.changed = threading.Condition(threading.RLock())
        self.faults: deque[Fault] = deque()
        self._clock = clock
        self._random = random.Random(seed)
        self._topics: dict[str, list[PartitionLog]] = {}
        self._limits: dict[str, int] = {}
        self._groups: dict[str, Group] = {}
        self._epochs: dict[str, int] = {}
        self._open: dict[str, Transaction] = {}
        self._members = 0

    def create_topic(
        self, name: str, partitions: int = 1, max_message_bytes: int = 1_048_588
    ) -> None:
        """Make it, or leave it as it is; more partitions than it has are added."""
        with self.changed:
            logs = self._topics.setdefault(name, [])
            logs.extend(PartitionLog(name, index) for index in range(len(logs), partitions))
            self._limits.setdefault(name, max_message_bytes)
            self.changed.notify_all()

    def produce(
        self,
        topic: str,
        value: bytes | None,
        key: bytes | None = None,
        headers: Headers = (),
        *,
        partition: int | None = None,
        timestamp: int | None = None,
    ) -> tuple[TopicPartition, int]:
        """Append a record outside any transaction; its place and offset."""
        with self.changed:
            log = self.log_for(topic, key, partition)
            when = self._clock() if timestamp is None else timestamp
            offset = log.append(key, value, headers, when)
            self.changed.notify_all()
            return TopicPartition(topic, log.partition), offset

    def read(self, topic: str, *, committed: bool = True, start: int = 0) -> list[Record]:
        """All records of the topic as a subscriber gets them, partition by partition."""
        with self.changed:
            return [
                record
                for log in self.logs(topic)
                for record in log.read(start, committed=committed)
            ]

    def delete_before(self, partition: TopicPartition, offset: int) -> None:
        """What retention does."""
        with self.changed:
            self.log(partition).delete_before(offset)

    def cursor(self, group: str, partition: TopicPartition) -> Cursor | None:
        """The group's cursor as it is, whatever is unfinished."""
        with self.changed:
            return self.group(group).cursors.get(partition)

    def set_cursor(self, group: str, partition: TopicPartition, cursor: Cursor | None) -> None:
        """What an operator does who resets a group; None: expired."""
        with self.changed:
            cursors = self.group(group).cursors
            cursors.pop(partition, None)
            if cursor is not None:
                cursors[partition] = cursor

    def expire_member(self, group: str, member: str) -> None:
        """Take a member for dead, as after a missed heartbeat: it learns of it at its next poll."""
        with self.changed:
            self.group(group).leave(member)
            self.changed.notify_all()

    def expire_transactions(self) -> None:
        """Abort what is open, as the broker does after the transaction's timeout."""
        with self.changed:
            for transactional_id in list(self._open):
                self.begin_as(transactional_id)

    # For sources and sinks, which hold `changed`.

    def logs(self, topic: str) -> list[PartitionLog]:
        """Raises ConfigurationError where there is no such topic."""
        if topic not in self._topics:
            raise ConfigurationError(f"topic {topic} does not exist")
        return self._topics[topic]

    def log(self, partition: TopicPartition) -> PartitionLog:
        """Raises ConfigurationError where there is no such topic."""
        return self.logs(partition.topic)[partition.partition]

    def log_for(self, topic: str, key: bytes | None, partition: int | None = None) -> PartitionLog:
        """Where a record of that key goes."""
        logs = self.logs(topic)
        if partition is None:
            partition = (
                self._random.randrange(len(logs)) if key is None else partition_for(key, len(logs))
            )
        return logs[partition]

    def limit(self, topic: str) -> int:
        """Most bytes of a message."""
        self.logs(topic)
        return self._limits[topic]

    def now(self) -> int:
        """Microseconds since 1970."""
        return self._clock()

    def group(self, name: str) -> Group:
        """Made when it is first asked for."""
        return self._groups.setdefault(name, Group(name))

    def new_member(self, group: str) -> str:
        """An id that nobody had."""
        self._members += 1
        return f"{group}-{self._members:06d}"

    def begin_as(self, transactional_id: str) -> int:
        """Fence whoever used the id and abort what is open; the new epoch."""
        left = self._open.pop(transactional_id, None)
        if left is not None:
            left.end(State.ABORTED)
        self._epochs[transactional_id] = self._epochs.get(transactional_id, -1) + 1
        self.changed.notify_all()
        return self._epochs[transactional_id]

    def epoch(self, transactional_id: str) -> int:
        """The one that may write."""
        return self._epochs.get(transactional_id, -1)

    def hold(self, transactional_id: str, transaction: Transaction) -> None:
        """Leave it open, as a killed process does."""
        self._open[transactional_id] = transaction
