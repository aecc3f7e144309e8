"""A random log, as the plain fold sees it and as a database."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from connector.adapters.sql.database import engine
from connector.replay import replay
from tests.oracle.fold import PlainFold
from tests.oracle.logs import random_log
from tests.replay.files import wrapped, write_jsonl


@pytest.fixture(scope="package")
def fold() -> PlainFold:
    fold = PlainFold()
    for record in random_log(8, 3000, projects=3, tasks=20, workers=20):
        fold.feed(record)
    return fold


@pytest.fixture(scope="package")
def database(tmp_path_factory: pytest.TempPathFactory, fold: PlainFold) -> str:
    directory = tmp_path_factory.mktemp("reports")
    log = random_log(8, 3000, projects=3, tasks=20, workers=20)
    url = f"sqlite:///{directory / 'reports.db'}"
    with replay([write_jsonl(directory / "log.jsonl", wrapped(log))], database=url):
        return url


@pytest.fixture
def reader(database: str) -> Iterator[Engine]:
    made = engine(database)
    yield made
    made.dispose()
