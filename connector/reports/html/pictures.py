"""The pictures of the pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup
from rich.cells import cell_len, set_cell_size

from .svg import BAD, BAND, INK, LINE, MARK, MUTED, WARN, Pictures

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW = 0.17
"""Inches of a row."""
_LONGEST = 22
"""Cells of a name in a picture; a letter is one or two wide."""

COLOURS = {"adversarial": BAD, "spammer": BAD, "constant": BAD, "gold_failed": WARN}
COLOURS |= {"drifting": WARN}


def accuracies(pictures: Pictures, people: Sequence[dict[str, Any]]) -> Markup:
    """Accuracy with its interval, a line each."""

    def paint(axes: Axes) -> None:
        for y, row in enumerate(people):
            colour = COLOURS.get(row["flag"] or "", MARK)
            axes.plot([row["lower"], row["upper"]], [y, y], color=colour, linewidth=2.2)
            # Shape as well as colour says that a worker is flagged.
            marker = "D" if colour != MARK else "o"
            axes.plot([row["accuracy"]], [y], marker, color=colour, markersize=4)
        _label(axes, [row["worker"] for row in people])
        axes.set_ylim(len(people) - 0.4, -0.6)
        axes.set_xlim(0, 1)
        axes.set_xlabel("accuracy, with its 95 % interval; flagged: ◆")
        axes.grid(axis="x")
        axes.tick_params(axis="y", length=0)

    lowest, highest = min(r["accuracy"] for r in people), max(r["accuracy"] for r in people)
    words = (
        f"{len(people)} workers, accuracies from {lowest:.2f} to {highest:.2f};"
        " the table below has every figure."
    )
    return pictures.draw("Accuracy of workers", words, 0.65 + _ROW * len(people), paint)


def history(pictures: Pictures, worker: str, points: Sequence[dict[str, Any]]) -> Markup:
    """A worker's accuracy as the votes came."""

    def paint(axes: Axes) -> None:
        votes = [p["votes"] for p in points]
        lower, upper = [p["lower"] for p in points], [p["upper"] for p in points]
        axes.fill_between(votes, lower, upper, color=BAND, linewidth=0)
        axes.plot(votes, [p["accuracy"] for p in points], "o-", color=MARK, markersize=3.5)
        axes.set_xscale("log")
        axes.set_xticks(votes, [f"{v:,}" for v in votes])
        axes.minorticks_off()
        axes.set_ylim(0, 1)
        axes.set_xlabel("votes")
        axes.set_ylabel("accuracy")
        axes.grid(axis="y")

    first, last = points[0], points[-1]
    words = (
        f"From {first['accuracy']:.2f} at {first['votes']:,} votes to {last['accuracy']:.2f} at"
        f" {last['votes']:,} (95 % interval {last['lower']:.2f} to {last['upper']:.2f})."
    )
    return pictures.draw(f"Accuracy of {worker} over time", words, 1.7, paint)


def counts(pictures: Pictures, title: str, names: Sequence[str], numbers: Sequence[int]) -> Markup:
    """Bars with their numbers."""

    def paint(axes: Axes) -> None:
        axes.barh(range(len(numbers)), numbers, color=MARK, height=0.7)
        for y, number in enumerate(numbers):
            axes.annotate(
                f"{number:,}",
                (number, y),
                (4, 0),
                textcoords="offset points",
                va="center",
                color=INK,
            )
        _label(axes, names)
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.set_xlim(0, 1.18 * max(1, *numbers))
        axes.set_xticks([])
        axes.tick_params(axis="y", length=0)
        axes.spines[["bottom"]].set_visible(False)

    words = "; ".join(f"{name}: {number:,}" for name, number in zip(names, numbers, strict=True))
    return pictures.draw(title, words, 0.2 + 0.22 * len(names), paint)


def reliability(pictures: Pictures, bins: Sequence[dict[str, Any]], stop: float) -> Markup:
    """Stated confidence against the share that is right."""

    def paint(axes: Axes) -> None:
        axes.plot([0, 1], [0, 1], color=MUTED, linewidth=1, linestyle=(0, (4, 3)))
        axes.axvline(stop, color=LINE, linewidth=1)
        axes.annotate(f"stop {stop:g} ", (stop, 0.02), ha="right", color=MUTED)
        for b in bins:
            axes.plot([b["stated"]] * 2, [b["lower"], b["upper"]], color=MARK, linewidth=1.6)
        axes.plot(
            [b["stated"] for b in bins], [b["right"] for b in bins], "o", color=MARK, clip_on=False
        )
        axes.set_xlim(min(0.5, *(b["stated"] for b in bins)), 1.01)
        axes.set_ylim(0, 1.03)
        axes.set_xlabel("stated confidence")
        axes.set_ylabel("share right, 95 % interval")
        axes.grid()

    words = "; ".join(
        f"stated {b['stated']:.2f}: {b['right']:.2f} right of {b['tasks']} gold tasks" for b in bins
    )
    return pictures.draw("Stated confidence against gold", words, 2.6, paint)


def _label(axes: Axes, names: Sequence[str]) -> None:
    """Name the rows, with room also for letters that matplotlib cannot measure."""
    cut = [short(name) for name in names]
    axes.set_yticks(range(len(names)), cut)
    wide = max((cell_len(name) for name in cut if not name.isascii()), default=0)
    if wide:
        room = "n" * (1 + wide * 4 // 5)  # an n is 0.63 em wide, a cell half an em
        axes.text(0, 0, room, transform=axes.get_yaxis_transform(), ha="right", alpha=0)


def short(name: str) -> str:
    """Cut in the middle, so that both ends can be told."""
    if cell_len(name) <= _LONGEST:
        return name
    half = (_LONGEST - 1) // 2
    return f"{set_cell_size(name, half).rstrip()}…{_ending(name, half)}"


def _ending(name: str, cells: int) -> str:
    return set_cell_size(name[::-1], cells).rstrip()[::-1]


__all__ = ["COLOURS", "accuracies", "counts", "history", "reliability", "short"]
