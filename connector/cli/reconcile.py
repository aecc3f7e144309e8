"""`crowdresolve reconcile`: the scheduled job, and what a person decides of its runs."""

from __future__ import annotations

import secrets
from enum import StrEnum
from typing import Annotated

import structlog
import typer

from connector.domain.errors import CrowdResolveError
from connector.settings import Loaded

from . import moments
from .db import engine_of
from .options import KAFKA, command_with
from .terminal import as_json, result, say

log = structlog.get_logger("crowdresolve")


class Algorithm(StrEnum):
    """What a project file may say, too."""

    AUTO = "auto"
    SORTED_SBIC = "sorted_sbic"
    COLA = "cola"
    DAWID_SKENE = "dawid_skene"


app = typer.Typer(
    invoke_without_command=True,
    help="Reconcile projects with a method that sees all votes at once, while votes arrive.",
)


@app.callback()
@command_with("database", *KAFKA, "group", "instance", "topic_annotations", service=True)
def reconcile(
    loaded: Loaded,
    once: Annotated[
        bool, typer.Option("--once", help="Look at every project once, and end.")
    ] = False,
    every: Annotated[
        str | None,
        typer.Option(
            "--every", metavar="TIME", help="Look again after so long (15m, 12h), until SIGTERM."
        ),
    ] = None,
    project: Annotated[
        str | None, typer.Option("--project", metavar="NAME", help="Only this one.")
    ] = None,
    algorithm: Annotated[
        Algorithm | None,
        typer.Option(
            "--algorithm",
            help="Instead of what the projects say. auto: by gold where there is enough, else COLA"
            " for ordinal projects and Sorted SBIC for the others.",
            show_default=False,
        ),
    ] = None,
    min_new_votes: Annotated[
        int,
        typer.Option(
            "--min-new-votes",
            metavar="N",
            min=1,
            help="Leave a project alone until so many votes were cast or taken out since its last"
            " run. New gold, a block or a declaration is enough by itself.",
        ),
    ] = 1,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of everything random.")] = 0,
    lease: Annotated[
        float,
        typer.Option(
            "--lease-seconds",
            min=1,
            help="After so long without a sign of life another job takes a project over.",
        ),
    ] = 60.0,
    timeout: Annotated[
        float,
        typer.Option(
            "--timeout",
            min=0,
            help="Seconds to wait at most until the service has consumed a run.",
        ),
    ] = 600.0,
) -> None:
    """Reconcile the projects whose votes changed since their last run.

    Reads one snapshot of a project, computes, and sends what it found through the log; the
    service adopts it. Any number of these may run at once: they share the projects. SIGTERM ends
    it cleanly, with exit code 0.
    """
    if once == (every is not None):
        raise typer.BadParameter("give one of --once and --every", param_hint="--once")
    interval = None if every is None else moments.span(every, "--every")

    from connector.reconcile.options import Options

    from .reconciling import reconciling

    options = Options(
        # Two processes of one name must not take each other's leases for their own.
        holder=f"{loaded.settings.instance}-{secrets.token_hex(4)}",
        topic=loaded.settings.topic_annotations,
        project=project,
        algorithm=None if algorithm is None else algorithm.value,
        min_new_votes=min_new_votes,
        lease_s=lease,
        wait_s=timeout,
        seed=seed,
    )
    with engine_of(loaded, must_exist=True) as engine:
        code = reconciling(loaded, engine, options, interval)
    if code:
        raise typer.Exit(code)


@app.command("list")
@command_with("database")
def list_(
    loaded: Loaded,
    project: Annotated[
        str | None, typer.Option("--project", metavar="NAME", help="Only this one's.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="The newest.")] = 20,
    json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """List the runs, the newest first; of those that are held, why and what they would change."""
    from connector.adapters.sql import migrate

    from .runs import runs_of, show

    with engine_of(loaded, must_exist=True) as engine:
        migrate.check(engine)
        found = runs_of(engine, project, limit)
    if json:
        as_json(found)
    else:
        show(found)


@app.command()
@command_with("database", *KAFKA, "topic_annotations")
def approve(
    loaded: Loaded,
    run: Annotated[str, typer.Argument(help="The run, as `list` has it.", show_default=False)],
    project: Annotated[
        str | None, typer.Option("--project", metavar="NAME", help="Whose run it is.")
    ] = None,
    wait: Annotated[bool, typer.Option(help="Wait until the service has adopted it.")] = True,
    timeout: Annotated[float, typer.Option(min=0, help="Seconds to wait at most.")] = 60.0,
) -> None:
    """Adopt a run that is held."""
    _decide(loaded, "reconciliation.approved", run, project, timeout if wait else None)


@app.command()
@command_with("database", *KAFKA, "topic_annotations")
def reject(
    loaded: Loaded,
    run: Annotated[str, typer.Argument(help="The run, as `list` has it.", show_default=False)],
    project: Annotated[
        str | None, typer.Option("--project", metavar="NAME", help="Whose run it is.")
    ] = None,
    wait: Annotated[bool, typer.Option(help="Wait until the service has dropped it.")] = True,
    timeout: Annotated[float, typer.Option(min=0, help="Seconds to wait at most.")] = 60.0,
) -> None:
    """Drop a run that is held."""
    _decide(loaded, "reconciliation.rejected", run, project, timeout if wait else None)


def _decide(
    loaded: Loaded, kind: str, run: str, project: str | None, timeout_s: float | None
) -> None:
    from connector.adapters.sql import migrate

    from .deciding import decide

    with engine_of(loaded, must_exist=True) as engine:
        migrate.check(engine)
        said, good = decide(loaded, engine, kind, run, project, timeout_s)
    if not good:
        say(said, "red")
        raise typer.Exit(CrowdResolveError.exit_code)
    result(said)
