"""The pages about tasks and about how they were resolved."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from heapq import nsmallest
from typing import TYPE_CHECKING, Any

from connector.domain.config import ProjectConfig
from connector.reports.names import visible
from connector.reports.rows import Report, resolutions, tasks
from connector.reports.tables import EDGES, bucket, bucket_name, place

from .pictures import counts
from .svg import Pictures

if TYPE_CHECKING:
    from sqlalchemy import Engine

Row = dict[str, Any]


def tasks_page(
    engine: Engine, project: str | None, configs: Mapping[str, ProjectConfig], limit: int
) -> Row:
    """What the template shows of all tasks."""
    return _page("tasks", tasks(engine, project), project, configs, limit)


def resolutions_page(
    engine: Engine, project: str | None, configs: Mapping[str, ProjectConfig], limit: int
) -> Row:
    """What the template shows of the tasks that are resolved."""
    return _page("resolutions", resolutions(engine, project), project, configs, limit)


def _page(
    kind: str,
    report: Report,
    project: str | None,
    configs: Mapping[str, ProjectConfig],
    limit: int,
) -> Row:
    spread = Spread()
    shown = nsmallest(
        limit, spread.counted(report), key=lambda r: (r["confidence"], r["project"], r["task"])
    )
    for row in shown:
        row["probabilities"] = _few(json.loads(row["probabilities"]))
    pictures = Pictures()
    chosen = "" if project is None else f" --project {shlex.quote(project)}"
    return {
        "title": kind.capitalize() + ("" if project is None else f" of {visible(project)}"),
        "several": project is None and len(configs) > 1,
        "total": spread.total,
        "shown": shown,
        "statuses": spread.statuses(pictures),
        "confidences": spread.confidences(pictures),
        "command": f"crowdresolve report {kind}{chosen} --format csv --out {kind}.csv",
    }


def _few(probabilities: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(probabilities.items(), key=lambda pair: -pair[1])[:3]


class Spread:
    """How many tasks have which status and which confidence."""

    def __init__(self) -> None:
        self.total = 0
        self._status: Counter[str] = Counter()
        self._bucket: Counter[int] = Counter()

    def counted(self, report: Report) -> Iterator[Row]:
        """The rows, counted as they go by."""
        for values in report.rows:
            row = dict(zip(report.columns, values, strict=True))
            self.add(row["status"], row["confidence"])
            yield row

    def add(self, status: str, confidence: float) -> None:
        """One task more."""
        self.total += 1
        self._status[status] += 1
        self._bucket[bucket(confidence)] += 1

    def statuses(self, pictures: Pictures) -> Row | None:
        """Picture and table by status; None without tasks."""
        names = sorted(self._status, key=place)
        return _chart(pictures, "Tasks by status", names, [self._status[n] for n in names])

    def confidences(self, pictures: Pictures) -> Row | None:
        """Picture and table by stated confidence; None without tasks."""
        used = range(min(self._bucket, default=0), len(EDGES) + 1)
        names = [bucket_name(b) for b in used]
        return _chart(
            pictures, "Tasks by stated confidence", names, [self._bucket[b] for b in used]
        )


def _chart(pictures: Pictures, title: str, names: list[str], numbers: list[int]) -> Row | None:
    if not sum(numbers):
        return None
    rows = list(zip(names, numbers, strict=True))
    return {"title": title, "picture": counts(pictures, title, names, numbers), "rows": rows}
