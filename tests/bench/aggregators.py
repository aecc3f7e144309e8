"""Every method on every dataset, speed, the papers' tables: as `crowdresolve bench aggregators`."""

from __future__ import annotations

from collections.abc import Callable

from connector.bench.parts import measure_parts, possible_parts

from .datasets import DATASETS
from .stage import Stage
from .table import Table


def measure_aggregators(stage: Stage, say: Callable[[str], None], *, quick: bool) -> list[Table]:
    """All parts that there are datasets for; the command writes pictures and all digits, too."""
    return [
        Table(r.name, r.title, r.columns, [[*map(r.shown, row)] for row in r.rows], r.notes)
        for reports in measure_parts(possible_parts(DATASETS), DATASETS, quick, say)
        for r in reports
    ]
