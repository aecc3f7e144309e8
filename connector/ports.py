"""The few protocols that the pipeline needs.

Where records come from, where state is kept, where messages go, and what time it is.
`connector.adapters` has the real and the in-memory ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from connector.domain.records import Cursor, Outgoing, Record, TopicPartition
from connector.domain.rows import ProgressRow
from connector.engine.storage import Storage


@dataclass
class Polled:
    """What one poll brought.

    Attributes:
        assigned: partitions that are ours from now on; they deliver nothing before `Source.seek`.
        revoked: partitions that are not ours any more (given up in order, or lost).
        records: per partition, in order of offset.
        membership: the group metadata as it was at this poll; a publisher hands it to the broker,
            which refuses an outdated one.
        reachable: False while no broker has a connection to this process.
    """

    assigned: Sequence[TopicPartition] = ()
    revoked: Sequence[TopicPartition] = ()
    records: Mapping[TopicPartition, Sequence[Record]] = field(default_factory=dict)
    membership: object = None
    reachable: bool = True


class Source(Protocol):
    """The consumer of the annotations topic. Used from one thread, but for `wake`."""

    def open(self) -> None:
        """Connect and subscribe. Raises DependencyError, ConfigurationError."""
        ...

    def poll(self, timeout_s: float) -> Polled:
        """Wait up to the timeout for records. Raises DependencyError, Fenced."""
        ...

    def committed(self, partition: TopicPartition) -> Cursor | None:
        """The group's cursor, waiting out an unfinished transaction. Raises DependencyError."""
        ...

    def bounds(self, partition: TopicPartition) -> tuple[int, int]:
        """First offset that the log still has, and the offset after its last."""
        ...

    def seek(self, partition: TopicPartition, offset: int) -> None:
        """Deliver the partition from there on."""
        ...

    def pause(self, partition: TopicPartition) -> None:
        """Deliver nothing of the partition until `seek`; no error where it is not ours."""
        ...

    def commit(self, cursors: Mapping[TopicPartition, Cursor]) -> None:
        """Commit outside a transaction (at_least_once only)."""
        ...

    def partitions(self) -> int:
        """How many partitions the annotations topic has now."""
        ...

    def wake(self) -> None:
        """Cut the present or the next poll short; for any thread."""
        ...

    def close(self) -> None:
        """Leave the group; never raises."""
        ...


class Sink(Protocol):
    """The producer. Used from the publisher's thread alone once `open` has returned."""

    def open(self) -> None:
        """Connect; fences a former process of the same instance. Raises DependencyError."""
        ...

    def publish(
        self,
        messages: Sequence[Outgoing],
        cursors: Mapping[TopicPartition, Cursor],
        membership: object,
    ) -> None:
        """All messages and the cursors, or nothing, as one transaction.

        Without transactions (at_least_once): returns once every message is acknowledged; the
        caller commits the cursors.

        Raises:
            Fenced: another process of this instance, or another member of the group, took over.
            DependencyError: the outcome is unknown; open a new sink and recover.
        """
        ...

    def close(self) -> None:
        """Let go within a few seconds, aborting what is open; never raises."""
        ...


class Transaction(Storage, Protocol):
    """One database transaction, begun for one partition."""

    def advance(self, expected: int, following: int) -> None:
        """Compare-and-swap of the partition's next offset; takes its row until the end.

        Raises:
            Fenced: the partition is not at `expected`: somebody else has gone on with it.
        """
        ...

    def trim_outbox(self, partition: TopicPartition, before: Cursor) -> None:
        """Drop outgoing messages that are published."""
        ...


class Store(Protocol):
    """The database."""

    def progress(self, partition: TopicPartition) -> ProgressRow | None:
        """The partition's row, None before its first record."""
        ...

    def partitions(self, topic: str, present: int) -> int:
        """How many partitions the topic had when this database first met it.

        Notes `present` where it never has.
        """
        ...

    def transaction(self, partition: TopicPartition) -> AbstractContextManager[Transaction]:
        """Commits at the end of the block, rolls back if it raises.

        Raises:
            DependencyError: also where the commit's outcome is unknown: read `progress` again.
        """
        ...

    def lookups(self) -> AbstractContextManager[Storage]:
        """Look-ups of what is committed, while a transaction may be open in another thread.

        For one thread at a time. `save` is not for these.
        """
        ...

    def another(self) -> Store:
        """The same database with connections of its own, for another thread, which closes it.

        Raises:
            DependencyError: it cannot be reached.
        """
        ...

    def outbox(self, partition: TopicPartition, start: Cursor, limit: int) -> list[Outgoing]:
        """Unpublished messages from the cursor on, in order. Safe from another thread."""
        ...

    def close(self) -> None:
        """Give up the connections; never raises."""
        ...


class Clock(Protocol):
    """Machine time, for waiting and for logs: never for state."""

    def monotonic(self) -> float:
        """Seconds since some start."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait."""
        ...
