"""The page about workers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from heapq import nsmallest
from itertools import groupby
from typing import TYPE_CHECKING, Any

from aggregators.quality.case import FLAGS
from connector.adapters.sql import queries
from connector.domain.config import ProjectConfig
from connector.reports.pooled import severity
from connector.reports.rows import workers

from .heat import heat
from .pictures import accuracies, history
from .svg import Pictures

if TYPE_CHECKING:
    from sqlalchemy import Engine

PICTURED = 40
DETAILED = 12
CLUSTERS = 12
ALARMS = FLAGS[: FLAGS.index("too_few")]

Row = dict[str, Any]


def workers_page(
    engine: Engine, project: str | None, configs: Mapping[str, ProjectConfig], limit: int
) -> Row:
    """What the template shows."""
    report = workers(engine, project)
    flags: Counter[str] = Counter()
    votes = total = 0

    def counted() -> Iterator[Row]:
        nonlocal votes, total
        for values in report.rows:
            row = dict(zip(report.columns, values, strict=True))
            flags[row["flag"] or ""] += 1
            votes += row["votes"]
            total += 1
            if "projects" in row:
                row["projects"] = json.loads(row["projects"])
            yield row

    shown = nsmallest(limit, counted(), key=_importance)
    pictures = Pictures()
    detailed = [row["worker"] for row in shown[:DETAILED]]
    return {
        "title": "Workers" + ("" if project is None else f" of {project}"),
        "several": project is None and len(configs) > 1,
        "total": total,
        "votes": votes,
        "projects": list(configs),
        "flags": [(flag, flags[flag]) for flag in FLAGS if flags[flag]],
        "alarms": sum(flags[flag] for flag in ALARMS),
        "unflagged": flags[""],
        "shown": shown,
        "picture": accuracies(pictures, shown[:PICTURED]) if shown else None,
        "pictured": min(PICTURED, len(shown)),
        "details": _details(engine, project, configs, detailed, pictures),
        "clusters": _clusters(engine, project, configs),
        "command": _command(project),
    }


def _importance(row: Row) -> tuple[int, int, str]:
    """Flagged first, by severity; then the most active."""
    place = severity(row["flag"])
    return (place if place < len(ALARMS) else len(ALARMS), -row["votes"], row["worker"])


def _details(
    engine: Engine,
    project: str | None,
    configs: Mapping[str, ProjectConfig],
    names: list[str],
    pictures: Pictures,
) -> list[Row]:
    """History and confusion of each of those workers, in each project."""
    if not names:
        return []
    past, confused = (
        {key: list(rows) for key, rows in groupby(_of(engine, view, project, names), _who)}
        for view in ("worker_quality_history", "worker_confusion")
    )
    found = []
    for name in names:
        for of in sorted(
            project_ for project_, worker in past.keys() | confused.keys() if worker == name
        ):
            title = f"{name} in {of}" if len(configs) > 1 else name
            points, cells = past.get((of, name)), confused.get((of, name))
            found.append(
                {
                    "title": title,
                    "history": None if points is None else history(pictures, title, points),
                    "heat": None if cells is None else heat(title, cells, configs[of].classes),
                }
            )
    return found[: 2 * DETAILED]


def _clusters(
    engine: Engine, project: str | None, configs: Mapping[str, ProjectConfig]
) -> list[Row]:
    columns, rows = queries.view(engine, "cluster_confusion", project)
    found = (dict(zip(columns, row, strict=True)) for row in rows)
    clusters = []
    for (of, cluster), cells in groupby(found, lambda row: (row["project"], row["cluster"])):
        name = f"cluster {cluster}" + (f" of {of}" if len(configs) > 1 else "")
        clusters.append({"title": name, "heat": heat(name, list(cells), configs[of].classes)})
    return clusters[:CLUSTERS]


def _of(engine: Engine, view: str, project: str | None, names: list[str]) -> Iterator[Row]:
    columns, rows = queries.view(engine, view, project, {"worker": names})
    return (dict(zip(columns, row, strict=True)) for row in rows)


def _who(row: Row) -> tuple[str, str]:
    return row["project"], row["worker"]


def _command(project: str | None) -> str:
    chosen = "" if project is None else f" --project {project}"
    return f"crowdresolve report workers{chosen} --format csv --out workers.csv"
