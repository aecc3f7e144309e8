"""PostgreSQL by psycopg 3: COPY for new rows, arrays for changed ones, one round trip for many."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache
from typing import Any

import psycopg
from sqlalchemy import URL, Table
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg

from connector.domain.errors import ConfigurationError
from connector.domain.records import TopicPartition

from . import statements
from .arrays import array, register
from .database import shown
from .dialect import COUNTERS, Batch, Dialect, Values, counter_values, expect

# The session only looks rows up by key, in tables that may grow a thousandfold before the planner
# has statistics: a plan that scans a table, chosen while it was small, would stay.
_SETTINGS = (
    "SET enable_seqscan = off",
    "SET enable_hashjoin = off",
    "SET enable_mergejoin = off",
    "SET plan_cache_mode = force_generic_plan",
    "SET jit = off",
    # A process that was stopped in a transaction holds its partition's row: the server ends it,
    # and meanwhile the successor asks again instead of waiting for ever.
    "SET idle_in_transaction_session_timeout = '30s'",
    "SET lock_timeout = '10s'",
)
# So few rows go faster in the round trip that is made anyway than by a COPY of their own (two).
_FEW = 32


class Postgres(Dialect):
    """PostgreSQL 14 and later."""

    parameter = "%s"
    among_numbers = "= ANY(%s::int8[])"
    among_texts = "= ANY(%s::text[])"

    def __init__(self, address: URL) -> None:
        super().__init__(address)
        self._inserted = 0
        self._plan_again = 1

    def connect(self) -> tuple[Any, list[str]]:
        dialect = PGDialect_psycopg()  # type: ignore[no-untyped-call]
        args, options = dialect.create_connect_args(self.address)  # type: ignore[no-untyped-call]
        connection = psycopg.connect(*args, **options, client_encoding="UTF8", autocommit=True)
        try:
            connection.prepared_max = None
            connection.prepare_threshold = 0
            register(connection)
            with connection.pipeline():
                for setting in _SETTINGS:
                    connection.execute(setting)
            return connection, self._checked(connection)
        except BaseException:
            connection.close()
            raise

    def _checked(self, connection: psycopg.Connection[Any]) -> list[str]:
        def shows(setting: str) -> str:
            return str(self.fetch(connection, f"SHOW {setting}")[0][0])

        if int(shows("server_version_num")) < 140_000:
            raise self._refused(f"is PostgreSQL {shows('server_version')}; 14 or later is needed")
        if (encoding := shows("server_encoding")) != "UTF8":
            raise self._refused(f"is encoded in {encoding}: create it with ENCODING 'UTF8'")
        warnings = []
        if shows("synchronous_commit") == "off":
            self.execute(connection, "SET synchronous_commit = on")
            warnings.append(
                f"{shown(self.address)} has synchronous_commit off: switched on for this session,"
                " as what was committed must survive a crash"
            )
        if shows("fsync") == "off":
            warnings.append(
                f"{shown(self.address)} has fsync off: a crash of its machine loses what was"
                " committed. Set fsync = on"
            )
        return warnings

    def _refused(self, what: str) -> ConfigurationError:
        return ConfigurationError(f"--database: {shown(self.address)} {what}")

    def begin(self, connection: Any) -> None:
        connection.execute("BEGIN")

    def free(self, partition: TopicPartition, obstacle: BaseException | None) -> None:
        """End the session that has held the partition's row for longer than `lock_timeout`.

        It is of a process that owned the partition before and was stopped in the middle of a
        write: its connection lives, so nothing else would ever end it. What it had not committed
        is folded again from the log.
        """
        if isinstance(obstacle, psycopg.errors.LockNotAvailable):
            connection, _ = self.connect()
            try:
                connection.execute(_END_HOLDER, partition)
            finally:
                connection.close()

    def execute(self, connection: Any, statement: str, values: Values = ()) -> int:
        return int(connection.execute(statement, values or None).rowcount)

    def fetch(self, connection: Any, statement: str, values: Values = ()) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]]
        rows = connection.execute(statement, values or None, binary=True).fetchall()
        return rows

    def maker(self, row: Any, table: Table) -> Callable[[tuple[Any, ...]], Any]:
        return row._make  # type: ignore[no-any-return]

    def by_index(self, name: str) -> str:
        return ""

    def numbers(self, values: Collection[int]) -> Any:
        return array("int8", list(values))

    def texts(self, values: Collection[str]) -> Any:
        return array("text", list(values))

    def write(self, connection: Any, batch: Batch) -> None:
        self._inserted += sum(len(rows) for _, rows in batch.inserts)
        for table, keys in batch.deletes:
            expect(
                self.execute(connection, _delete(table), _columns(table, keys)), len(keys), table
            )
        many = [(table, rows) for table, rows in batch.inserts if len(rows) > _FEW]
        for table, rows in many:
            _copy(connection, table, rows)
        done = []
        with connection.pipeline():
            values = counter_values(batch.counters, batch.partition)
            connection.execute(_COUNTERS, values)
            for table, rows in batch.inserts:
                if len(rows) <= _FEW:
                    connection.execute(_insert(table), _arrays(table, rows))
            for table, rows in batch.upserts:
                connection.execute(_upsert(table), _arrays(table, rows))
            for table, rows in batch.updates:
                cursor = connection.execute(_update(table), _arrays(table, rows))
                done.append((table, len(rows), cursor))
            if self._inserted >= self._plan_again:
                # Plans are kept; those that suit a small table are made anew when it has doubled.
                self._plan_again = 2 * self._inserted
                connection.execute("DISCARD PLANS")
        for table, expected, cursor in done:
            expect(cursor.rowcount, expected, table)


_COUNTERS = COUNTERS.format("%s")

# A row that a transaction is changing bears its number.
_END_HOLDER = """
SELECT pg_terminate_backend(held.pid)
FROM partition_progress p
JOIN pg_locks held
  ON held.locktype = 'transactionid' AND held.granted AND held.transactionid = p.xmax
