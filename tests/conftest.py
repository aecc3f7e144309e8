"""Fixtures that all tests share: real services, databases, the real datasets.

`kafka` and `postgres` are found or started when the first test asks for them (tests/services), and
end with the session. Where there is none a test is skipped with the reason; with CI=true it fails.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from tests.services import (
    KafkaService,
    PostgresService,
    ServiceUnavailable,
    find_kafka,
    find_postgres,
)

REPOSITORY = Path(__file__).parents[1]

_RUNNING = pytest.StashKey[dict[str, KafkaService | PostgresService]]()


@pytest.fixture(scope="session")
def kafka(request: pytest.FixtureRequest) -> Iterator[KafkaService]:
    """A real Apache Kafka: `bootstrap`, and `kill`, `stop`, `start`, `restart` if `can_kill`."""
    try:
        service = find_kafka()
    except ServiceUnavailable as reason:
        missing(str(reason))
    _running(request.config)["Kafka"] = service
    yield service
    service.close()


@pytest.fixture(scope="session")
def postgres(request: pytest.FixtureRequest) -> Iterator[PostgresService]:
    """A real PostgreSQL server: `create_database`, and `kill` and so on if `can_kill`."""
    try:
        service = find_postgres()
    except ServiceUnavailable as reason:
        missing(str(reason))
    _running(request.config)["PostgreSQL"] = service
    yield service
    service.close()


@pytest.fixture
def postgres_url(postgres: PostgresService) -> Iterator[str]:
    """SQLAlchemy URL of an empty PostgreSQL database, this test's own."""
    _revive(postgres)
    url = postgres.create_database()
    yield url
    _revive(postgres)
    postgres.drop_database(url)


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """SQLAlchemy URL of a SQLite file that does not exist yet, this test's own."""
    return f"sqlite:///{tmp_path / 'crowdresolve.db'}"


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest) -> str:
    """An empty database, once as SQLite and once as PostgreSQL."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The real crowdsourcing datasets: CROWDRESOLVE_TEST_DATA, or ../shared/data."""
    given = os.environ.get("CROWDRESOLVE_TEST_DATA")
    directory = Path(given) if given else REPOSITORY.parent / "shared" / "data"
    if not directory.is_dir():
        missing(f"no datasets in {directory}: set CROWDRESOLVE_TEST_DATA")
    return directory


@pytest.fixture(autouse=True)
def _no_test_inherits_a_crash(request: pytest.FixtureRequest) -> None:
    """A test that failed between `kill` and `start` fails alone."""
    for service in _running(request.config).values():
        _revive(service)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say which services the tests ran against."""
    for name, service in _running(config).items():
        terminalreporter.write_line(f"{name}: {service.how}")


def _running(config: pytest.Config) -> dict[str, KafkaService | PostgresService]:
    return config.stash.setdefault(_RUNNING, {})


def _revive(service: KafkaService | PostgresService) -> None:
    if not service.alive():
        service.start()


def missing(what: str) -> NoReturn:
    """Fail where all must be there, skip elsewhere."""
    if os.environ.get("CI") == "true":
        pytest.fail(what, pytrace=False)
    pytest.skip(what)
