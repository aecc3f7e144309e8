"""The role of deploy/reader.sql sees the public views and no table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.exc import ProgrammingError

from tests.services import PostgresService

pytestmark = pytest.mark.services

SCRIPT = (Path(__file__).parents[2] / "deploy" / "reader.sql").read_text()


@pytest.fixture
def connection(postgres: PostgresService, postgres_url: str) -> Iterator[Connection]:
    if not postgres.can_kill:
        pytest.skip("a role belongs to the whole server, and this one is not ours")
    engine = create_engine(postgres_url)
    with engine.connect() as connection:
        connection.execute(text("CREATE TABLE tasks AS SELECT 't1' AS task, 'cat' AS label"))
        connection.execute(text("CREATE VIEW task_labels AS SELECT task, label FROM tasks"))
        for _ in range(2):  # it is safe to run again
            # As psql sends it: its percent signs are no placeholders.
            connection.exec_driver_sql(SCRIPT, execution_options={"no_parameters": True})
        connection.execute(text("SET ROLE crowdresolve_reader"))
        yield connection
        connection.rollback()  # the role goes too
    engine.dispose()


def test_the_reader_reads_the_views(connection: Connection) -> None:
    assert connection.execute(text("SELECT label FROM task_labels")).scalar() == "cat"


@pytest.mark.parametrize(
    "statement",
    ["SELECT * FROM tasks", "DELETE FROM task_labels", "CREATE TABLE mine (n integer)"],
)
def test_the_reader_can_do_nothing_else(connection: Connection, statement: str) -> None:
    with pytest.raises(ProgrammingError, match="permission denied"):
        connection.execute(text(statement))
