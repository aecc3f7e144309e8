"""What the database knows of projects, for people."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from connector.adapters.sql import queries
from connector.domain.config import as_declared, from_json
from connector.domain.instants import format_instant
from connector.domain.rows import ProjectRow

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Engine


def summaries(engine: Engine) -> list[dict[str, Any]]:
    """One line a project."""
    progress = _progress(engine)
    return [_summary(row, progress.get(row.name, {})) for row in queries.all_projects(engine)]


def names(engine: Engine) -> list[str]:
    """Of every project."""
    return [row.name for row in queries.all_projects(engine)]


def described(engine: Engine, name: str) -> dict[str, Any] | None:
    """A project's state and its whole configuration, or None where there is none."""
    row = queries.project(engine, name)
    if row is None:
        return None
    declared = as_declared(from_json(row.config))
    own = {"name": row.name, **declared["project"]}
    return {
        **_summary(row, _progress(engine, name).get(name, {})),
        "declared_at": format_instant(row.declared_at),
        "configuration": {**declared, "project": own},
    }


def as_file(found: Mapping[str, Any]) -> str:
    """The configuration as a project file that could be applied again; its state as comments."""
    state = ", ".join(
        f"{key} {found[key]}" for key in ("tasks", "resolved", "open", "votes", "workers")
    )
    lines = [f"# on {found['partition']}, declared at {found['declared_at']}", f"# {state}"]
    for table, keys in found["configuration"].items():
        lines.append(f"[{table}]")
        lines += [f"{key} = {_toml(value)}" for key, value in keys.items()]
    return "\n".join(lines)


def _summary(row: ProjectRow, progress: Mapping[str, Any]) -> dict[str, Any]:
    config = from_json(row.config)
    return {
        "project": row.name,
        "kind": config.kind,
        "classes": config.K,
        "partition": f"{row.topic}/{row.partition}",
        "workers": row.workers,
        **{
            key: progress.get(key)
            for key in ("tasks", "open", "resolved", "ambiguous", "votes", "mean_confidence")
        },
    }


def _progress(engine: Engine, name: str | None = None) -> dict[str, dict[str, Any]]:
    columns, found = queries.view(engine, "project_progress", name)
    lines = [dict(zip(columns, row, strict=True)) for row in found]
    return {line["project"]: line for line in lines}


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, str):
        # A JSON string is a TOML string, but for one character that TOML wants escaped.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)
