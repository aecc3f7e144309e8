"""What a database's errors mean to whoever runs the service."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors as pg
from sqlalchemy import URL
from sqlalchemy.exc import DBAPIError

from connector.domain.errors import ConfigurationError, CrowdResolveError, DependencyError

from .database import shown

_NO_SCHEMA = "has not the tables of this release. Run `crowdresolve db upgrade`"


_WRONG_ADDRESS = re.compile(
    r'FATAL: +((database|role) ".*" does not exist|password authentication failed|no pg_hba\.conf)'
)
"""What a server answers to a connection that it will never let in: the driver gives only text."""

_AWAY = (psycopg.OperationalError, psycopg.InterfaceError, pg.IdleInTransactionSessionTimeout)


@contextmanager
def explained(address: URL) -> Iterator[None]:
    """Turn what the driver raises into an error that says what to do; the cause is kept.

    Raises:
        DependencyError: the database does not answer as it must; worth another try.
        ConfigurationError: it answers, and trying again does not help.
    """
    try:
        yield
    except (psycopg.Error, sqlite3.Error) as error:
        meaning = explanation(error, address)
        if meaning is None:
            raise
        raise meaning from error
    except DBAPIError as error:
        meaning = explanation(error.orig, address)
        if meaning is None:
            raise
        raise meaning from error


def explanation(error: BaseException | None, address: URL) -> CrowdResolveError | None:
    """What the error means; None: that it is our own fault."""
    where = f"The database {shown(address)}"
    told = " ".join(str(error).split())
    if isinstance(error, psycopg.Error):
        return _postgres(error, where, told)
    if isinstance(error, sqlite3.Error):
        return _sqlite(error, where, told)
    return None


def _postgres(error: psycopg.Error, where: str, told: str) -> CrowdResolveError | None:
    if isinstance(error, pg.UndefinedTable | pg.UndefinedColumn):
        return ConfigurationError(f"{where} {_NO_SCHEMA} ({told})")
    if isinstance(error, pg.InsufficientPrivilege):
        return ConfigurationError(f"{where} refuses its user something: grant it ({told})")
    if isinstance(error, pg.InvalidCatalogName):
        return DependencyError(f"{where} does not exist: create it, or correct --database ({told})")
    if isinstance(error, pg.UniqueViolation):
        return _taken(where, told) if error.diag.table_name == "projects" else None
    if isinstance(error, pg.ReadOnlySqlTransaction):
        advice = "is read-only: a standby? Give --database the primary's address"
    elif isinstance(error, pg.InsufficientResources):
        advice = "has no room left (disk, memory or connections): make room; it is tried again"
    elif isinstance(error, pg.LockNotAvailable):
        advice = (
            "has the partition's row locked by another session: a process that hangs in a"
            " transaction? It is ended after a while; it is tried again"
        )
    elif isinstance(error, pg.TransactionRollback):
        advice = "rolled the transaction back for another one's sake; it is tried again"
    elif isinstance(error, pg.InvalidPassword | pg.InvalidAuthorizationSpecification):
        advice = "refuses the user or password of --database: correct them"
    elif _WRONG_ADDRESS.search(told):
        return ConfigurationError(
            f"{where} refuses what --database says of user, password or name: correct it ({told})"
        )
    elif isinstance(error, _AWAY):
        advice = "cannot be reached: is it running, and are host and port of --database right?"
    else:
        return None
    return DependencyError(f"{where} {advice} ({told})")


def _sqlite(error: sqlite3.Error, where: str, told: str) -> CrowdResolveError | None:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if "no such table" in told or "no such column" in told or "has no column named" in told:
        return ConfigurationError(f"{where} {_NO_SCHEMA} ({told})")
    if isinstance(error, sqlite3.IntegrityError):
        return _taken(where, told) if "projects." in told else None
    if isinstance(error, sqlite3.ProgrammingError) and "closed" not in told:
        return None
    advice = {
        sqlite3.SQLITE_BUSY: "is locked by another process that writes it: end that one",
        sqlite3.SQLITE_LOCKED: "is locked by another process that writes it: end that one",
        sqlite3.SQLITE_FULL: "has no room left: free some on its disk; it is tried again",
        sqlite3.SQLITE_READONLY: "is read-only: let the service write the file and its directory",
        sqlite3.SQLITE_PERM: "may not be opened: let the service write the file and its directory",
        sqlite3.SQLITE_CANTOPEN: "cannot be opened: does its directory exist, and may we write it?",
        sqlite3.SQLITE_NOTADB: "is a file of another kind: correct --database",
        sqlite3.SQLITE_CORRUPT: "is damaged: restore it from a backup",
        sqlite3.SQLITE_IOERR: "cannot be read or written: look at its disk",
        sqlite3.SQLITE_MISUSE: "has been closed",
    }.get(code)
    if advice is None:
        # An SQL error of ours (code 1) is a bug; anything that has no code is the connection.
        return None if code == sqlite3.SQLITE_ERROR else DependencyError(f"{where}: {told}")
    return DependencyError(f"{where} {advice} ({told})")


def _taken(where: str, told: str) -> DependencyError:
    return DependencyError(
        f"{where}: another partition has declared a project of that name a moment ago; this one"
        f" is judged again when the batch is tried again ({told})"
    )
