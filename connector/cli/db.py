"""`crowdresolve db`: the database's schema."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from connector.settings import Loaded

from .options import command_with
from .terminal import result, waiting

if TYPE_CHECKING:
    from sqlalchemy import Engine

app = typer.Typer(no_args_is_help=True, help="The database's schema.")


@app.command()
@command_with("database")
def upgrade(loaded: Loaded) -> None:
    """Bring the schema to this release's revision. Safe while the service runs, and to repeat."""
    from connector.adapters.sql import migrate

    with engine_of(loaded) as engine, waiting("Upgrading the schema"):
        before, after = migrate.upgrade(engine)
    if before == after:
        result(f"{shown(engine)}: at revision {after} already")
    else:
        result(f"{shown(engine)}: from {'nothing' if before is None else before} to {after}")


@app.command()
@command_with("database")
def current(loaded: Loaded) -> None:
    """Print the revision of the database's schema, and of this release."""
    from connector.adapters.sql import migrate

    with engine_of(loaded, must_exist=True) as engine:
        found = migrate.current(engine)
    head = migrate.head()
    state = "no schema" if found is None else f"revision {found}"
    result(f"{shown(engine)}: {state}; this release: revision {head}")


@app.command()
@command_with("database")
def check(loaded: Loaded) -> None:
    """Check that this release works on the database's schema; exit code 3 if it does not."""
    from connector.adapters.sql import migrate

    with engine_of(loaded, must_exist=True) as engine:
        found = migrate.check(engine)
    result(f"{shown(engine)}: revision {found} is one that this release works on")


@contextmanager
def engine_of(loaded: Loaded, *, must_exist: bool = False) -> Iterator[Engine]:
    """The database of the settings; connected to when it is first used.

    Args:
        loaded: the settings.
        must_exist: a SQLite file that is not there is an error; else using it makes one.
    """
    from .clients import database_engine, require_database

    if must_exist:
        require_database(loaded)
    engine = database_engine(loaded)
    try:
        yield engine
    finally:
        engine.dispose()


def shown(engine: Engine) -> str:
    """The address without a password."""
    from connector.adapters.sql import database

    return database.shown(engine.url)
