"""The database's views, as anybody reads them while the service writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from connector.adapters.sql import migrate, queries
from connector.adapters.sql.database import engine

from .crowd import PROJECT


def view(database: str, name: str) -> Iterator[Mapping[str, Any]]:
    """The demo project's rows."""
    reader = engine(database)
    try:
        columns, rows = queries.view(reader, name, PROJECT)
        for row in rows:
            yield dict(zip(columns, row, strict=True))
    finally:
        reader.dispose()


def received(database: str) -> int:
    """How many events the service has taken; 0 before it has made its tables."""
    reader = engine(database)
    try:
        made = migrate.current(reader) is not None
    finally:
        reader.dispose()
    return sum(row["received"] for row in view(database, "event_accounting")) if made else 0
