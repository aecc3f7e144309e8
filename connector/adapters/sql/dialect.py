"""What the store needs of a database beyond SQL that both understand."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from typing import Any

from sqlalchemy import URL, Table

from connector.domain.records import TopicPartition
from connector.domain.rows import ProgressRow

Values = Sequence[Any]


class Dialect(ABC):
    """One database's way. Connections are the driver's own: the hot path has no room for more.

    Attributes:
        parameter: how a parameter is written.
        among_numbers, among_texts: a condition's right side, for one parameter of `numbers` or
            `texts`.
    """

    parameter: str
    among_numbers: str
    among_texts: str

    def __init__(self, address: URL) -> None:
        self.address = address

    @abstractmethod
    def connect(self) -> tuple[Any, list[str]]:
        """A connection outside any transaction, usable from any one thread at a time; warnings."""

    @abstractmethod
    def begin(self, connection: Any) -> None:
        """Begin a transaction that writes."""

    @abstractmethod
    def free(self, partition: TopicPartition, obstacle: BaseException | None) -> None:
        """After `advance` failed for that reason: end what stands in the way, where one may."""

    @abstractmethod
    def execute(self, connection: Any, statement: str, values: Values = ()) -> int:
        """Run it; how many rows it changed."""

    @abstractmethod
    def fetch(self, connection: Any, statement: str, values: Values = ()) -> list[tuple[Any, ...]]:
        """Run it; all rows."""

    @abstractmethod
    def maker(self, row: Any, table: Table) -> Callable[[tuple[Any, ...]], Any]:
        """From the driver's values to a row."""

    @abstractmethod
    def by_index(self, name: str) -> str:
        """What stands behind a table's name where it must be read by that index."""

    @abstractmethod
    def numbers(self, values: Collection[int]) -> Any:
        """A parameter for `among_numbers`."""

    @abstractmethod
    def texts(self, values: Collection[str]) -> Any:
        """A parameter for `among_texts`."""

    @abstractmethod
    def write(self, connection: Any, batch: Batch) -> None:
        """Write it, in whatever order is fastest.

        Raises:
            LookupError: a row that replaces one has none to replace.
        """


class Batch:
    """Rows to write, by table; and the partition's counters."""

    def __init__(self, partition: TopicPartition, counters: ProgressRow) -> None:
        self.partition = partition
        self.counters = counters
        self.deletes: list[tuple[Table, Sequence[Values]]] = []
        self.inserts: list[tuple[Table, Sequence[Values]]] = []
        self.updates: list[tuple[Table, Sequence[Values]]] = []
        self.upserts: list[tuple[Table, Sequence[Values]]] = []

    def delete(self, table: Table, keys: Sequence[Values]) -> None:
        """Rows that the table has, by their keys; they go before any come."""
        if keys:
            self.deletes.append((table, keys))

    def insert(self, table: Table, rows: Sequence[Values]) -> None:
        """Rows that the table does not have."""
        if rows:
            self.inserts.append((table, rows))

    def update(self, table: Table, rows: Sequence[Values]) -> None:
        """Rows that replace one each."""
        if rows:
            self.updates.append((table, rows))

    def upsert(self, table: Table, rows: Sequence[Values]) -> None:
        """Either."""
        if rows:
            self.upserts.append((table, rows))


def expect(changed: int, expected: int, table: Table) -> None:
    """A changed row that is not there would be lost in silence: it is a bug, so it crashes."""
    if changed != expected:
        raise LookupError(f"{table.name}: {expected} rows to replace or end, {changed} found")


COUNTERS = (
    'UPDATE partition_progress SET "time" = {0}, received = {0}, applied = {0}, duplicates = {0},'
    ' stale = {0}, dead = {0} WHERE topic = {0} AND "partition" = {0}'
)


def counter_values(row: ProgressRow, partition: TopicPartition) -> Values:
    """The parameters of `COUNTERS`. `next_offset` is the compare-and-swap's alone."""
    return (row.time, *row[4:], partition.topic, partition.partition)
