"""`SqlStore`: the database as `connector.ports.Store`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock
from typing import Any

import msgspec

from connector.domain.records import Cursor, Headers, Outgoing, TopicPartition
from connector.domain.rows import ProgressRow

from . import schema, statements
from .database import parsed
from .dialect import Dialect
from .failures import explained
from .postgres import Postgres
from .sqlite import Sqlite
from .transaction import START, SqlTransaction

_CLOSE_WAIT_S = 5.0
_NOWHERE = TopicPartition("", 0)


def open_store(url: str) -> SqlStore:
    """Connect to a database that has the schema (`connector.adapters.sql.migrate`).

    Raises:
        ConfigurationError: `--database` is malformed or not usable.
        DependencyError: the database cannot be reached.
    """
    address = parsed(url)
    postgres = address.drivername.startswith("postgresql")
    return SqlStore(Postgres(address) if postgres else Sqlite(address))


class SqlStore:
    """See `connector.ports.Store`.

    Three connections: one that writes, one for `lookups` beside it, one for `outbox`. One that
    fails is given up and made anew at the next call.

    Attributes:
        warnings: what an operator should know about the database, from connecting.
    """

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._writer: Any = None
        self._reader: Any = None
        self._looker: Any = None
        self._reading = Lock()
        self._inside = False
        self._known: set[TopicPartition] = set()
        self._trimmed: dict[TopicPartition, Cursor] = {}
        p = dialect.parameter
        self._progress = (
            f'{statements.select(schema.progress)} WHERE topic = {p} AND "partition" = {p}'
        )
        self._note = f"{statements.insert(schema.topics)} VALUES ({p}, {p}) ON CONFLICT DO NOTHING"
        self._noted = f"SELECT partitions FROM topics WHERE topic = {p}"
        self._outbox = (
            "SELECT input_offset, sequence, topic_out, key, value, headers FROM outbox"
            f' WHERE topic_in = {p} AND "partition" = {p}'
            f" AND (input_offset, sequence) >= ({p}, {p})"
            f" ORDER BY input_offset, sequence LIMIT {p}"
        )
        with explained(dialect.address):
            self._writer, self.warnings = dialect.connect()

    def progress(self, partition: TopicPartition) -> ProgressRow | None:
        with explained(self._dialect.address), self._writing() as connection:
            rows = self._dialect.fetch(connection, self._progress, partition)
        if not rows:
            self._known.discard(partition)
            return None
        self._known.add(partition)
        return ProgressRow._make(rows[0])

    def partitions(self, topic: str, present: int) -> int:
        with explained(self._dialect.address), self._writing() as connection:
            self._dialect.execute(connection, self._note, (topic, present))
            rows = self._dialect.fetch(connection, self._noted, (topic,))
        return int(rows[0][0])

    @contextmanager
    def transaction(self, partition: TopicPartition) -> Iterator[SqlTransaction]:
        """See `connector.ports.Store`."""
        with explained(self._dialect.address), self._writing() as connection:
            self._dialect.begin(connection)
            transaction = SqlTransaction(
                self._dialect,
                connection,
                partition,
                known=partition in self._known,
                trimmed=self._trimmed.get(partition, START),
            )
            yield transaction
            connection.commit()
        if transaction.advanced:
            self._known.add(partition)
        self._trimmed[partition] = transaction.trimmed

    @contextmanager
    def lookups(self) -> Iterator[SqlTransaction]:
        """See `connector.ports.Store`."""
        with explained(self._dialect.address):
            if self._looker is None:
                self._looker, _ = self._dialect.connect()
            try:
                yield SqlTransaction(
                    self._dialect, self._looker, _NOWHERE, known=False, trimmed=START
                )
            except BaseException:
                _close(self._looker)
                self._looker = None
                raise

    def another(self) -> SqlStore:
        """See `connector.ports.Store`."""
        return SqlStore(type(self._dialect)(self._dialect.address))

    def outbox(self, partition: TopicPartition, start: Cursor, limit: int) -> list[Outgoing]:
        with self._reading, explained(self._dialect.address):
            if self._reader is None:
                self._reader, _ = self._dialect.connect()
            try:
                rows = self._dialect.fetch(self._reader, self._outbox, (*partition, *start, limit))
            except BaseException:
                _close(self._reader)
                self._reader = None
                raise
        return [Outgoing._make((*row[:5], _unpack(row[5]))) for row in rows]

    def close(self) -> None:
        quiet = self._reading.acquire(timeout=_CLOSE_WAIT_S)
        try:
            _close(self._reader)
            _close(self._looker)
            _close(self._writer)
            self._reader = self._looker = self._writer = None
        finally:
            if quiet:
                self._reading.release()

    @contextmanager
    def _writing(self) -> Iterator[Any]:
        """The consumer's connection; left outside any transaction, or given up."""
        if self._inside:
            raise RuntimeError("a transaction of this store is open: one at a time")
        if self._writer is None:
            self._writer, _ = self._dialect.connect()
        self._inside = True
        try:
            yield self._writer
        except BaseException:
            try:
                self._writer.rollback()
            except Exception:
                _close(self._writer)
                self._writer = None
            raise
        finally:
            self._inside = False


_unpack = msgspec.msgpack.Decoder(Headers).decode


def _close(connection: Any) -> None:
    if connection is not None:
        with suppress(Exception):
            connection.close()
