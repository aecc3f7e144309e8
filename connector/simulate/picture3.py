"""Figure 3 as a picture: the time of a run by method, and the choice's own share of it."""

from __future__ import annotations

from collections.abc import Sequence

from .figure3 import YARDSTICK, Timing
from .methods import SHOWN
from .pictures import curve, logarithmic, panels

_MARKS = "osD^v*Pxp<>hX"


def draw_figure3(path: str, timings: Sequence[Timing]) -> None:
    """Seconds of a whole run on the left, of the method alone on the right."""
    names = list(dict.fromkeys(t.algorithm for t in timings))
    with panels(path, ["one run", "of it, the method alone"]) as axes:
        for place, name in enumerate(names):
            of = [t for t in timings if t.algorithm == name]
            every = of[0].votes_between_fits
            label = SHOWN.get(name, name) + (f" (fit every {every})" if every > 1 else "")
            style = {"color": f"C{place % 10}", "marker": _MARKS[place % len(_MARKS)]}
            curve(axes[0], {float(t.labels_per_task): t.run_s for t in of}, label, **style)
            curve(axes[1], {float(t.labels_per_task): t.estimating_s for t in of}, label, **style)
        yardstick = [t for t in timings if t.algorithm == YARDSTICK]
        choices = {float(t.labels_per_task): t.choosing_s for t in yardstick}
        curve(axes[0], choices, "the choices alone", color="black", linestyle="--")
        for ax in axes:
            logarithmic(ax, "labels per task", "seconds")