WHERE p.topic = %s AND p."partition" = %s AND held.pid <> pg_backend_pid()
"""


def _copy(connection: Any, table: Table, rows: Any) -> None:
    with connection.cursor() as cursor, cursor.copy(_copying(table)) as copy:
        copy.set_types(_types(table))
        for row in rows:
            copy.write_row(row)


def _arrays(table: Table, rows: Any) -> list[bytes]:
    return [
        array(kind, column)
        for kind, column in zip(_types(table), zip(*rows, strict=True), strict=True)
    ]


def _columns(table: Table, keys: Any) -> list[bytes]:
    """Arrays of the columns of the table's key."""
    kinds = dict(zip(statements.columns(table), _types(table), strict=True))
    return [
        array(kinds[name], column)
        for name, column in zip(statements.key(table), zip(*keys, strict=True), strict=True)
    ]


@cache
def _types(table: Table) -> list[str]:
    return statements.types(table)


@cache
def _copying(table: Table) -> str:
    columns = ", ".join(statements.columns(table))
    return f"COPY {table.name} ({columns}) FROM STDIN (FORMAT BINARY)"


@cache
def _insert(table: Table) -> str:
    return f"{statements.insert(table)} SELECT * FROM {_unnest(table)}"


@cache
def _upsert(table: Table) -> str:
    return f"{_insert(table)} {statements.on_conflict(table)}"


@cache
def _delete(table: Table) -> str:
    kinds = dict(zip(statements.columns(table), _types(table), strict=True))
    key = statements.key(table)
    arrays = ", ".join(f"%s::{kinds[column]}[]" for column in key)
    same = " AND ".join(f"old.{column} = gone.{column}" for column in key)
    return (
        f"DELETE FROM {table.name} old USING unnest({arrays}) AS gone ({', '.join(key)})"
        f" WHERE {same}"
    )


@cache
def _update(table: Table) -> str:
    columns = ", ".join(statements.columns(table))
    changes = ", ".join(f"{column} = new.{column}" for column in statements.changing(table))
    same = " AND ".join(f"old.{column} = new.{column}" for column in statements.key(table))
    return (
        f"UPDATE {table.name} old SET {changes} FROM {_unnest(table)} AS new ({columns})"
        f" WHERE {same}"
    )


def _unnest(table: Table) -> str:
    return "unnest(" + ", ".join(f"%s::{kind}[]" for kind in _types(table)) + ")"
