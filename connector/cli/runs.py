"""Runs as people see them: what became of each, and what a held one would change."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from .terminal import out, rows

if TYPE_CHECKING:
    from sqlalchemy import Engine

COLUMNS = (
    "project", "run", "status", "algorithm", "upto", "tasks", "workers", "votes", "changed",
    "bound", "finished_at", "reason",
)  # fmt: skip
RIGHT = ("upto", "tasks", "workers", "votes", "changed", "bound")
STYLES = {"adopted": "green", "held": "bold yellow", "failed": "red", "refused": "red"}


def runs_of(engine: Engine, project: str | None, limit: int) -> list[dict[str, Any]]:
    """The newest runs, newest first, as the view `reconciliation_runs` has them."""
    from connector.adapters.sql import queries

    columns, found = queries.view(engine, "reconciliation_runs", project)
    runs = [dict(zip(columns, row, strict=True)) for row in found]
    for run in runs:
        for name in ("parameters", "summary", "changes", "durations"):
            if isinstance(run.get(name), str):
                run[name] = json.loads(run[name])
    runs.sort(key=lambda r: (r["finished_at"] or "", r["upto"] or 0), reverse=True)
    return runs[:limit]


def show(runs: Sequence[dict[str, Any]]) -> None:
    """A table; tab-separated lines where there is no terminal. Below it what is held."""
    if not sys.stdout.isatty():
        rows(COLUMNS, [[_text(run, column) for column in COLUMNS] for run in runs], right=RIGHT)
    else:
        out().print(_table(runs))
    for run in runs:
        if run["status"] == "held":
            out().print()
            _explain(run)


def _table(runs: Sequence[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    shown = [c for c in COLUMNS if c != "reason"]
    for column in shown:
        table.add_column(
            column,
            justify="right" if column in RIGHT else "left",
            no_wrap=column in ("project", "run", "status"),
        )
    for run in runs:
        table.add_row(
            *(
                Text(_text(run, c), style=STYLES.get(run["status"], "") if c == "status" else "")
                for c in shown
            )
        )
    return table


def _explain(run: dict[str, Any]) -> None:
    console = out()
    console.print(
        Text.assemble(
            (f"{run['project']} {run['run']}", "bold"), " is held: ", run["reason"] or "?"
        )
    )
    changes = run.get("changes") or []
    if not changes:
        return
    table = Table(box=None, pad_edge=False, header_style="bold", title_justify="left")
    for column in ("task", "now", "would be", "confidence"):
        table.add_column(column, justify="right" if column == "confidence" else "left")
    for change in changes[:10]:
        table.add_row(
            Text(change["task"]),
            Text(change["from"]),
            Text(change["to"] or ""),
            Text(f"{change['confidence']:.4f}"),
        )
    console.print(f"The {len(changes[:10])} most certain of its {run['changed']} changes:")
    console.print(table)


def _text(run: dict[str, Any], column: str) -> str:
    value = run.get(column)
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)
