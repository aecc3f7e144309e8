"""One suite over every store: in memory, SQLite, PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from connector.adapters.memory.store import MemoryStore
from connector.adapters.sql import database, migrate, queries
from connector.adapters.sql.store import open_store

from .rows import Store


class Database:
    """A database with the schema, to which any number of stores can be opened."""

    def __init__(self, open_: Callable[[], Store], url: str | None) -> None:
        self._open = open_
        self._url = url
        self._stores: list[Store] = []
        self.engine = None if url is None else database.engine(url)

    def open(self) -> Store:
        """A store as another process would have it (in memory: the same one)."""
        self._stores.append(self._open())
        return self._stores[-1]

    def view(self, name: str, project: str | None = None) -> list[dict[str, Any]]:
        """The rows of a view."""
        if self.engine is None:
            store = self._stores[0]
            assert isinstance(store, MemoryStore)
            return store.view(name, project)
        columns, rows = queries.view(self.engine, name, project)
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def table(self, kind: type[Any]) -> list[Any]:
        """All rows of a kind."""
        if self.engine is None:
            store = self._stores[0]
            assert isinstance(store, MemoryStore)
            return store.table(kind)
        return queries.table(self.engine, kind)

    def close(self) -> None:
        for store in self._stores:
            store.close()
        if self.engine is not None:
            self.engine.dispose()


KINDS = [
    "memory",
    "sqlite",
    pytest.param("postgres", marks=pytest.mark.services),
]


@pytest.fixture(params=KINDS)
def db(request: pytest.FixtureRequest) -> Iterator[Database]:
    """An empty database of each kind."""
    if request.param == "memory":
        memory = MemoryStore()
        made = Database(lambda: memory, None)
    else:
        made = _sql(request.getfixturevalue(f"{request.param}_url"))
    yield made
    made.close()


@pytest.fixture(params=KINDS[1:])
def sql(request: pytest.FixtureRequest) -> Iterator[Database]:
    """An empty database of each real kind."""
    made = _sql(request.getfixturevalue(f"{request.param}_url"))
    yield made
    made.close()


@pytest.fixture
def store(db: Database) -> Store:
    """A store on it."""
    return db.open()


def _sql(url: str) -> Database:
    engine = database.engine(url)
    migrate.ensure(engine)
    engine.dispose()
    return Database(lambda: open_store(url), url)
