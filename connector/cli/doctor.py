"""`crowdresolve doctor`: is everything there that the service needs?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from connector.domain.errors import ConfigurationError, CrowdResolveError
from connector.settings import Loaded

from .checks import Check, State, failed, installation
from .db import engine_of
from .options import ALL, command_with
from .terminal import as_json, out

if TYPE_CHECKING:
    from collections.abc import Mapping

STYLES = {State.OK: "green", State.WARNING: "yellow", State.FAILED: "bold red"}
CONNECT_MS = "8000"


@command_with(*ALL)
def doctor(
    loaded: Loaded,
    json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Check installation, database, Kafka, topics, schema, projects, lag; say what to do.

    Exit code 0 if nothing failed (warnings count for nothing), 1 if something did, 4 if the
    database or Kafka cannot be reached.
    """
    found = []
    for check in checks(loaded):
        found.append(check)
        if not json:
            show(check)
    bad = [check for check in found if check.state is State.FAILED]
    if json:
        as_json({"ok": not bad, "checks": [check._asdict() for check in found]})
    if bad:
        raise typer.Exit(4 if any(check.unreachable for check in bad) else 1)


def checks(loaded: Loaded) -> Iterator[Check]:
    """Every check, as it is done.

    Raises:
        ConfigurationError: a setting is wrong.
    """
    from .checks import cluster
    from .clients import kafka_client, topic_names

    client = kafka_client(loaded.settings, loaded.origins, connect_ms=CONNECT_MS)
    yield from installation.look(loaded)
    known: tuple[Mapping[int, int] | None, int | None] = (None, None)
    healthy = True
    for check in _database(loaded):
        healthy = healthy and check.state is not State.FAILED
        yield check
    if healthy:
        known = _known(loaded)
    yield from cluster.look(client, topic_names(loaded.settings), loaded.settings, *known)


def show(check: Check) -> None:
    """One line: what, how it is, what was found; and what to do."""
    line = Text.assemble(
        (f"{check.state:7}", STYLES[check.state]), f"  {check.what}: ", (check.found, "")
    )
    if check.todo:
        line.append(f" -> {check.todo}", "bold")
    out().print(line, soft_wrap=True)


def _database(loaded: Loaded) -> Iterator[Check]:
    from .checks import database
    from .clients import require_database

    try:
        require_database(loaded)
    except ConfigurationError as error:
        yield failed("database", str(error), "`crowdresolve run` makes it, too")
        return
    with engine_of(loaded) as engine:
        try:
            yield from database.look(engine)
        except CrowdResolveError as error:
            yield failed("database", str(error), "see there", unreachable=error.exit_code == 4)


def _known(loaded: Loaded) -> tuple[Mapping[int, int], int | None]:
    """What the database knows of the annotations topic."""
    from . import reading
    from .checks import database

    topic = loaded.settings.topic_annotations
    with engine_of(loaded) as engine:
        return database.expected(engine, topic), reading.partitions_of(engine, topic)
