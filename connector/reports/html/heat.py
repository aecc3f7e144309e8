"""Confusion as a table of shades."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

MOST = 12
"""Classes that a heat map shows: those met most."""


class Cell(NamedTuple):
    """A share of a true class's answers: `shade` is its per cent, `right` is the diagonal."""

    rate: float | None
    shade: int
    right: bool


class Heat(NamedTuple):
    """A heat map.

    Attributes:
        name: whose.
        classes: columns.
        rows: true class, expected number of votes, and a cell for each class given.
        left_out: classes that are not shown.
    """

    name: str
    classes: Sequence[str]
    rows: Sequence[tuple[str, float, Sequence[Cell]]]
    left_out: int


def heat(name: str, found: Iterable[Mapping[str, Any]], classes: Sequence[str]) -> Heat:
    """From rows of worker_confusion or cluster_confusion of one worker or cluster."""
    rate: dict[tuple[str, str], float | None] = {}
    met: dict[str, float] = dict.fromkeys(classes, 0.0)
    given: dict[str, float] = dict.fromkeys(classes, 0.0)
    for row in found:
        rate[row["true_class"], row["given_class"]] = row["rate"]
        met[row["true_class"]] += row["expected_count"]
        given[row["given_class"]] += row["expected_count"]
    most = sorted(classes, key=lambda c: -(met[c] + given[c]))[:MOST]
    shown = [c for c in classes if c in set(most)]
    rows = [
        (true, met[true], [_cell(rate.get((true, x), 0.0), true == x) for x in shown])
        for true in shown
    ]
    return Heat(name, shown, rows, len(classes) - len(shown))


def _cell(rate: float | None, right: bool) -> Cell:
    return Cell(rate, round(100 * (rate or 0.0)), right)
