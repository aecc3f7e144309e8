"""Reading for people: views, projects, dead letters. Nothing here is used by the consumer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Engine, Executable, Row, Text, bindparam, select, text

from connector.domain.rows import DeadRow, ProjectRow

from .failures import explained
from .schema import KEPT, dead_letters, projects
from .views import VIEWS, View

PAGE = 5_000


def view(
    engine: Engine,
    name: str,
    project: str | None = None,
    only: Mapping[str, Sequence[str]] | None = None,
) -> tuple[tuple[str, ...], Iterator[tuple[Any, ...]]]:
    """A view's columns, and its rows as they are read, ordered by what identifies them.

    Times are text (`YYYY-MM-DDTHH:MM:SS.ffffffZ`) and JSON is text on both databases.

    Args:
        engine: from `database.engine`.
        name: of `views.VIEWS`.
        project: only its rows, where the view has projects.
        only: for a column of names, those that its rows may have.

    Raises:
        KeyError: there is no such view.
        DependencyError, ConfigurationError: while reading.
    """
    return VIEWS[name].columns, _rows(engine, name, VIEWS[name], project, only or {})


def _rows(
    engine: Engine,
    name: str,
    view_: View,
    project: str | None,
    only: Mapping[str, Sequence[str]],
) -> Iterator[tuple[Any, ...]]:
    form = _form if engine.dialect.name == "postgresql" else '"{}"'.format
    shown = [form(column, view_) for column in view_.columns]
    allowed = {column: list(values) for column, values in only.items()}
    if project is not None and view_.per_project:
        allowed["project"] = [project]
    conditions = " AND ".join(f'"{column}" IN :{column}' for column in allowed)
    statement = text(
        f"SELECT {', '.join(shown)} FROM {name}"
        + (f" WHERE {conditions}" if conditions else "")
        + " ORDER BY "
        + ", ".join(f'{name}."{column}"' for column in view_.order)
    ).bindparams(*(bindparam(column, type_=Text(), expanding=True) for column in allowed))
    with explained(engine.url), engine.connect() as connection:
        for row in streamed(connection, statement, allowed):
            yield tuple(row)


def _form(column: str, view_: View) -> str:
    """A column as SQLite has it: here the server is much faster than Python would be."""
    if column in view_.times:
        return f"""to_char("{column}" AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24\\:MI\\:SS.US"Z"')"""
    return f'CAST("{column}" AS text)' if column in view_.json else f'"{column}"'


def streamed(
    connection: Connection, statement: Executable, parameters: Mapping[str, Any]
) -> Iterator[Row[Any]]:
    """Rows a page at a time, however many there are: a million at once would take 1.3 GB."""
    streaming = connection.execution_options(stream_results=True, max_row_buffer=PAGE)
    # The size is stated: without it "a partition" is all that there is.
    for page in streaming.execute(statement, parameters).partitions(PAGE):
        yield from page


def all_projects(engine: Engine) -> list[ProjectRow]:
    """Every project by name, with its configuration (`connector.domain.config.from_json`)."""
    with explained(engine.url), engine.connect() as connection:
        found = connection.execute(select(projects).order_by(projects.c.name))
        return [ProjectRow._make(row) for row in found]


def project(engine: Engine, name: str) -> ProjectRow | None:
    """The project of that name."""
    with explained(engine.url), engine.connect() as connection:
        row = connection.execute(select(projects).where(projects.c.name == name)).first()
    return None if row is None else ProjectRow._make(row)


def dead(engine: Engine, code: str | None = None, since: int | None = None) -> Iterator[DeadRow]:
    """Dead letters in the order of their origin: of one code, and not before `since` (us)."""
    statement = select(dead_letters).order_by(*dead_letters.primary_key.columns)
    if code is not None:
        statement = statement.where(dead_letters.c.code == code)
    if since is not None:
        statement = statement.where(dead_letters.c.at >= since)
    with explained(engine.url), engine.connect() as connection:
        for row in streamed(connection, statement, {}):
            yield DeadRow._make(row)


def table(engine: Engine, kind: type[Any]) -> list[Any]:
    """All rows of a kind of `connector.domain.rows`, in order of their keys; for comparing."""
    kept = KEPT[kind]
    with explained(engine.url), engine.connect() as connection:
        found = connection.execute(select(kept).order_by(*kept.primary_key.columns))
        return [kind._make(row) for row in found]
