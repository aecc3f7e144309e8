"""The database: there, durable, of a schema that this release works on."""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from connector.adapters.sql import migrate, queries
from connector.adapters.sql.failures import explained
from connector.cli import reading
from connector.domain.errors import ConfigurationError, DependencyError
from connector.domain.rows import ProgressRow

from .check import Check, failed, ok, warning

if TYPE_CHECKING:
    from sqlalchemy import Engine

NAMED = 12
DAY_US = 24 * 60 * 60 * 1_000_000


def look(engine: Engine) -> Iterator[Check]:
    """Connects; what builds on a failed check is not looked at."""
    where = reading.place(engine)
    try:
        yield from _server(engine, where)
    except DependencyError as error:
        yield failed("database", str(error), "start it, or correct --database", unreachable=True)
        return
    try:
        revision = migrate.check(engine)
    except ConfigurationError as error:
        yield failed("schema", str(error), "see there")
        return
    head = migrate.head()
    if revision == head:
        yield ok("schema", f"revision {revision}, this release's")
    else:
        yield warning(
            "schema",
            f"revision {revision}; this release's is {head}",
            "`crowdresolve db upgrade` once every process has the new release",
        )
    yield from _contents(engine)


def _server(engine: Engine, where: str) -> Iterator[Check]:
    with explained(engine.url), engine.connect() as connection:

        def shows(setting: str) -> str:
            return str(connection.exec_driver_sql(f"SHOW {setting}").scalar())

        if engine.dialect.name != "postgresql":
            connection.exec_driver_sql("SELECT count(*) FROM sqlite_master")
            yield ok("database", f"{where}, SQLite {sqlite3.sqlite_version}")
            yield ok("durability", "the service commits with synchronous = FULL, in WAL mode")
            return
        version = shows("server_version")
        if int(shows("server_version_num")) < 140_000:
            yield failed("database", f"{where}, PostgreSQL {version}", "14 or newer is needed")
        else:
            yield ok("database", f"{where}, PostgreSQL {version}")
        settings = {name: shows(name) for name in ("synchronous_commit", "fsync")}
        if shows("server_encoding") != "UTF8":
            yield failed("encoding", shows("server_encoding"), "create it with ENCODING 'UTF8'")
    said = ", ".join(f"{name} = {value}" for name, value in settings.items())
    if settings["fsync"] == "off":
        yield failed("durability", said, "set fsync = on: a crash would lose committed votes")
    elif settings["synchronous_commit"] == "off":
        yield warning(
            "durability", said, "set synchronous_commit = on; the service does it for its sessions"
        )
    else:
        yield ok("durability", said)


def _contents(engine: Engine) -> Iterator[Check]:
    projects = queries.all_projects(engine)
    if not projects:
        yield warning("projects", "none", "`crowdresolve project apply FILE.toml` declares one")
    else:
        places = Counter(f"{row.topic}/{row.partition}" for row in projects)
        if len(projects) <= NAMED:
            said = ", ".join(f"{row.name} on {row.topic}/{row.partition}" for row in projects)
        else:
            said = ", ".join(f"{n} on {place}" for place, n in sorted(places.items())[:NAMED])
        yield ok("projects", f"{len(projects)}: {said}")
    dead = reading.dead_since(engine, int(time.time() * 1_000_000) - DAY_US)
    if dead:
        said = ", ".join(f"{code}: {n}" for code, n in dead.items())
        yield warning(
            "dead letters of a day",
            f"{sum(dead.values())} ({said})",
            "`crowdresolve dead list` says why, `dead redrive` sends them again",
        )
    else:
        yield ok("dead letters of a day", "none")


def expected(engine: Engine, topic: str) -> dict[int, int]:
    """Per partition of the topic what the database expects next."""
    rows = queries.table(engine, ProgressRow)
    return {row.partition: row.next_offset for row in rows if row.topic == topic}
