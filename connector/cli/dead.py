"""`crowdresolve dead`: records that could not be used, and sending them again."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from connector.domain.errors import DeadCode
from connector.domain.instants import format_instant
from connector.settings import Loaded

from . import moments
from .db import engine_of
from .options import command_with
from .terminal import as_json, result, rows, say, waiting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from connector.domain.rows import DeadRow

app = typer.Typer(no_args_is_help=True, help="Dead letters: records that could not be used.")

_Code = Annotated[
    DeadCode | None,
    typer.Option("--code", metavar="CODE", help="Only of this code."),
]
_Project = Annotated[
    str | None,
    typer.Option(
        "--project",
        metavar="NAME",
        help="Only records that name this project; they are read from Kafka to see.",
    ),
]


@app.command("list")
@command_with("database", "bootstrap_servers", "kafka", "topic_dead")
def list_(
    loaded: Loaded,
    code: _Code = None,
    project: _Project = None,
    limit: Annotated[
        int,
        typer.Option("--limit", min=1, help="At most so many."),
    ] = 50,
    json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """List dead letters, the newest first: why, where, when and how large each was."""
    from .reading import newest_dead

    with engine_of(loaded, must_exist=True) as engine:
        letters, count = newest_dead(
            engine, code and code.value, limit if project is None else None
        )
    if project is not None:
        letters = _of_project(loaded, letters, project)
        count = len(letters)
        letters = letters[:limit]
    columns = ("code", "message", "topic", "partition", "offset", "at", "size")
    lines = [
        {
            **{column: getattr(letter, column) for column in columns},
            "at": format_instant(letter.at),
            "size": None if letter.size < 0 else letter.size,
        }
        for letter in letters
    ]
    if json:
        as_json(lines)
        return
    rows(
        columns,
        [[line[column] for column in columns] for line in lines],
        right=("partition", "offset", "size"),
    )
    if count > len(lines):
        say(f"{len(lines)} of {count}; --limit shows more")


@app.command()
@command_with("database", "bootstrap_servers", "kafka", "topic_annotations", "topic_dead")
def redrive(
    loaded: Loaded,
    code: _Code = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--since",
            metavar="TIME",
            help="Only those that died since then: 2026-01-02T03:04:05Z, or 90m, 12h, 7d ago.",
        ),
    ] = None,
    project: _Project = None,
    again: Annotated[
        bool,
        typer.Option(
            "--again",
            help="Also those that were sent again before, even if they died again: each record"
            " once.",
        ),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Send the original records of dead letters again: key, value and headers, same partition.

    What was wrong with them should be mended first: their project declared, say. Records that
    have been sent again before are left out, those that died again too.
    """
    from connector.adapters.sql import queries

    start = None if since is None else moments.parsed(since, "--since")
    topic = loaded.settings.topic_annotations
    with engine_of(loaded, must_exist=True) as engine:
        found = list(queries.dead(engine, code and code.value, start))
    letters = [letter for letter in found if letter.topic == topic]
    if len(letters) < len(found):
        say(f"{len(found) - len(letters)} came from other topics than {topic}: left out", "yellow")
    if not letters:
        result("No dead letter to send again")
        return
    if not yes and sys.stdin.isatty() and sys.stderr.isatty():
        what = "dead letter" if len(letters) == 1 else "dead letters"
        typer.confirm(f"Send {len(letters)} {what} again to {topic}?", abort=True, err=True)
    if _redrive(loaded, letters, project, again):
        raise typer.Exit(1)


def _redrive(loaded: Loaded, letters: Sequence[DeadRow], project: str | None, again: bool) -> bool:
    """Send them, say how it went; whether something went wrong."""
    from .clients import kafka_client
    from .redriving import project_of
    from .redriving import redrive as redriven

    with waiting(f"Sending {len(letters)} records again"):
        outcome = redriven(
            kafka_client(loaded.settings, loaded.origins),
            loaded.settings.topic_annotations,
            loaded.settings.topic_dead,
            letters,
            again=again,
            wanted=lambda record: project is None or project_of(record) == project,
        )
    result(f"{outcome.sent} sent again")
    if outcome.earlier:
        result(f"{outcome.earlier} left out: sent again before (--again repeats them)")
    if outcome.died_again:
        result(f"{outcome.died_again} left out: died again (--again, once the reason is gone)")
    if outcome.gone:
        say(f"{len(outcome.gone)} could not be read: their bytes are gone from both topics", "red")
    for origin, reason in outcome.failed[:20]:
        say(f"{origin[0]}/{origin[1]} offset {origin[2]} could not be sent: {reason}", "red")
    if len(outcome.failed) > 20:
        say(f"{len(outcome.failed) - 20} more could not be sent", "red")
    return bool(outcome.gone or outcome.failed)


def _of_project(loaded: Loaded, letters: list[DeadRow], project: str) -> list[DeadRow]:
    from connector.adapters.kafka.fetching import fetcher

    from .clients import kafka_client
    from .redriving import originals, project_of

    places = {(letter.topic, letter.partition, letter.offset) for letter in letters}
    client = kafka_client(loaded.settings, loaded.origins)
    with waiting("Reading the records"), fetcher(client) as source:
        theirs = {
            place
            for place, record in originals(source, places, loaded.settings.topic_dead)
            if project_of(record) == project
        }
    return [
        letter for letter in letters if (letter.topic, letter.partition, letter.offset) in theirs
    ]
