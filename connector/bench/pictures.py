"""Pictures of the tables."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .report import Report


def draw(reports: Iterable[Report], out: Path) -> None:
    """A PNG beside each table that has one."""
    import matplotlib as mpl

    mpl.use("Agg")
    makers = {
        "real_error": _errors,
        "sbic_figure_2": _figure_2,
        "speed": _speed,
        "cola_items": _items,
    }
    for report in reports:
        if report.name in makers:
            figure = makers[report.name](report)
            figure.tight_layout()
            figure.savefig(out / f"{report.name}.png", dpi=130)


def _axes(width: float, height: float, columns: int = 1) -> tuple[Any, Any]:
    import matplotlib.pyplot as plt

    return plt.subplots(1, columns, figsize=(width, height))


def _errors(report: Report) -> Any:
    figure, axes = _axes(11, 6)
    names = [str(row[0]) for row in report.rows]
    for at, column in enumerate(report.columns[1:], start=1):
        if column in {"MV", "Fast", "Sorted", "COLA", "DS", "one-coin flat", "ck DS", "ck MACE"}:
            points = [(x, row[at]) for x, row in enumerate(report.rows) if row[at] is not None]
            style = {"marker": "x" if column.startswith("ck") else "o", "linestyle": "none"}
            axes.plot([x for x, _ in points], [y for _, y in points], label=column, **style)
    axes.set_xticks(range(len(names)), names, rotation=60, ha="right")
    axes.set_ylabel("error")
    axes.grid(alpha=0.3)
    axes.legend(ncols=4)
    return figure


def _figure_2(report: Report) -> Any:
    figure, axes = _axes(8, 6)
    R = [float(str(row[0])) for row in report.rows]
    for at, column in enumerate(report.columns[1:], start=1):
        values = [row[at] for row in report.rows]
        axes.semilogy(R, values, ":" if column.startswith("bound") else "-o", label=column)
    axes.set_xlabel("labels per task")
    axes.set_ylabel("error")
    axes.legend()
    return figure


def _speed(report: Report) -> Any:
    figure, axes = _axes(7, 5)
    votes = [10.0 ** int(str(row[0])[3:]) for row in report.rows]
    for at, column in enumerate(report.columns[1:6], start=1):
        axes.loglog(votes, [row[at] for row in report.rows], "-o", label=column)
    axes.set_xlabel("votes")
    axes.set_ylabel("seconds")
    axes.legend()
    return figure


def _items(report: Report) -> Any:
    names = list(dict.fromkeys(str(row[0]).split()[0] for row in report.rows))
    figure, axes = _axes(4 * len(names), 4, len(names))
    for name, ax in zip(names, axes if len(names) > 1 else [axes], strict=True):
        rows = [row for row in report.rows if str(row[0]).split()[0] == name]
        share = [float(str(row[0]).split()[1].rstrip("%")) for row in rows]
        ax.plot(share, [row[4] for row in rows], "-o", label="COLA l2")
        ax.plot(share, [row[8] for row in rows], "-o", label="OME l2")
        ax.set_title(name)
        ax.set_xlabel("% of items")
        ax.legend()
    return figure
