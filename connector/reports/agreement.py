"""How much a project's crowd agrees."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from aggregators.agreement import Level, alpha, coincidences
from connector.adapters.sql.quality import vote_counts
from connector.domain.config import ProjectConfig

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sqlalchemy import Engine

_ROOM = 5_000_000
"""Numbers that a block of tasks may take in memory."""


def level_of(config: ProjectConfig) -> Level:
    """The distance of two classes: by the votes between them where classes are in order."""
    return "ordinal" if config.kind == "ordinal" else "nominal"


def alpha_of(engine: Engine, project: str, config: ProjectConfig) -> float | None:
    """Krippendorff's alpha of the project's counting votes; None where no task has two.

    1 is full agreement, 0 what chance would give.
    """
    observed = np.zeros((config.K, config.K))
    for block in _blocks(engine, project, config.K):
        observed += coincidences(block)
    found = alpha(observed, level_of(config))
    return None if isnan(found) else found


def _blocks(engine: Engine, project: str, K: int) -> Iterator[NDArray[np.float64]]:
    size = max(1, _ROOM // K)
    block, row, last = np.zeros((size, K)), -1, None
    for task, x, count in vote_counts(engine, project):
        if task != last:
            last, row = task, row + 1
            if row == size:
                yield block
                block, row = np.zeros((size, K)), 0
        block[row, x] = count
    yield block[: row + 1]
