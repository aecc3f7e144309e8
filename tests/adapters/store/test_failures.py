"""What a database can do to us, and what is said then."""

from __future__ import annotations

import os
import sqlite3
import threading
from pathlib import Path

import pytest

from connector.adapters.sql import database, migrate
from connector.adapters.sql.store import SqlStore, open_store
from connector.domain.errors import ConfigurationError, DependencyError, Fenced
from connector.domain.records import Cursor
from tests.services import PostgresService

from .conftest import Database
from .rows import P0, changes, message, task, write

BIG = "x" * 100_000


def ready(url: str) -> SqlStore:
    engine = database.engine(url)
    migrate.ensure(engine)
    engine.dispose()
    return open_store(url)


def administer(url: str, *statements: str) -> None:
    engine = database.engine(url)
    with engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)
    engine.dispose()


CUT = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
)


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("", "not the address"),
        ("crowdresolve.db", "not the address"),
        ("postgresql://u:secret@h:port/d", "not the address"),
        ("postgresql://u:secret@h:99999/d", "port"),
        ("mysql://u:secret@h/d", "mysql.*does not work with"),
        ("postgresql+asyncpg://u:secret@h/d", "asyncpg.*does not work with"),
        ("sqlite://", "names no file"),
        ("sqlite:///:memory:", "names no file"),
        ("sqlite://relative/path.db", "names no file"),
    ],
)
def test_a_wrong_address_names_the_setting_and_no_password(url: str, told: str) -> None:
    for opening in (open_store, database.engine):
        with pytest.raises(ConfigurationError, match=rf"--database.*{told}") as caught:
            opening(url)
        assert "secret" not in str(caught.value)


def test_a_database_that_is_not_there_says_what_to_do() -> None:
    with pytest.raises(DependencyError, match=r"cannot be reached.*running") as caught:
        open_store("postgresql://u:secret@127.0.0.1:1/d?connect_timeout=2")
    assert "secret" not in str(caught.value)
    with pytest.raises(DependencyError, match=r"cannot be opened.*directory"):
        open_store("sqlite:////nowhere/at/all.db")


def test_a_database_without_the_schema_says_what_to_do(database_url: str) -> None:
    store = open_store(database_url)
    with pytest.raises(ConfigurationError, match="crowdresolve db upgrade"):
        store.progress(P0)
    with pytest.raises(ConfigurationError, match="crowdresolve db upgrade"):
        store.outbox(P0, Cursor(0), 1)
    store.close()


def test_a_closed_store_can_be_closed_again(sql: Database) -> None:
    store = sql.open()
    store.outbox(P0, Cursor(0), 1)
    store.close()
    store.close()


@pytest.mark.services
def test_a_lost_connection_is_made_again(postgres_url: str) -> None:
    store = ready(postgres_url)
    write(store, 0, 1, outgoing=[message(0)])
    assert len(store.outbox(P0, Cursor(0), 9)) == 1
    administer(postgres_url, CUT)
    with pytest.raises(DependencyError, match="cannot be reached"):
        store.outbox(P0, Cursor(0), 9)
    with pytest.raises(DependencyError, match="cannot be reached") as caught:
        store.progress(P0)
    assert caught.value.__cause__ is not None
    progress = store.progress(P0)
    assert progress is not None
    assert progress.next_offset == 1
    write(store, 1, 2, outgoing=[message(1)])
    assert len(store.outbox(P0, Cursor(0), 9)) == 2
    store.close()


@pytest.mark.services
@pytest.mark.parametrize("step", ["before the swap", "before saving", "before the commit"])
def test_a_connection_cut_in_a_transaction_leaves_nothing(postgres_url: str, step: str) -> None:
    store = ready(postgres_url)
    write(store, 0, 1)
    with pytest.raises(DependencyError), store.transaction(P0) as transaction:  # noqa: PT012
        if step == "before the swap":
            administer(postgres_url, CUT)
        transaction.advance(1, 2)
        if step == "before saving":
            administer(postgres_url, CUT)
        transaction.save(changes(new_tasks=[task(i) for i in range(100)]))
        if step == "before the commit":
            administer(postgres_url, CUT)
    progress = store.progress(P0)
    assert progress is not None
    assert progress.next_offset == 1
    write(store, 1, 2, new_tasks=[task(1)])
    store.close()


@pytest.mark.services
def test_a_server_that_crashed_has_what_was_committed(
    postgres: PostgresService, postgres_url: str
) -> None:
    if not postgres.can_kill:
        pytest.skip("this server is not ours to kill")
    store = ready(postgres_url)
    write(store, 0, 1, outgoing=[message(0)])
    with pytest.raises(DependencyError), store.transaction(P0) as transaction:  # noqa: PT012
        transaction.advance(1, 2)
        postgres.kill()
        transaction.save(changes(outgoing=[message(1)]))
    assert not postgres.alive()
    with pytest.raises(DependencyError, match="cannot be reached"):
        store.progress(P0)
    postgres.start()
    progress = store.progress(P0)
    assert progress is not None
    assert progress.next_offset == 1
    assert store.outbox(P0, Cursor(0), 9) == [message(0)]
    store.close()


