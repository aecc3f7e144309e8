"""SQL text made from the tables: which columns, quoted, in the order of the rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import BigInteger, Boolean, Double, Integer, LargeBinary, Table, Text

# A row is found by its key and never gets another name.
_FIXED = frozenset({"name"})


def columns(table: Table) -> list[str]:
    """Names of the columns, quoted (`S`, `offset`, `at` need it)."""
    return [f'"{column.name}"' for column in table.columns]


def key(table: Table) -> list[str]:
    """Names of the primary key's columns, quoted."""
    return [f'"{column.name}"' for column in table.primary_key.columns]


def changing(table: Table) -> list[str]:
    """Names of the columns that an update sets, quoted."""
    fixed = {f'"{name}"' for name in _FIXED} | set(key(table))
    return [column for column in columns(table) if column not in fixed]


def select(table: Table) -> str:
    """`SELECT` of every column, up to the table's name."""
    return f"SELECT {', '.join(columns(table))} FROM {table.name}"


def insert(table: Table) -> str:
    """`INSERT INTO` with every column, up to where the rows come from."""
    return f"INSERT INTO {table.name} ({', '.join(columns(table))})"


def on_conflict(table: Table) -> str:
    """What turns an insert into an upsert."""
    excluded = ", ".join(f"{column} = excluded.{column}" for column in changing(table))
    return f"ON CONFLICT ({', '.join(key(table))}) DO UPDATE SET {excluded}"


def types(table: Table) -> list[str]:
    """PostgreSQL's names of the columns' types."""
    return [_type(column.type) for column in table.columns]


def _type(type_: Any) -> str:
    # BigInteger before Integer: it is one.
    for kind, name in (
        (BigInteger, "int8"),
        (Integer, "int4"),
        (Boolean, "bool"),
        (Double, "float8"),
        (LargeBinary, "bytea"),
        (Text, "text"),
    ):
        if isinstance(type_, kind):
            return name
    raise TypeError(f"no wire format for {type_!r}")


def maker(row: Any, table: Table) -> Callable[[tuple[Any, ...]], Any]:
    """From what SQLite gives to a row: it has no booleans."""
    booleans = [i for i, column in enumerate(table.columns) if isinstance(column.type, Boolean)]
    if not booleans:
        return row._make  # type: ignore[no-any-return]

    def make(values: tuple[Any, ...]) -> Any:
        mended = list(values)
        for i in booleans:
            if mended[i] is not None:
                mended[i] = mended[i] == 1
        return row._make(mended)

    return make
