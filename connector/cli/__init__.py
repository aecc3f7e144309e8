"""The command `crowdresolve`. `main` is its entry; each command is a module.

Modules that take long to import (Kafka's client, SQLAlchemy, numba) are imported by the commands
that need them, when they need them.
"""

from __future__ import annotations

import os
import sys

import typer

from connector.domain.errors import CrowdResolveError

from . import (
    asyncapi,
    bench,
    config,
    db,
    dead,
    demo,
    doctor,
    plan,
    project,
    reconcile,
    replay,
    report,
    run,
    simulate,
    topics,
    version,
)
from .options import BOXED
from .terminal import tell

__all__ = ["app", "main"]

app = typer.Typer(
    name="crowdresolve",
    help="Resolved labels and worker accuracy from a stream of crowd votes on Kafka.\n\n"
    "Every setting is a flag, a variable CROWDRESOLVE_<NAME> and a key of crowdresolve.toml; a flag"
    " that is one command's own has a variable with the command's name in it. Exit codes: 0 done,"
    " 1 failed, 2 usage, 3 configuration, 4 a dependency is unreachable.",
    no_args_is_help=True,
    rich_markup_mode="rich" if BOXED else None,
    pretty_exceptions_enable=False,
    context_settings={
        "help_option_names": ["-h", "--help"],
        # What is no setting gets its variable by click: CROWDRESOLVE_DEAD_LIST_LIMIT, say.
        "auto_envvar_prefix": "CROWDRESOLVE",
    },
)

app.command()(run.run)
app.add_typer(topics.app, name="topics")
app.add_typer(db.app, name="db")
app.add_typer(project.app, name="project")
app.add_typer(dead.app, name="dead")
app.add_typer(reconcile.app, name="reconcile")
app.command()(replay.replay)
app.add_typer(report.app, name="report")
app.command()(plan.plan)
app.add_typer(simulate.app, name="simulate")
app.command()(demo.demo)
app.add_typer(bench.app, name="bench")
app.command()(doctor.doctor)
app.command()(config.config)
app.command()(asyncapi.asyncapi)
app.command()(version.version)


def main() -> None:
    """Run the command of this process's arguments."""
    try:
        app()
    except CrowdResolveError as error:
        sys.exit(tell(error, bool(os.environ.get("CROWDRESOLVE_DEBUG"))))


if __name__ == "__main__":
    main()
