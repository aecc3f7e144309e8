"""What `--database` names: the address checked, and an engine for migrations and for reading.

The consumer's store has connections of its own (`connector.adapters.sql.store`).
"""

from __future__ import annotations

import sqlite3

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from connector.domain.errors import ConfigurationError

EXAMPLES = "sqlite:///crowdresolve.db or postgresql+psycopg://user@host:port/name"
CONNECT_TIMEOUT_S = 10
# A session that a network swallowed is noticed within half a minute, by either end.
KEEPALIVE = {
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
}

# An execution option: on SQLite, take the write lock when the transaction begins.
IMMEDIATE = "crowdresolve_immediate"


def parsed(url: str) -> URL:
    """The address, `postgresql://` read as `postgresql+psycopg://`.

    Raises:
        ConfigurationError: it is malformed, or of a database that CrowdResolve does not know.
    """
    try:
        address = make_url(url)
        port_is_sane = address.port is None or 0 < address.port < 65_536
    except (ArgumentError, ValueError):
        raise _wrong("is not the address of a database") from None
    if not port_is_sane:
        raise _wrong("has a port that is none")
    if address.drivername == "postgresql":
        address = address.set(drivername="postgresql+psycopg")
    if address.drivername == "postgresql+psycopg":
        return _with_defaults(address)
    if address.drivername not in ("sqlite", "sqlite+pysqlite"):
        raise _wrong(f"names {address.drivername!r}, which CrowdResolve does not work with")
    if address.host or address.database in (None, "", ":memory:"):
        raise _wrong("names no file: SQLite must have one (three slashes before a relative path)")
    return address


def shown(address: URL) -> str:
    """The address for a message: no password, nothing behind `?`."""
    return address.set(query={}).render_as_string(hide_password=True)


def engine(url: str | URL) -> Engine:
    """An engine for `migrate` and `queries`; connects when it is first used.

    Raises:
        ConfigurationError: as `parsed`.
    """
    address = parsed(url) if isinstance(url, str) else url
    try:
        made = create_engine(address)
    except (ArgumentError, NoSuchModuleError, ImportError) as error:
        raise _wrong(f"cannot be used: {error}") from error
    if made.dialect.name == "sqlite":
        event.listen(made, "connect", _own_transactions)
        event.listen(made, "begin", _begin)
    return made


def _own_transactions(connection: sqlite3.Connection, _: object) -> None:
    # The driver's own begins come too late: not before DDL, and not with the lock that we want.
    connection.isolation_level = None
    connection.execute(f"PRAGMA busy_timeout = {CONNECT_TIMEOUT_S * 1000}")


def _begin(connection: Connection) -> None:
    immediate = connection.get_execution_options().get(IMMEDIATE)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")


def _with_defaults(address: URL) -> URL:
    defaults = {
        "application_name": "crowdresolve",
        "connect_timeout": str(CONNECT_TIMEOUT_S),
        **{name: str(value) for name, value in KEEPALIVE.items()},
    }
    return address.set(query={**defaults, **address.query})


def _wrong(what: str) -> ConfigurationError:
    # The address itself may hold a password: it is not repeated.
    return ConfigurationError(f"--database (CROWDRESOLVE_DATABASE) {what}. Give {EXAMPLES}")
