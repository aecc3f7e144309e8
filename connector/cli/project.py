"""`crowdresolve project`: declaring projects, and looking at them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from connector.domain.errors import ConfigurationError, CrowdResolveError
from connector.settings import Loaded

from .db import engine_of
from .options import command_with
from .terminal import as_json, result, rows, say

if TYPE_CHECKING:
    from connector.projectfile import ProjectFile

app = typer.Typer(no_args_is_help=True, help="Projects: their declaration and their state.")


@app.command()
@command_with("database", "bootstrap_servers", "kafka", "topic_annotations")
def apply(
    loaded: Loaded,
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Project files (TOML).", show_default=False),
    ],
    partition: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Send it there, for producers whose partitioner is not Kafka's murmur2."
            " A project that exists goes to its own partition anyway.",
        ),
    ] = None,
    wait: Annotated[
        bool,
        typer.Option(help="Wait until the service has applied it."),
    ] = True,
    timeout: Annotated[
        float,
        typer.Option(min=0, help="Seconds to wait at most."),
    ] = 60.0,
) -> None:
    """Send each file's declaration to the service, and wait until it is in force.

    All files are checked before anything is sent. A declaration is the whole configuration of its
    project: what the file omits is the default.
    """
    from .applying import declare

    found = checked(files)
    with engine_of(loaded) as engine:
        refused = declare(loaded, engine, found, partition, timeout if wait else None)
    for message in refused:
        say(message, "red")
    if refused:
        raise typer.Exit(1)


@app.command("list")
@command_with("database")
def list_(
    loaded: Loaded,
    json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """List the projects with how far they are."""
    from .projects import summaries

    with engine_of(loaded, must_exist=True) as engine:
        found = summaries(engine)
    if json:
        as_json(found)
        return
    columns = ("project", "kind", "classes", "partition", "tasks", "resolved", "votes", "workers")
    rows(
        columns,
        [[summary[column] for column in columns] for summary in found],
        right=("classes", "tasks", "resolved", "votes", "workers"),
    )


@app.command()
@command_with("database")
def show(
    loaded: Loaded,
    name: Annotated[str, typer.Argument(help="The project.", show_default=False)],
    json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Print a project's configuration as a project file, and how far it is."""
    from .projects import as_file, described, names

    with engine_of(loaded, must_exist=True) as engine:
        found = described(engine, name)
        if found is None:
            from connector.settings.load import closest

            known = names(engine)
            raise CrowdResolveError(f"there is no project {name}{closest(name, known)}")
    if json:
        as_json(found)
    else:
        result(as_file(found))


def checked(files: list[Path]) -> list[ProjectFile]:
    """Read all; ConfigurationError for the first that is wrong, or for a project named twice."""
    from connector.projectfile import read

    found = [read(path) for path in files]
    by_name: dict[str, Path] = {}
    for file in found:
        if file.name in by_name:
            raise ConfigurationError(
                f"{by_name[file.name]} and {file.path} both declare the project {file.name}"
            )
        by_name[file.name] = file.path
    return found
