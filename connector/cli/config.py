"""`crowdresolve config`: the settings in force."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from connector.settings import FIELDS, Loaded

from .options import ALL, command_with
from .secrets import masked_database, masked_kafka
from .terminal import as_json, rows


@command_with(*ALL)
def config(
    loaded: Loaded,
    format: Annotated[
        Literal["table", "json"],
        typer.Option(help="A table for people, or JSON."),
    ] = "table",
) -> None:
    """Print the settings in force and where each came from; secrets are masked."""
    found = effective(loaded)
    if format == "json":
        as_json(
            {name: {"value": value, "origin": origin} for name, (value, origin) in found.items()}
        )
        return
    rows(
        ("setting", "value", "origin"),
        [(name, _shown(value), origin) for name, (value, origin) in found.items()],
    )


def effective(loaded: Loaded) -> dict[str, tuple[object, str]]:
    """Every setting's value, masked where it is secret, and its origin."""
    found: dict[str, tuple[object, str]] = {}
    for name in FIELDS:
        if name == "kafka":
            continue
        value = getattr(loaded.settings, name)
        if name == "database":
            value = masked_database(value)
        found[name] = (value, str(loaded.origin(name)))
    for key, text in sorted(loaded.settings.kafka.items()):
        found[f"kafka.{key}"] = (masked_kafka(key, text), str(loaded.origin(f"kafka.{key}")))
    return found


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
