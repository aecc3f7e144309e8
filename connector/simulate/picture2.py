"""Figure 2 as a picture like the paper's: a panel per policy, the bounds dotted."""

from __future__ import annotations

from collections.abc import Sequence

from .crowd import Setting
from .figure2 import Point, Policy, means
from .methods import SHOWN
from .pictures import Line, curve, logarithmic, panels
from .slopes import bound, predicted

TITLES: dict[Policy, str] = {"UNI": "uniform sampling", "US": "uncertainty sampling"}
_MARKS = "osD^v*Pxp<>hX"


def draw_figure2(path: str, points: Sequence[Point], setting: Setting) -> None:
    """Draw the means over the runs; a mean of 0 is below the picture."""
    found = means(points)
    policies = list(dict.fromkeys(policy for policy, _ in found))
    names = list(dict.fromkeys(name for _, name in found))
    with panels(path, [TITLES[p] for p in policies]) as axes:
        for policy, ax in zip(policies, axes, strict=True):
            for place, name in enumerate(names):
                errors = found[policy, name]
                style = {"color": f"C{place % 10}", "marker": _MARKS[place % len(_MARKS)]}
                curve(ax, _above(errors), SHOWN.get(name, name), **style)
                slope = predicted(policy, name, setting)
                if slope is not None:
                    dotted = {"color": style["color"], "linestyle": ":"}
                    curve(ax, _above(bound(errors, slope)), "", **dotted)
            logarithmic(ax, "labels per task", "error")


def _above(errors: dict[int, float]) -> Line:
    return {float(R): e for R, e in errors.items() if e > 0.0}
