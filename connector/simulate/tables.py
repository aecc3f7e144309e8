"""The figures as lines of a table: what people look at before the CSV."""

from __future__ import annotations

from collections.abc import Sequence

from .crowd import Setting
from .figure2 import Point as ErrorPoint
from .figure2 import means
from .figure3 import Timing
from .saved import FIXED, curve, labels_for
from .saved import Point as SavedPoint
from .slopes import measured, predicted

Lines = tuple[list[str], list[list[str]]]
"""Headings, and a row each."""


def figure2_lines(points: Sequence[ErrorPoint], setting: Setting) -> Lines:
    """Mean errors by budget, and the slopes beside the theorems'."""
    budgets = sorted({p.labels_per_task for p in points})
    columns = ["policy", "algorithm", *(f"R={R}" for R in budgets), "slope", "theorem"]
    lines = []
    for (policy, name), errors in means(points).items():
        slope, theorem = measured(errors), predicted(policy, name, setting)
        lines.append(
            [policy, name, *(f"{errors[R]:.4f}" for R in budgets), _three(slope), _three(theorem)]
        )
    return columns, lines


def figure3_lines(timings: Sequence[Timing]) -> Lines:
    """Times in ms, ratios to majority."""
    columns = ["algorithm", "fit every", "R", "run", "choosing", "estimating", "keeping"]
    columns += ["run / majority's", "without the choice"]
    lines = [
        [
            t.algorithm,
            "vote" if t.votes_between_fits == 1 else f"{t.votes_between_fits} votes",
            str(t.labels_per_task),
            *(f"{1000 * s:.0f} ms" for s in t[3:7]),
            f"{t.run_ratio:.2f}",
            f"{t.ratio_without_choice:.2f}",
        ]
        for t in timings
    ]
    return columns, lines


def saved_lines(points: Sequence[SavedPoint]) -> Lines:
    """Labels per task at equal error, of the stop rule and of a fixed overlap."""
    columns = ["dataset", "policy", "resolved at", "labels per task", "error"]
    for method in FIXED:
        columns += [f"{method}, as good", "saved"]
    lines = []
    for name in dict.fromkeys(p.dataset for p in points):
        overlaps = {method: curve(points, name, method) for method in FIXED}
        for policy in dict.fromkeys(p.way for p in points if p.way not in FIXED):
            for stop, (labels, error) in curve(points, name, policy).items():
                line = [name, policy, f"{stop:g}", f"{labels:.2f}", f"{error:.4f}"]
                for method in FIXED:
                    needed = labels_for(error, overlaps[method])
                    if needed is None:  # not with all the labels that there are
                        most, best = max(overlaps[method].values())
                        line += [f"> {most:.1f} ({best:.4f})", f"> {_share(labels, most)}"]
                    else:
                        line += [f"{needed:.2f}", _share(labels, needed)]
                lines.append(line)
    return columns, lines


def _share(labels: float, needed: float) -> str:
    return f"{1.0 - labels / needed:.0%}"


def _three(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
