"""Workers who answer alike."""

from __future__ import annotations

from collections.abc import Mapping
from heapq import nsmallest
from itertools import groupby
from typing import TYPE_CHECKING, Any

from connector.adapters.sql import queries
from connector.domain.config import ProjectConfig
from connector.reports.names import visible

from .heat import heat
from .importance import importance

if TYPE_CHECKING:
    from sqlalchemy import Engine

SHOWN = 12
MEMBERS = 12

Row = dict[str, Any]


def clusters(
    engine: Engine, project: str | None, configs: Mapping[str, ProjectConfig]
) -> list[Row]:
    """The largest clusters of each project: what they answer, and who is in them."""
    columns, rows = queries.view(engine, "cluster_confusion", project)
    found = (dict(zip(columns, row, strict=True)) for row in rows)
    made: list[Row] = []
    for (of, cluster), cells in groupby(found, lambda row: (row["project"], row["cluster"])):
        name = f"cluster {cluster}" + (f" of {visible(of)}" if len(configs) > 1 else "")
        shown = heat(name, list(cells), configs[of].classes)
        made.append({"of": of, "cluster": cluster, "title": name, "heat": shown})
    members = _members(engine, {c["of"] for c in made})
    for c in made:
        people = members.get((c["of"], c["cluster"]), [])
        c["size"] = len(people)
        c["people"] = [row["worker"] for row in nsmallest(MEMBERS, people, key=importance)]
    # The largest first: they are what the crowd is like.
    return sorted(made, key=lambda c: (c["of"], -c["size"], c["cluster"]))[:SHOWN]


def _members(engine: Engine, projects: set[str]) -> dict[tuple[str, int], list[Row]]:
    """The workers of each cluster."""
    found: dict[tuple[str, int], list[Row]] = {}
    for of in sorted(projects):
        columns, rows = queries.view(engine, "worker_quality", of)
        for values in rows:
            row = dict(zip(columns, values, strict=True))
            if row["cluster"] is not None:
                kept = {name: row[name] for name in ("worker", "flag", "votes")}
                found.setdefault((of, row["cluster"]), []).append(kept)
    return found