@pytest.mark.services
def test_a_read_only_server_says_so(postgres_url: str) -> None:
    ready(postgres_url).close()
    name = database.parsed(postgres_url).database
    administer(postgres_url, f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')
    store = open_store(postgres_url)
    assert store.progress(P0) is None
    with pytest.raises(DependencyError, match="read-only"):
        write(store, 0, 1)
    store.close()


@pytest.mark.services
def test_durability_that_is_switched_off_is_switched_on_again(postgres_url: str) -> None:
    ready(postgres_url).close()
    name = database.parsed(postgres_url).database
    administer(postgres_url, f'ALTER DATABASE "{name}" SET synchronous_commit = off')
    store = open_store(postgres_url)
    [warning] = [told for told in store.warnings if "synchronous_commit" in told]
    assert "secret" not in warning
    shown = store._dialect.fetch(store._writer, "SHOW synchronous_commit")
    assert shown == [("on",)]
    store.close()


@pytest.mark.services
def test_a_durable_server_is_not_warned_about(postgres: PostgresService, postgres_url: str) -> None:
    if not postgres.can_kill:
        pytest.skip("this server is set up by somebody else")
    store = ready(postgres_url)
    assert store.warnings == []
    store.close()


@pytest.mark.services
def test_a_process_that_hangs_in_a_transaction_is_ended_by_the_server(postgres_url: str) -> None:
    zombie, successor = ready(postgres_url), open_store(postgres_url)
    zombie._dialect.execute(zombie._writer, "SET idle_in_transaction_session_timeout = '500ms'")
    stopped, moved_on = threading.Event(), threading.Event()
    told: list[Exception] = []

    def stop() -> None:
        try:
            with zombie.transaction(P0) as transaction:
                transaction.advance(0, 1)
                stopped.set()
                moved_on.wait(20)
                transaction.save(changes(new_tasks=[task(1)]))
        except Exception as error:
            told.append(error)

    thread = threading.Thread(target=stop)
    thread.start()
    stopped.wait(5)
    write(successor, 0, 5)
    moved_on.set()
    thread.join(20)
    assert isinstance(told[0], DependencyError)
    with pytest.raises(Fenced):
        write(zombie, 0, 1)
    zombie.close()
    successor.close()


@pytest.mark.services
def test_a_partition_that_stays_locked_is_told(postgres_url: str) -> None:
    holder, waiting = ready(postgres_url), open_store(postgres_url)
    waiting._dialect.execute(waiting._writer, "SET lock_timeout = '100ms'")
    with holder.transaction(P0) as transaction:
        transaction.advance(0, 1)
        with pytest.raises(DependencyError, match="locked by another session"):
            write(waiting, 0, 1)
    with pytest.raises(Fenced):
        write(waiting, 0, 1)
    holder.close()
    waiting.close()


def test_a_full_disk_is_told_and_then_all_goes_on(sqlite_url: str) -> None:
    store = ready(sqlite_url)
    pages = store._writer.execute("PRAGMA page_count").fetchone()[0]
    store._writer.execute(f"PRAGMA max_page_count = {pages + 4}")
    with pytest.raises(DependencyError, match="no room left"):
        write(store, 0, 1, new_tasks=[task(1, probabilities=BIG)])
    assert store.progress(P0) is None
    store._writer.execute("PRAGMA max_page_count = 1000000")
    write(store, 0, 1, new_tasks=[task(1, probabilities=BIG)])
    store.close()


def test_a_locked_file_is_told(sqlite_url: str) -> None:
    store = ready(sqlite_url)
    store._writer.execute("PRAGMA busy_timeout = 50")
    other = sqlite3.connect(str(database.parsed(sqlite_url).database), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(DependencyError, match="locked by another process"):
        write(store, 0, 1)
    other.execute("ROLLBACK")
    write(store, 0, 1)
    other.close()
    store.close()


def test_a_read_only_file_is_told(sqlite_url: str) -> None:
    ready(sqlite_url).close()
    store = open_store(f"{sqlite_url}")
    store._writer.execute("PRAGMA query_only = on")
    with pytest.raises(DependencyError, match="read-only"):
        write(store, 0, 1)
    store.close()


def test_a_file_of_another_kind_is_told(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(b"not a database " * 100)
    for opening in (open_store, lambda url: migrate.ensure(database.engine(url))):
        with pytest.raises(DependencyError, match="another kind"):
            opening(f"sqlite:///{path}")


def test_sqlite_is_durable_and_lets_others_read(sqlite_url: str) -> None:
    store = ready(sqlite_url)
    settings = {
        name: store._writer.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
    }
    full = 2
    assert settings == {
        "journal_mode": "wal",
        "synchronous": full,
        "foreign_keys": 0,
        "busy_timeout": 10_000,
    }
    with store.transaction(P0) as transaction:
        transaction.advance(0, 1)
        assert store.outbox(P0, Cursor(0), 1) == []
    store.close()
    assert os.path.exists(str(database.parsed(sqlite_url).database))
