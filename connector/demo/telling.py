"""The demo's last page."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from .crowd import PROJECT
from .ending import SHOWN, Ending, WorkerLine
from .lines import RESOLVED
from .stage import Stage


def tell(console: Console, ending: Ending, seconds: float) -> None:
    """Print it."""
    console.print()
    for line in sentences(ending, seconds):
        console.print(Text(line))
    half = min(SHOWN, (len(ending.workers) + 1) // 2)
    console.print()
    console.print(_workers("Best workers", ending.workers[:half]))
    console.print()
    worst = sorted(ending.workers[half:], key=lambda w: w.upper)[:half]
    console.print(_workers("Worst workers", worst))
    covered = sum(w.covered for w in ending.workers)
    console.print(
        f"The 95 % interval holds the true skill of {covered} of {len(ending.workers)} workers."
    )


def sentences(ending: Ending, seconds: float) -> Iterator[str]:
    """The result in words."""
    yield (
        f"{ending.resolved} of {ending.tasks} tasks resolved in {seconds:.0f} s, {ending.right} of"
        f" them right ({ending.accuracy:.1%})."
    )
    yield f"Labels used: {ending.labels:,}, {ending.labels_per_task:.1f} per task."
    needed = ending.majority_needs
    same = max(1, min(len(ending.majority), round(ending.labels_per_task)))
    if needed is None:
        yield (
            f"Majority vote does not get there with this crowd: all {len(ending.majority)} workers"
            f" on every task give {ending.majority[-1]:.1%} (expected)."
        )
    else:
        yield (
            f"Majority vote with a fixed number of labels per task needs {needed} per task"
            f" ({needed * ending.tasks:,}) for the same accuracy (expected, same crowd);"
        )
        yield f"with {same} per task it gets {ending.majority[same - 1]:.1%} right."
    if not ending.same_labels_as_heard:
        yield "The subscriber has not heard of every change yet."


def _workers(title: str, lines: Sequence[WorkerLine]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(title)
    for column in ("estimated", "95 % interval", "true skill", "votes"):
        table.add_column(column, justify="right")
    table.add_column("")
    for w in lines:
        table.add_row(
            w.person.name,
            f"{w.accuracy:.3f}",
            f"{w.lower:.3f} - {w.upper:.3f}",
            f"{w.person.skill:.3f}",
            str(w.votes),
            "" if w.person.kind == "worker" else w.person.kind,
        )
    return table


def commands(stage: Stage | None) -> list[str]:
    """Three commands to try next, ready to copy; with a stage that stays, on it."""
    us = _program("crowdresolve")
    if stage is None:
        # Such as work here and now: there is no broker and no file of votes yet.
        return [f"{us} demo --keep", f"{us} replay --help", f"{us} run --help"]
    database = f"--database {stage.database}"
    found = [
        f"{us} report workers --project {PROJECT} {database}",
        f"{us} report project --project {PROJECT} {database}",
    ]
    if stage.bootstrap is None:
        return [*found, f"{us} project show {PROJECT} {database}"]
    # Without a group: joining one takes longer than the reading.
    reader = f"{_program('kafka-python')} consumer -b {stage.bootstrap} -t {RESOLVED}"
    return [*found, f"{reader} -C auto_offset_reset=earliest"]


def _program(name: str) -> str:
    """How to call a command of this environment from a shell: as it was called, if need be."""
    mine = Path(sys.executable).with_name(name)
    found = shutil.which(name)
    if found is not None and mine.exists() and Path(found).samefile(mine):
        return name
    beside = Path(sys.argv[0]).with_name(name)
    return str(beside if beside.exists() else mine if mine.exists() else name)
