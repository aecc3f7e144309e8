"""The schema is the sum of the migrations, and a database is brought to it once and whole."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, Engine, inspect, text

from connector.adapters.sql import database, migrate
from connector.adapters.sql.schema import KEPT, metadata
from connector.adapters.sql.views import VIEWS
from connector.domain.errors import ConfigurationError, DependencyError

HEAD = int(migrate.head())


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    """An empty database, of each kind."""
    made = database.engine(database_url)
    yield made
    made.dispose()


def mark(engine: Engine, revision: str) -> None:
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :r"), {"r": revision})


def described(connection: Connection) -> list[Any]:
    """All that the database knows of its tables and indexes."""
    if connection.dialect.name == "sqlite":
        found = connection.exec_driver_sql(
            "SELECT type, name, sql FROM sqlite_master"
            " WHERE name <> 'alembic_version' AND tbl_name <> 'alembic_version' AND type <> 'view'"
            " ORDER BY 1, 2"
        )
        return [(kind, name, " ".join((sql or "").split())) for kind, name, sql in found]
    columns = connection.exec_driver_sql(
        "SELECT table_name, ordinal_position, column_name, data_type, collation_name, is_nullable,"
        " column_default FROM information_schema.columns WHERE table_schema = 'public'"
        " AND table_name IN (SELECT tablename FROM pg_tables) AND table_name <> 'alembic_version'"
        " ORDER BY 1, 2"
    )
    indexes = connection.exec_driver_sql(
        "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'"
        " AND tablename <> 'alembic_version' ORDER BY 1"
    )
    settings = connection.exec_driver_sql(
        "SELECT relname, reloptions FROM pg_class WHERE relkind = 'r'"
        " AND relnamespace = 'public'::regnamespace AND relname <> 'alembic_version' ORDER BY 1"
    )
    return [*columns.all(), *indexes.all(), *settings.all()]


def test_the_schema_equals_all_migrations(engine: Engine) -> None:
    migrate.upgrade(engine)
    with engine.begin() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
        migrated = described(connection)
        for view in VIEWS:
            connection.exec_driver_sql(f"DROP VIEW {view}")
        metadata.drop_all(connection)
        metadata.create_all(connection)
        assert described(connection) == migrated
        assert migrated


def test_the_views_have_the_columns_that_are_promised(engine: Engine) -> None:
    migrate.upgrade(engine)
    with engine.connect() as connection:
        assert set(inspect(connection).get_view_names()) == set(VIEWS)
        for name, view in VIEWS.items():
            found = connection.exec_driver_sql(f"SELECT * FROM {name}")
            assert tuple(found.keys()) == view.columns
            assert set(view.order) <= set(view.columns)
            assert view.times | view.json <= set(view.columns)


@pytest.mark.parametrize("kind", KEPT, ids=lambda kind: kind.__name__)
def test_a_table_has_the_fields_of_its_rows_in_their_order(kind: Any) -> None:
    assert tuple(column.name for column in KEPT[kind].columns) == kind._fields


def test_an_empty_database_is_brought_to_the_head(engine: Engine) -> None:
    assert migrate.current(engine) is None
    assert migrate.upgrade(engine) == (None, migrate.head())
    assert migrate.current(engine) == migrate.check(engine) == migrate.head()
    assert migrate.upgrade(engine) == (migrate.head(), migrate.head())


def test_ensure_makes_the_schema_once(engine: Engine) -> None:
    migrate.ensure(engine)
    migrate.ensure(engine)
    assert migrate.current(engine) == migrate.head()


def test_a_fresh_table_is_empty_whatever_the_planner_was_taught(engine: Engine) -> None:
    migrate.upgrade(engine)
    with engine.connect() as connection:
        for table in metadata.tables:
            assert connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar() == 0


def test_check_asks_for_an_upgrade_where_there_is_no_schema(engine: Engine) -> None:
    with pytest.raises(ConfigurationError, match=r"--database.*crowdresolve db upgrade"):
        migrate.check(engine)


@pytest.mark.parametrize("distance", [-1, 0, 1])
def test_one_revision_before_or_after_is_worked_on(engine: Engine, distance: int) -> None:
    migrate.upgrade(engine)
    mark(engine, f"{HEAD + distance:04d}")
    migrate.ensure(engine)
    assert migrate.check(engine) == f"{HEAD + distance:04d}"


def test_a_revision_far_behind_asks_for_an_upgrade(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    migrate.upgrade(engine)
    monkeypatch.setattr(migrate, "head", lambda: f"{HEAD + 2:04d}")
    for refusing in (migrate.check, migrate.ensure):
        with pytest.raises(ConfigurationError, match=r"--database.*crowdresolve db upgrade"):
            refusing(engine)


def test_a_revision_far_ahead_asks_for_a_newer_release(engine: Engine) -> None:
    migrate.upgrade(engine)
    mark(engine, f"{HEAD + 2:04d}")
    for refusing in (migrate.check, migrate.ensure, migrate.upgrade):
        with pytest.raises(ConfigurationError, match=r"--database.*newer release"):
            refusing(engine)


def test_a_newer_database_is_not_brought_back(engine: Engine) -> None:
    migrate.upgrade(engine)
    mark(engine, f"{HEAD + 1:04d}")
    with pytest.raises(ConfigurationError, match="newer"):
        migrate.upgrade(engine)
    assert migrate.current(engine) == f"{HEAD + 1:04d}"


def test_a_revision_of_somebody_else_is_refused(engine: Engine) -> None:
    migrate.upgrade(engine)
    mark(engine, "ae1027a6acf")
    for refusing in (migrate.check, migrate.ensure, migrate.upgrade):
        with pytest.raises(ConfigurationError, match=r"--database.*never made.*ae1027a6acf"):
            refusing(engine)


def test_tables_of_somebody_else_are_left_alone(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE tasks (mine INTEGER)")
    with pytest.raises(ConfigurationError, match=r"somebody else.*tasks"):
        migrate.ensure(engine)
    with engine.connect() as connection:
        assert inspect(connection).get_table_names() == ["tasks"]


def test_an_upgrade_that_fails_leaves_nothing(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE VIEW calibration AS SELECT 1 AS mine")
    with pytest.raises(Exception, match="calibration"):
        migrate.upgrade(engine)
    with engine.connect() as connection:
        assert inspect(connection).get_table_names() == []


def test_processes_that_start_at_once_make_one_schema(database_url: str) -> None:
    program = (
        "import sys; from connector.adapters.sql import database, migrate;"
        "engine = database.engine(sys.argv[1]); migrate.head(); print('ready', flush=True);"
        "sys.stdin.read(1); migrate.ensure(engine)"
    )
    command = [sys.executable, "-W", "error::DeprecationWarning", "-c", program, database_url]
    pipe, into_it = subprocess.PIPE, subprocess.STDOUT
    processes = [
        subprocess.Popen(command, text=True, stdin=pipe, stdout=pipe, stderr=into_it)
        for _ in range(4)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("g")
        process.stdin.flush()
    said = [process.communicate(timeout=60)[0] for process in processes]
    assert said == [""] * 4, "an upgrade says nothing"
    assert [process.returncode for process in processes] == [0] * 4
    engine = database.engine(database_url)
    assert migrate.check(engine) == migrate.head()
    engine.dispose()


def test_a_database_that_is_not_there_says_what_to_do() -> None:
    for url, told in {
        "postgresql+psycopg://x@127.0.0.1:1/y": "cannot be reached.*running",
        "sqlite:////nowhere/at/all.db": "cannot be opened.*directory",
    }.items():
        with pytest.raises(DependencyError, match=told):
            migrate.ensure(database.engine(url))
