"""The reports as people read them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from heapq import nsmallest
from typing import Any, TypeVar

from rich.console import Console
from rich.table import Table
from rich.text import Text

from connector.domain.config import ProjectConfig

from .agreement import level_of
from .bars import count_bar, interval_bar
from .meanings import MEANINGS, UNJUDGED
from .names import short, visible
from .pooled import severity
from .rows import Report
from .sentences import Calibration, agreement_sentence, calibration_figures

EDGES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.999)
_NAME = 32
"""Cells of a name: one worker with a long one would push all columns off the screen."""
CLASSES = 20
_LINE = "0 ... accuracy ... 1"
_ORDER = ("confident", "capped", "ambiguous", "gold", "adjudicated")
_T = TypeVar("_T")

Configs = Mapping[str, ProjectConfig]
Row = dict[str, Any]


def workers(console: Console, report: Report, configs: Configs, limit: int) -> None:
    """Flagged first, by severity; then worst first: those whose accuracy is surely low."""
    counted = _Counted(_dicts(report))
    several = "projects" in report.columns and len(configs) > 1
    columns = ["worker", "accuracy", "95 % interval", _LINE, "votes", "agreement", "flag", "why"]
    numbers = ("accuracy", "95 % interval", "votes", "agreement")
    table = _table([*columns[:1], *(["projects"] if several else []), *columns[1:]], numbers)
    flags: set[str | None] = set()
    for row in nsmallest(
        limit, counted, key=lambda r: (severity(r["flag"]), r["upper"], r["worker"])
    ):
        cells = [
            _name(row["worker"]),
            *([", ".join(map(_name, _projects(row)))] if several else []),
            f"{row['accuracy']:.3f}",
            f"{row['lower']:.3f} - {row['upper']:.3f}",
            interval_bar(row["lower"], row["accuracy"], row["upper"]),
            f"{row['votes']:,}",
            _share(row["agreement"]),
            row["flag"] or "",
            _blocked(row, report) + (row["flag_reason"] or ""),
        ]
        table.add_row(*map(Text, cells))
        flags.add(row["flag"])
    _finish(console, table, counted, limit, "workers")
    for flag, meaning in MEANINGS.items():
        if flag in flags and flag != "ok":
            console.print(f"{flag}: {meaning.says}. {meaning.do.replace('`', '')}.", markup=False)
    if None in flags and counted.count:
        said = f"{UNJUDGED.says}. {UNJUDGED.do.replace('`', '')}."
        console.print(f"no flag: {said}", markup=False)


def _blocked(row: Row, report: Report) -> str:
    """Where the worker is blocked, in words."""
    places = [of for of in _projects(row) if (of, row["worker"]) in report.blocked]
    if not places:
        return ""
    return "blocked; " if "project" in row else f"blocked in {', '.join(map(_name, places))}; "


def _projects(row: Row) -> list[str]:
    return [row["project"]] if "project" in row else json.loads(row["projects"])


def tasks(console: Console, report: Report, configs: Configs, limit: int) -> None:
    """The least sure first."""
    counted = _Counted(_dicts(report))
    several = len(configs) > 1
    columns = ["task", "label", "confidence", "status", "votes", "version", "by", "resolved at"]
    numbers = ("confidence", "votes", "version")
    table = _table([*(["project"] if several else []), *columns], numbers)
    for row in nsmallest(limit, counted, key=lambda r: (r["confidence"], r["project"], r["task"])):
        cells = [
            _name(row["task"]),
            "" if row["label"] is None else _name(row["label"]),
            f"{row['confidence']:.3f}",
            row["status"],
            f"{row['votes']:,}",
            f"{row['version']:,}",
            row["algorithm"],
            row["resolved_at"] or "",
        ]
        table.add_row(*map(Text, [*([_name(row["project"])] if several else []), *cells]))
    _finish(console, table, counted, limit, "tasks")


def project(console: Console, report: Report, configs: Configs, limit: int) -> None:
    """A few lines for each."""
    shown = False
    for row in _dicts(report):
        config = configs[row["project"]]
        if shown:
            console.print()
        shown = True
        console.print(Text.assemble(("Project ", ""), (visible(row["project"]), "bold")))
        for name, text in _project_lines(row, config):
            lines = Text(text).wrap(console, max(20, console.width - 14))
            for number, line in enumerate(lines):
                head = "" if number else name
                console.print(Text.assemble((f"  {head:<12}", "dim"), line))
    if not shown:
        console.print("No project has been declared yet.")


def _project_lines(row: Row, config: ProjectConfig) -> Iterator[tuple[str, str]]:
    more = len(config.classes) - CLASSES
    named = ", ".join(map(_name, config.classes[:CLASSES])) + (
        f", {more:,} more" if more > 0 else ""
    )
    yield "kind", f"{config.kind}: {named}"
    tasks = row["tasks"]
    done = f"{row['resolved']:,} resolved, {row['open']:,} open, {row['ambiguous']:,} ambiguous"
    yield "tasks", f"{tasks:,}: {done}"
    per_task = f", {row['votes'] / tasks:.1f} per task" if tasks else ""
    yield "votes", f"{row['votes']:,}{per_task}"
    limit = "" if config.budget is None else f" of {config.budget:,}"
    yield "budget", f"{row['budget_used']:,}{limit} pairs of task and worker used"
    mean = row["mean_confidence"]
    said = "no votes yet" if mean is None else f"{mean:.3f} on average; a task resolves at"
    yield "confidence", said if mean is None else f"{said} {config.confidence:g}"
    yield "checked", row["checked"]
    yield (
        "by gold",
        calibration_figures(Calibration(*(row[n] for n in Calibration._fields)), config),
    )
    yield "agreement", agreement_sentence(row["alpha"], level_of(config))
    if row["advice"]:
        yield "next", row["advice"].replace("`", "")


def resolutions(console: Console, report: Report, configs: Configs, limit: int) -> None:
    """How tasks were resolved, and how sure their labels are."""
    statuses: dict[str, Counter[str]] = {name: Counter() for name in configs}
    sure: dict[str, Counter[int]] = {name: Counter() for name in configs}
    for row in _dicts(report):
        statuses[row["project"]][row["status"]] += 1
        sure[row["project"]][bucket(row["confidence"])] += 1
    for i, name in enumerate(configs):
        if i:
            console.print()
        total = statuses[name].total()
        console.print(
            Text.assemble("Project ", (visible(name), "bold"), f": {total:,} tasks resolved")
        )
        if not total:
            continue
        table = _table(["status", "tasks", ""], ["tasks"])
        for status in sorted(statuses[name], key=place):
            count = statuses[name][status]
            table.add_row(status, f"{count:,}", count_bar(count, max(statuses[name].values())))
        console.print(table)
        table = _table(["confidence", "tasks", ""], ["tasks"])
        for b in range(min(sure[name]), len(EDGES) + 1):
            count = sure[name][b]
            bar = count_bar(count, max(sure[name].values()))
            table.add_row(bucket_name(b), f"{count:,}", bar)
        console.print(table)
    if not configs:
        console.print("No project has been declared yet.")


def bucket(confidence: float) -> int:
    """Number of the interval that it lies in."""
    return sum(confidence >= edge for edge in EDGES)


def bucket_name(number: int) -> str:
    """The interval in words."""
    if number == 0:
        return f"below {EDGES[0]:g}"
    if number == len(EDGES):
        return f"{EDGES[-1]:g} and more"
    return f"{EDGES[number - 1]:g} - {EDGES[number]:g}"


TABLES: Mapping[str, Callable[[Console, Report, Configs, int], None]] = {
    "workers": workers,
    "tasks": tasks,
    "project": project,
    "resolutions": resolutions,
}


class _Counted(Iterator[_T]):
    """Rows, and how many have gone by."""

    def __init__(self, rows: Iterator[_T]) -> None:
        self._rows = rows
        self.count = 0

    def __next__(self) -> _T:
        row = next(self._rows)
        self.count += 1
        return row


def _dicts(report: Report) -> Iterator[Row]:
    for row in report.rows:
        yield dict(zip(report.columns, row, strict=True))


def place(status: str) -> int:
    """Of a status among those that reports list."""
    return _ORDER.index(status) if status in _ORDER else len(_ORDER)


def _name(name: str) -> str:
    return short(visible(name), _NAME)


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _table(names: Sequence[str], numbers: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in names:
        table.add_column(
            name,
            justify="right" if name in numbers else "left",
            no_wrap=name not in ("why", "projects"),
        )
    return table


def _finish(console: Console, table: Table, counted: _Counted[Row], limit: int, what: str) -> None:
    if not counted.count:
        console.print(f"No {what} yet.")
        return
    console.print(table)
    if counted.count > limit:
        console.print(
            f"{limit:,} of {counted.count:,} {what}; --limit shows more, --format csv all of them"
        )
