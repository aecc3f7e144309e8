"""Bringing a database to this release's schema, in this process and without alembic.ini.

Releases are rolled out one process at a time, so a process works on its own revision and on one
before or after (expand first, contract a release later).  Revisions are numbers, so that an older
process can tell how far ahead a revision is that it does not know.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, inspect, text

import connector
from connector.domain.errors import ConfigurationError

from .database import IMMEDIATE, shown
from .failures import explained
from .schema import metadata

# Any number that no other program takes by chance: "crowdres" in ASCII.
LOCK = int.from_bytes(b"crowdres")


def head() -> str:
    """The revision that this release's code is written for."""
    revision = ScriptDirectory.from_config(_config()).get_current_head()
    assert revision is not None
    return revision


def current(engine: Engine) -> str | None:
    """The database's revision; None: it has no schema yet.

    Raises:
        DependencyError: it cannot be reached.
        ConfigurationError: more than one revision is marked in it.
    """
    with explained(engine.url), engine.connect() as connection:
        return _current(connection)


def upgrade(engine: Engine) -> tuple[str | None, str]:
    """Run the migrations that the database lacks; one process does, others wait for it.

    Returns:
        The revision before and after.

    Raises:
        DependencyError: it cannot be reached.
        ConfigurationError: the database is newer than this release, or not ours.
    """
    with explained(engine.url), _locked(engine) as connection:
        before = _current(connection)
        _upgrade(connection, before, engine)
        return before, head()


def ensure(engine: Engine) -> None:
    """Make the schema in an empty database; else `check`.

    Raises:
        DependencyError, ConfigurationError: as `check`.
    """
    if current(engine) is None:
        with explained(engine.url), _locked(engine) as connection:
            if (found := _current(connection)) is None:
                _upgrade(connection, found, engine)
    check(engine)


def check(engine: Engine) -> str:
    """The database's revision, if this release works on it.

    Raises:
        DependencyError: it cannot be reached.
        ConfigurationError: it has no schema, or one that is too old, too new or not ours.
    """
    found = current(engine)
    if found is None:
        raise _refused(engine, "has no schema yet. Run `crowdresolve db upgrade`")
    distance = _number(engine, found) - int(head())
    if distance < -1:
        raise _refused(
            engine,
            f"is at revision {found}; this release works on {head()} and one before. Run"
            " `crowdresolve db upgrade`",
        )
    if distance > 1:
        raise _refused(
            engine,
            f"is at revision {found}; this release works on {head()} and one after. Install a"
            " newer release of CrowdResolve",
        )
    return found


def _upgrade(connection: Connection, before: str | None, engine: Engine) -> None:
    if before is None and (ours := sorted(set(_tables(connection)) & set(metadata.tables))):
        raise _refused(
            engine,
            f"holds tables that somebody else made ({', '.join(ours)}): give an empty database",
        )
    if before is not None and _number(engine, before) > int(head()):
        raise _refused(
            engine,
            f"is at revision {before}, newer than this release's {head()}. Install a newer release"
            " of CrowdResolve",
        )
    command.upgrade(_config(connection), "head")


@contextmanager
def _locked(engine: Engine) -> Iterator[Connection]:
    """A transaction that only one process is in; what it does is done whole or not at all."""
    if engine.dialect.name != "postgresql":
        with engine.connect().execution_options(**{IMMEDIATE: True}) as connection:
            # What is written does not depend on it, but readers then do not stop the writer.
            connection.exec_driver_sql("SELECT 1")
            yield connection
            connection.commit()
        return
    with engine.begin() as guard, engine.begin() as connection:
        # Held by a transaction of its own, so that a later migration may commit in between.
        guard.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
        guard.execute(text("SET LOCAL lock_timeout = 0"))
        guard.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
        yield connection


def _current(connection: Connection) -> str | None:
    heads = MigrationContext.configure(connection).get_current_heads()
    if len(heads) > 1:
        raise _refused(connection.engine, f"is marked with several revisions: {', '.join(heads)}")
    return heads[0] if heads else None


def _tables(connection: Connection) -> list[str]:
    return inspect(connection).get_table_names()


def _number(engine: Engine, revision: str) -> int:
    if not (revision.isascii() and revision.isdigit()):
        raise _refused(
            engine,
            f"is at a revision that CrowdResolve never made ({revision}): give a database of its"
            " own",
        )
    return int(revision)


def _refused(engine: Engine, what: str) -> ConfigurationError:
    return ConfigurationError(f"--database: {shown(engine.url)} {what}")


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(_location()).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def _location() -> Path:
    """Where the migrations are: in the installed package, or in the checkout beside it."""
    package = Path(connector.__file__).parent
    for place in (package / "_migrations", package.parent / "migrations"):
        if (place / "env.py").is_file():
            return place
    raise ConfigurationError(f"{package} is not complete: it has no migrations. Install it again")
