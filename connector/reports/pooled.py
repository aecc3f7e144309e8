"""Workers across projects: what all of a worker's votes say together."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from aggregators.quality.case import FLAGS
from connector.adapters.sql.quality import Share, shares
from connector.domain.config import ProjectConfig
from connector.domain.instants import format_instant
from connector.engine.history import beta_interval

if TYPE_CHECKING:
    from sqlalchemy import Engine

COLUMNS = (
    "worker",
    "projects",
    "accuracy",
    "lower",
    "upper",
    "votes",
    "agreement",
    "flag",
    "flag_reason",
    "updated_at",
)
_PAGE = 5_000


def pooled(
    engine: Engine, configs: Mapping[str, ProjectConfig], only: Sequence[str] = ()
) -> Iterator[Sequence[Any]]:
    """One row a worker, of those named or of all: votes and right ones summed, the worst flag.

    The accuracy is (S + alpha) / (n + alpha + beta) with S and n summed, and with the mean of the
    projects' priors, which is their prior where they agree.
    """
    grouped = groupby(shares(engine), key=lambda s: s.worker)
    people = [(name, list(mine)) for name, mine in grouped if not only or name in only]
    for first in range(0, len(people), _PAGE):
        yield from _rows(people[first : first + _PAGE], configs)


def severity(flag: str | None) -> int:
    """Place in the order of severity; none is as good as ok."""
    return FLAGS.index(flag) if flag in FLAGS else len(FLAGS) - 1


def _rows(
    people: Sequence[tuple[str, list[Share]]], configs: Mapping[str, ProjectConfig]
) -> Iterator[Sequence[Any]]:
    a, b = [], []
    for _, mine in people:
        alpha = sum(configs[s.project].alpha for s in mine) / len(mine)
        beta = sum(configs[s.project].beta for s in mine) / len(mine)
        S, n = sum(s.S for s in mine), sum(s.n for s in mine)
        a.append(S + alpha)
        b.append(n - S + beta)
    lower, upper = beta_interval(a, b)
    for (name, mine), right, wrong, low, high in zip(people, a, b, lower, upper, strict=True):
        resolved = sum(s.resolved for s in mine)
        worst = min(mine, key=lambda s: severity(s.flag))
        reason = worst.flag_reason
        if reason is not None and len(mine) > 1:
            reason = f"in {worst.project}: {reason}"
        yield (
            name,
            json.dumps([s.project for s in mine], ensure_ascii=False),
            right / (right + wrong),
            low,
            high,
            sum(s.n for s in mine),
            sum(s.agreed for s in mine) / resolved if resolved else None,
            worst.flag,
            reason,
            format_instant(max(s.updated_at for s in mine)),
        )
