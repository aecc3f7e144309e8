"""SQLite by the standard library: WAL, every commit on the disk before it is reported."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection
from functools import cache
from typing import Any

from sqlalchemy import Table
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite

from connector.domain.records import TopicPartition

from . import statements
from .dialect import COUNTERS, Batch, Dialect, Values, counter_values, expect

_SETTINGS = (
    # Before all else: another process may be switching to WAL just now.
    "PRAGMA busy_timeout = 10000",
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = OFF",
    # 64 MiB of pages: the upper parts of every index.
    "PRAGMA cache_size = -65536",
)


class Sqlite(Dialect):
    """SQLite 3.25 and later: upserts, row values, and window functions in the views."""

    parameter = "?"
    # A list of any length as one parameter, so that the statement stays prepared.
    among_numbers = "IN (SELECT value FROM json_each(?))"
    among_texts = "IN (SELECT value FROM json_each(?))"

    def connect(self) -> tuple[Any, list[str]]:
        args, options = SQLiteDialect_pysqlite().create_connect_args(self.address)
        options.update(check_same_thread=False, isolation_level=None, cached_statements=512)
        connection: sqlite3.Connection = sqlite3.connect(*args, **options)  # type: ignore[call-overload]
        try:
            for setting in _SETTINGS:
                connection.execute(setting)
        except BaseException:
            connection.close()
            raise
        return connection, []

    def begin(self, connection: Any) -> None:
        connection.execute("BEGIN IMMEDIATE")

    def free(self, partition: TopicPartition, obstacle: BaseException | None) -> None:
        """Nothing: a lock ends with its process, and no other process can be told to end."""

    def execute(self, connection: Any, statement: str, values: Values = ()) -> int:
        return int(connection.execute(statement, values).rowcount)

    def fetch(self, connection: Any, statement: str, values: Values = ()) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = connection.execute(statement, values).fetchall()
        return rows

    def maker(self, row: Any, table: Table) -> Callable[[tuple[Any, ...]], Any]:
        return statements.maker(row, table)

    def by_index(self, name: str) -> str:
        # Without statistics it takes a walk through the whole project for the shorter way.
        return f" INDEXED BY {name}"

    def numbers(self, values: Collection[int]) -> Any:
        return json.dumps(list(values))

    def texts(self, values: Collection[str]) -> Any:
        return json.dumps(list(values))

    def write(self, connection: Any, batch: Batch) -> None:
        connection.execute(_COUNTERS, counter_values(batch.counters, batch.partition))
        for table, keys in batch.deletes:
            cursor = connection.executemany(_delete(table), keys)
            expect(cursor.rowcount, len(keys), table)
        for table, rows in batch.inserts:
            connection.executemany(_insert(table), rows)
        for table, rows in batch.upserts:
            connection.executemany(_upsert(table), rows)
        for table, rows in batch.updates:
            cursor = connection.executemany(_update(table), rows)
            expect(cursor.rowcount, len(rows), table)


_COUNTERS = COUNTERS.format("?")


@cache
def _insert(table: Table) -> str:
    places = ", ".join("?" * len(table.columns))
    return f"{statements.insert(table)} VALUES ({places})"


@cache
def _upsert(table: Table) -> str:
    return f"{_insert(table)} {statements.on_conflict(table)}"


@cache
def _delete(table: Table) -> str:
    same = " AND ".join(f"{column} = ?" for column in statements.key(table))
    return f"DELETE FROM {table.name} WHERE {same}"


@cache
def _update(table: Table) -> str:
    place = {column: f"?{i}" for i, column in enumerate(statements.columns(table), 1)}
    changes = ", ".join(f"{column} = {place[column]}" for column in statements.changing(table))
    same = " AND ".join(f"{column} = {place[column]}" for column in statements.key(table))
    return f"UPDATE {table.name} SET {changes} WHERE {same}"
