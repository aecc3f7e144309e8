"""`crowdresolve version`."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from typing import Annotated

import typer

from connector.settings import Loaded

from .options import command_with
from .terminal import as_json, result

LIBRARIES = (
    "kafka-python",
    "SQLAlchemy",
    "psycopg",
    "alembic",
    "msgspec",
    "numpy",
    "numba",
    "scipy",
)


@command_with()
def version(
    loaded: Loaded,
    json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Print the versions of CrowdResolve and of what it stands on."""
    found = versions()
    if json:
        as_json(found)
        return
    for name, value in found.items():
        if isinstance(value, dict):
            for library, number in value.items():
                result(f"{library:14} {number}")
        else:
            shown = ", ".join(value) if isinstance(value, list) else value
            result(f"{name:14} {shown}")


def versions() -> dict[str, object]:
    """Everything that a report of a bug should say."""
    return {
        "crowdresolve": number("crowdresolve"),
        "python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        "libraries": {name: number(name) for name in LIBRARIES},
        "schema": head(),
        "algorithms": algorithms(),
    }


def number(distribution: str) -> str:
    """Its installed version, or that it is not installed."""
    try:
        return installed(distribution)
    except PackageNotFoundError:
        return "not installed"


def head() -> str:
    """The revision of the schema that this release is written for."""
    from connector.adapters.sql import migrate

    return migrate.head()


def algorithms() -> list[str]:
    """Those that `replay --algorithm` can name."""
    import aggregators

    return sorted(aggregators.METHODS)
