"""The page about workers."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from heapq import nsmallest
from itertools import groupby
from typing import TYPE_CHECKING, Any

from aggregators.quality.case import FLAGS
from connector.adapters.sql import queries
from connector.adapters.sql.quality import adopted
from connector.domain.config import ProjectConfig
from connector.reports.meanings import MEANINGS, UNJUDGED
from connector.reports.names import visible
from connector.reports.rows import workers

from .clusters import clusters
from .heat import heat
from .importance import ALARMS, importance
from .pictures import accuracies, history
from .svg import Pictures

if TYPE_CHECKING:
    from sqlalchemy import Engine

PICTURED = 40
DETAILED = 12

Row = dict[str, Any]


def workers_page(
    engine: Engine,
    project: str | None,
    configs: Mapping[str, ProjectConfig],
    limit: int,
    only: Sequence[str] = (),
) -> Row:
    """What the template shows, of all workers or of those named."""
    report = workers(engine, project, only)
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

    shown = nsmallest(limit, counted(), key=importance)
    for row in shown:
        places = [project] if project is not None else row["projects"]
        row["blocked"] = [of for of in places if (of, row["worker"]) in report.blocked]
    pictures = Pictures()
    detailed = [row["worker"] for row in shown[:DETAILED]]
    sizes = {config.K for config in configs.values()}
    chance = 1 / sizes.pop() if len(sizes) == 1 else None
    return {
        "title": ("Workers" if not only else ", ".join(map(visible, only)))
        + ("" if project is None else f" of {visible(project)}"),
        "several": project is None and len(configs) > 1,
        "total": total,
        "votes": votes,
        "projects": list(configs),
        "flags": [(flag, flags[flag], MEANINGS[flag]) for flag in FLAGS if flags[flag]],
        "unjudged": UNJUDGED,
        "blocked": len({worker for _, worker in report.blocked}),
        "judged": sorted(adopted(engine, project).values()),
        "alarms": sum(flags[flag] for flag in ALARMS),
        "unflagged": flags[""],
        "shown": shown,
        "picture": accuracies(pictures, shown[:PICTURED], chance) if shown else None,
        "chance": chance,
        "pictured": min(PICTURED, len(shown)),
        "details": _details(engine, project, configs, detailed, pictures),
        "clusters": [] if only else clusters(engine, project, configs),
        "project": project,
        "only": only,
        "command": _command(project, "--format csv --out workers.csv"),
        "another": _command(project, "--worker NAME --out worker.html"),
    }


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
    past, confused, present = (
        {key: list(rows) for key, rows in groupby(_of(engine, view, project, names), _who)}
        for view in ("worker_quality_history", "worker_confusion", "worker_quality")
    )
    found = []
    for name in names:
        for of in sorted(
            project_ for project_, worker in past.keys() | confused.keys() if worker == name
        ):
            title = visible(name) + (f" in {visible(of)}" if len(configs) > 1 else "")
            marks, cells = past.get((of, name)), confused.get((of, name))
            (now,) = present[of, name]
            found.append(
                {
                    "title": title,
                    "history": None if not marks else history(pictures, title, marks, now),
                    "heat": None if cells is None else heat(title, cells, configs[of].classes),
                }
            )
    return found[: 2 * DETAILED]


def _of(engine: Engine, view: str, project: str | None, names: list[str]) -> Iterator[Row]:
    columns, rows = queries.view(engine, view, project, {"worker": names})
    return (dict(zip(columns, row, strict=True)) for row in rows)


def _who(row: Row) -> tuple[str, str]:
    return row["project"], row["worker"]


def _command(project: str | None, rest: str) -> str:
    chosen = "" if project is None else f" --project {shlex.quote(project)}"
    return f"crowdresolve report workers{chosen} {rest}"
