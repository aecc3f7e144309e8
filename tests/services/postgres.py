"""What a test may do with PostgreSQL, whoever runs it."""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod

from sqlalchemy import URL, Connection, create_engine, make_url, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

from tests.services.errors import CannotCrash, ServiceUnavailable
from tests.services.network import wait_until

DRIVER = "postgresql+psycopg"


class PostgresService(ABC):
    """A server, durable as in production: fsync and synchronous_commit are on.

    Attributes:
        url: SQLAlchemy URL of its administrative database.
        how: In words, which one this is.
        can_kill: Whether it may be stopped and killed: it is ours.
    """

    url: str
    how: str
    can_kill = True

    @abstractmethod
    def start(self) -> None:
        """Start it if it does not run, and wait until it serves."""

    @abstractmethod
    def stop(self) -> None:
        """End it cleanly: open connections are cut."""

    @abstractmethod
    def kill(self) -> None:
        """SIGKILL: a crash."""

    @abstractmethod
    def alive(self) -> bool:
        """Whether it runs."""

    @abstractmethod
    def close(self) -> None:
        """End it for good, and its data too."""

    @property
    def pid(self) -> int | None:
        """The server's first process, if it is one of this machine's."""
        return None

    def restart(self) -> None:
        """Stop it cleanly if it runs, then start it."""
        self.stop()
        self.start()

    def create_database(self, template: str | None = None) -> str:
        """A new database, empty or a copy of `template`.

        Args:
            template: URL of a database of this server, to which nobody is connected. Copying one
                that has the schema is faster than making the schema (some 30 ms).

        Returns:
            Its SQLAlchemy URL.
        """
        name = f"crowdresolve_test_{secrets.token_hex(6)}"
        source = make_url(template).database if template else "template0"
        self._administer(f'CREATE DATABASE "{name}" TEMPLATE "{source}"')
        return _rendered(make_url(self.url).set(database=name))

    def drop_database(self, url: str) -> None:
        """Delete the database, whoever is still connected to it."""
        self._administer(f'DROP DATABASE IF EXISTS "{make_url(url).database}" WITH (FORCE)')

    def serves(self) -> bool:
        """Whether a query is answered."""
        try:
            self._administer("SELECT 1")
        except OperationalError:
            return False
        return True

    def _administer(self, statement: str) -> None:
        engine = create_engine(self.url, isolation_level="AUTOCOMMIT", poolclass=NullPool)
        connection: Connection
        with engine.connect() as connection:
            connection.execute(text(statement))

    def _await(self, seconds: float) -> None:
        if not wait_until(lambda: not self.alive() or self.serves(), seconds) or not self.alive():
            raise ServiceUnavailable(f"{self.how} at {make_url(self.url)} does not serve")


class ExternalPostgres(PostgresService):
    """The server that CROWDRESOLVE_TEST_DATABASE names."""

    can_kill = False

    def __init__(self, url: str) -> None:
        parsed = make_url(url).set(drivername=DRIVER)
        self.url = _rendered(parsed)
        self.how = "named by CROWDRESOLVE_TEST_DATABASE"

    def start(self) -> None:
        self._await(2)

    def stop(self) -> None:
        raise CannotCrash(f"PostgreSQL {self.how}")

    def kill(self) -> None:
        raise CannotCrash(f"PostgreSQL {self.how}")

    def alive(self) -> bool:
        return True

    def close(self) -> None:
        """Not ours."""


def _rendered(url: URL) -> str:
    return url.render_as_string(hide_password=False)
