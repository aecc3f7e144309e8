"""The demo as it runs: a live view on a terminal, a line every few seconds elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from .platform import Platform
from .play import Rates

Show = Callable[[float, Rates], None]
EVERY_S = 3.0


@contextmanager
def showing(console: Console, platform: Platform) -> Iterator[Show]:
    """What `play` is to call."""
    if not console.is_terminal:
        yield Lines(console, platform)
        return
    with Live(console=console, refresh_per_second=8, transient=True) as live:
        yield lambda seconds, rates: live.update(_view(platform, seconds, rates))


class Lines:
    """A line now and then."""

    def __init__(self, console: Console, platform: Platform) -> None:
        self._console = console
        self._platform = platform
        self._told = time.monotonic()

    def __call__(self, seconds: float, rates: Rates) -> None:
        now = time.monotonic()
        if now - self._told >= EVERY_S:
            self._told = now
            self._console.print(f"{seconds:4.0f} s  {status(self._platform, rates)}")


def status(platform: Platform, rates: Rates) -> str:
    """Where it stands, in a line."""
    resolved = platform.resolved
    right = f", {platform.right / resolved:.1%} of them right" if resolved else ""
    return (
        f"{resolved} of {len(platform.crowd.tasks)} tasks resolved{right}; {platform.sent:,} labels"
        f" ({rates.votes:.0f}/s in, {rates.messages:.0f}/s out)"
    )


def _view(platform: Platform, seconds: float, rates: Rates) -> Group:
    total = len(platform.crowd.tasks)
    top = Table.grid(padding=(0, 2))
    top.add_row(
        Text("tasks resolved"),
        ProgressBar(total=total, completed=platform.resolved, width=40),
        Text(f"{platform.resolved} of {total}"),
    )
    resolved = platform.resolved
    figures = Table.grid(padding=(0, 3))
    figures.add_row(
        _figure("labels used", f"{platform.sent:,}"),
        _figure("right so far", f"{platform.right / resolved:.1%}" if resolved else "-"),
        _figure("votes in", f"{rates.votes:.0f}/s"),
        _figure("messages out", f"{rates.messages:.0f}/s"),
        _figure("time", f"{seconds:.0f} s"),
    )
    latest = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("labels.resolved", "task", "label", "confidence", "votes", ""):
        latest.add_column(column)
    truth = platform.crowd.truth
    for r in reversed(platform.latest):
        right = r.label == truth[r.task]
        reopened = r.kind == "reopened"
        latest.add_row(
            Text(r.kind, style="yellow" if reopened else ""),
            r.task,
            r.label,
            f"{r.confidence:.3f}",
            str(r.votes),
            Text("") if reopened else Text("right", "green") if right else Text("wrong", "red"),
        )
    return Group(top, Text(""), figures, Text(""), latest)


def _figure(name: str, value: str) -> Text:
    return Text.assemble((f"{name} ", "dim"), (value, "bold"))
