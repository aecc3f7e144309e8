"""A database with the schema, of each kind, and a log folded into it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from connector.adapters.sql import database, migrate


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.services)])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    made = database.engine(request.getfixturevalue(f"{request.param}_url"))
    migrate.ensure(made)
    yield made
    made.dispose()
