"""Partitions with transactions, in memory, as a reader of Kafka sees them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from connector.domain.records import Cursor, Headers, Record, TopicPartition


class State(Enum):
    """Of a transaction."""

    OPEN = "open"
    COMMITTED = "committed"
    ABORTED = "aborted"


@dataclass(eq=False)
class Transaction:
    """Messages and cursors that take effect together, or not at all."""

    state: State = State.OPEN
    logs: list[PartitionLog] = field(default_factory=list)
    cursors: dict[tuple[str, TopicPartition], Cursor] = field(default_factory=dict)
    """By group and partition."""

    def end(self, state: State) -> None:
        """Commit or abort; a marker takes an offset in each partition, as in Kafka."""
        self.state = state
        for log in self.logs:
            log.mark()


@dataclass(eq=False)
class PartitionLog:
    """One partition. Offsets are never reused; those of markers and aborted records are gaps."""

    topic: str
    partition: int
    first: int = 0
    entries: list[tuple[Record | None, Transaction | None]] = field(default_factory=list)
    unfinished: list[Transaction] = field(default_factory=list)

    @property
    def end(self) -> int:
        """The next record's offset."""
        return self.first + len(self.entries)

    @property
    def stable_end(self) -> int:
        """Where the first unfinished transaction begins, else the end."""
        self.unfinished = [one for one in self.unfinished if one.state is State.OPEN]
        if self.unfinished:
            for offset, (_, transaction) in enumerate(self.entries, self.first):
                if transaction is not None and transaction.state is State.OPEN:
                    return offset
        return self.end

    def append(
        self,
        key: bytes | None,
        value: bytes | None,
        headers: Headers,
        timestamp: int,
        transaction: Transaction | None = None,
    ) -> int:
        """The new record's offset."""
        offset = self.end
        record = Record(self.topic, self.partition, offset, timestamp, key, value, headers)
        self.entries.append((record, transaction))
        if transaction is not None and self not in transaction.logs:
            transaction.logs.append(self)
            self.unfinished.append(transaction)
        return offset

    def mark(self) -> None:
        """A control record."""
        self.entries.append((None, None))

    def read(self, start: int, *, committed: bool = True) -> Iterator[Record]:
        """Records from `start` on; `committed`: as with read_committed."""
        for index in range(max(0, start - self.first), len(self.entries)):
            record, transaction = self.entries[index]
            state = None if transaction is None else transaction.state
            if committed and state is State.OPEN:
                return
            if record is not None and not (committed and state is State.ABORTED):
                yield record

    def delete_before(self, offset: int) -> None:
        """What retention does."""
        gone = min(max(0, offset - self.first), len(self.entries))
        del self.entries[:gone]
        self.first += gone
