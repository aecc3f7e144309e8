"""`crowdresolve report`: what the database says, for people and for their scripts."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from typing import TYPE_CHECKING, Annotated

import typer

from connector.settings import Loaded

from .db import engine_of
from .options import command_with
from .terminal import say

if TYPE_CHECKING:
    from typing import BinaryIO

    from rich.console import Console

app = typer.Typer(no_args_is_help=True, help="Workers, tasks, projects and resolutions so far.")

FORMATS = ("table", "csv", "json", "html")
LIMIT = 50
WIDTH = 160
"""Columns of a table that goes to a file or a pipe."""

Project = Annotated[str | None, typer.Option("--project", metavar="NAME", help="Only this one.")]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="|".join(FORMATS),
        help="By default a table, or what the extension of --out says. CSV and JSON are complete;"
        " HTML is one page with pictures that needs nothing else.",
    ),
]
Out = Annotated[
    str | None, typer.Option("--out", metavar="FILE", help="Where to, instead of the screen.")
]
Limit = Annotated[
    int, typer.Option("--limit", metavar="N", min=1, help="Most rows of a table or page.")
]

Worker = Annotated[
    list[str] | None,
    typer.Option(
        "--worker", metavar="NAME", help="Only this one, repeatable; the page has its history."
    ),
]


@app.command()
@command_with("database")
def workers(
    loaded: Loaded,
    project: Project = None,
    worker: Worker = None,
    format: Format = None,
    out: Out = None,
    limit: Limit = LIMIT,
) -> None:
    """How accurate each worker is: of one project, the view worker_quality; else over all projects.

    The flagged and then the worst come first.
    """
    _report(loaded, "workers", project, format, out, limit, worker or ())


@app.command()
@command_with("database")
def tasks(
    loaded: Loaded,
    project: Project = None,
    format: Format = None,
    out: Out = None,
    limit: Limit = LIMIT,
) -> None:
    """Every task's label (the view task_labels); the table has the least sure first."""
    _report(loaded, "tasks", project, format, out, limit)


@app.command("project")
@command_with("database")
def project_(
    loaded: Loaded, project: Project = None, format: Format = None, out: Out = None
) -> None:
    """How far each project is, and whether its confidence can be believed."""
    _report(loaded, "project", project, format, out, LIMIT)


@app.command()
@command_with("database")
def resolutions(
    loaded: Loaded,
    project: Project = None,
    format: Format = None,
    out: Out = None,
    limit: Limit = LIMIT,
) -> None:
    """How tasks were resolved and how sure that is; CSV and JSON have the resolved tasks."""
    _report(loaded, "resolutions", project, format, out, limit)


def _report(
    loaded: Loaded,
    kind: str,
    project: str | None,
    format: str | None,
    out: str | None,
    limit: int,
    only: Sequence[str] = (),
) -> None:
    from connector.adapters.sql import migrate
    from connector.reports import formats, html
    from connector.reports.rows import REPORTS, plain, projects
    from connector.reports.rows import workers as workers_
    from connector.reports.tables import TABLES

    chosen = _format(format, out)
    if chosen == "html":
        html.check()
    with engine_of(loaded, must_exist=True) as engine:
        migrate.check(engine)
        configs = projects(engine, project)
        if chosen == "html":
            with _bytes(out) as file:
                html.write(file, engine, kind, project, configs, limit, only)
            _written(out)
            return
        report = workers_(engine, project, only) if only else REPORTS[kind](engine, project)
        if chosen == "table":
            with _console(out) as console:
                TABLES[kind](console, report, configs, limit)
        else:
            rows = plain(report) if chosen == "json" else report.rows
            with _bytes(out) as file:
                formats.FORMATS[chosen](file, report.columns, rows)
    _written(out)


def _written(out: str | None) -> None:
    if out is not None:
        say(f"Written to {out}")


def _format(format: str | None, out: str | None) -> str:
    from connector.reports.formats import Unsupported

    if format is None:
        extension = "" if out is None else out.rpartition(".")[2].lower()
        return {"htm": "html"}.get(extension, extension if extension in FORMATS else "table")
    if format not in FORMATS:
        raise Unsupported(f"--format {format}: there are {', '.join(FORMATS)}")
    return format


@contextmanager
def _bytes(out: str | None) -> Iterator[BinaryIO]:
    from connector.reports.formats import target

    if out is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with target(out) as file:
        yield file


@contextmanager
def _console(out: str | None) -> Iterator[Console]:
    from rich.console import Console

    if out is None:
        yield Console(width=None if sys.stdout.isatty() else WIDTH, highlight=False)
        return
    with _bytes(out) as file:
        text = TextIOWrapper(file, encoding="utf-8")
        yield Console(file=text, width=WIDTH, highlight=False)
        text.flush()
        text.detach()
