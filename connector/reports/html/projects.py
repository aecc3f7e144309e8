"""The page about projects: how far they are, and whether their confidence can be believed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp
from typing import TYPE_CHECKING, Any

from scipy.special import betaincinv

from connector.adapters.sql.quality import gold_records
from connector.domain.config import ProjectConfig
from connector.reports import rows as reports
from connector.reports.agreement import level_of
from connector.reports.names import visible
from connector.reports.sentences import Calibration, agreement_sentence, calibration_figures

from .reliability import reliability
from .svg import Pictures
from .tasks import Spread

if TYPE_CHECKING:
    from sqlalchemy import Engine

BINS = 8
LEAST = 8
"""Gold tasks of a bin."""
SHOWN = 20
"""Projects with pictures; the others are lines of the table."""

Row = dict[str, Any]


def project_page(
    engine: Engine, project: str | None, configs: Mapping[str, ProjectConfig], limit: int
) -> Row:
    """What the template shows."""
    report = reports.project(engine, project)
    table = [dict(zip(report.columns, values, strict=True)) for values in report.rows]
    pictures = Pictures()
    shown = sorted(table, key=lambda row: (-row["votes"], row["project"]))[:SHOWN]
    return {
        "title": "Projects" if project is None else f"Project {visible(project)}",
        "table": table,
        "projects": [_section(engine, row, configs[row["project"]], pictures) for row in shown],
        "command": "crowdresolve report project --format csv --out project.csv",
    }


def _section(engine: Engine, row: Row, config: ProjectConfig, pictures: Pictures) -> Row:
    name = row["project"]
    spread = Spread()
    for _ in spread.counted(reports.tasks(engine, name)):
        pass
    bins = reliability_bins(gold_records(engine, name), row["b"])
    return {
        "row": row,
        "config": config,
        "agreement": agreement_sentence(row["alpha"], level_of(config)),
        "figures": calibration_figures(Calibration(*(row[n] for n in Calibration._fields)), config),
        "statuses": spread.statuses(pictures),
        "confidences": spread.confidences(pictures),
        "bins": bins,
        "reliability": reliability(pictures, bins, config.confidence) if bins else None,
    }


def reliability_bins(records: Sequence[tuple[float, bool]], b: float) -> list[Row]:
    """Gold tasks by stated confidence, in bins of equally many.

    Args:
        records: logit of each gold task's stated top as if it were not gold, and whether it is
            right.
        b: the slope that calibration has learned.

    Returns:
        Of each bin the number of tasks, their mean stated confidence, the share right, and its
        95 % interval (Jeffreys).
    """
    stated = sorted((1.0 / (1.0 + exp(-(b * z if z > 0 else z))), hit) for z, hit in records)
    size = max(LEAST, -(-len(stated) // BINS))
    bins = []
    for first in range(0, len(stated), size):
        part = stated[first : first + size]
        n, right = len(part), sum(hit for _, hit in part)
        lower, upper = (float(betaincinv(right + 0.5, n - right + 0.5, t)) for t in (0.025, 0.975))
        bins.append(
            {
                "tasks": n,
                "stated": sum(q for q, _ in part) / n,
                "right": right / n,
                "lower": lower,
                "upper": upper,
            }
        )
    return bins
