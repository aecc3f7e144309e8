"""What is saved as a picture: error against labels per task, a panel per dataset."""

from __future__ import annotations

from collections.abc import Sequence

from .pictures import curve, panels
from .saved import Point
from .saved import curve as mean_curve

_STYLES = {
    "majority": ("majority, n labels each", {"color": "C7", "linestyle": "--"}),
    "fast_sbic": ("Fast SBIC, n labels each", {"color": "C0", "linestyle": "--"}),
    "uniform": ("stop rule, uniform", {"color": "C2", "marker": "s"}),
    "uncertainty": ("stop rule, uncertainty", {"color": "C3", "marker": "o"}),
}


def draw_saved(path: str, points: Sequence[Point]) -> None:
    """Draw the means over the runs; further left at the same height is cheaper."""
    names = list(dict.fromkeys(p.dataset for p in points))
    with panels(path, names) as axes:
        for name, ax in zip(names, axes, strict=True):
            for way, (label, style) in _STYLES.items():
                line = mean_curve(points, name, way)
                if line:
                    curve(ax, dict(line.values()), label, **style)
            ax.set_xlabel("labels per task")
            ax.set_ylabel("error")
            ax.legend(fontsize="small")
