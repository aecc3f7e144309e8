"""The picture that shows whether the stated confidence is true."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from .svg import LINE, MARK, MUTED, Pictures

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STATED = (0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.999, 0.9999)
_SURE = 1e-5


def reliability(pictures: Pictures, bins: Sequence[dict[str, Any]], stop: float) -> Markup:
    """Stated confidence against the share that is right.

    The scale of what is stated is the logit's, or all that lies around the stop value would lie
    upon each other.
    """

    def paint(axes: Axes) -> None:
        lowest = _logit(min(0.5, *(b["stated"] for b in bins)))
        highest = _logit(max(0.99, stop, *(b["stated"] for b in bins)))
        line = [lowest + k * (highest - lowest) / 60 for k in range(61)]
        axes.plot(line, [1 / (1 + exp(-z)) for z in line], color=MUTED, linestyle=(0, (4, 3)))
        axes.axvline(_logit(stop), color=LINE, linewidth=1)
        axes.annotate(f"stop {stop:g} ", (_logit(stop), 0.02), ha="right", color=MUTED)
        for b in bins:
            axes.plot([_logit(b["stated"])] * 2, [b["lower"], b["upper"]], color=MARK)
            axes.plot([_logit(b["stated"])], [b["right"]], "o", color=MARK, clip_on=False)
        ticks = [t for t in _STATED if lowest <= _logit(t) <= highest]
        axes.set_xticks([_logit(t) for t in ticks], [f"{t:g}" for t in ticks])
        axes.set_xlim(lowest - 0.1, highest + 0.3)
        axes.set_ylim(0, 1.03)
        axes.set_xlabel("stated confidence")
        axes.set_ylabel("share right, 95 % interval")
        axes.grid()

    words = "; ".join(
        f"stated {b['stated']:.3f}: {b['right']:.2f} right of {b['tasks']} gold tasks" for b in bins
    )
    return pictures.draw("Stated confidence against gold", words, 2.6, paint)


def _logit(share: float) -> float:
    """Log-odds, of what is certain those of one in 100,000."""
    clipped = min(max(share, _SURE), 1 - _SURE)
    return log(clipped / (1 - clipped))
