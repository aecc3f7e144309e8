"""The pictures of the pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup
from rich.cells import cell_len

from connector.reports.names import short, visible

from .svg import BAD, BAND, INK, MARK, MUTED, WARN, Pictures

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW = 0.17
"""Inches of a row."""
_LONGEST = 22
"""Cells of a name in a picture; a letter is one or two wide."""

COLOURS = {"adversarial": BAD, "spammer": BAD, "constant": BAD, "gold_failed": WARN}
COLOURS |= {"drifting": WARN}


def accuracies(
    pictures: Pictures, people: Sequence[dict[str, Any]], chance: float | None
) -> Markup:
    """Accuracy with its interval, a line each; `chance` is that of answers at random."""

    def paint(axes: Axes) -> None:
        if chance is not None:
            axes.axvline(chance, color=MUTED, linewidth=1, linestyle=(0, (4, 3)))
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


def history(
    pictures: Pictures, worker: str, marks: Sequence[dict[str, Any]], now: dict[str, Any]
) -> Markup:
    """A worker's accuracy as the votes came, up to the present."""
    points = [p for p in marks if p["votes"] < now["votes"]] + [now]

    def paint(axes: Axes) -> None:
        votes = [p["votes"] for p in points]
        lower, upper = [p["lower"] for p in points], [p["upper"] for p in points]
        axes.fill_between(votes, lower, upper, color=BAND, linewidth=0)
        axes.plot(votes, [p["accuracy"] for p in points], "o-", color=MARK, markersize=3.5)
        axes.set_xscale("log")
        ticks = [p["votes"] for p in marks]
        axes.set_xticks(ticks, [f"{v:,}" for v in ticks])
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
    return pictures.draw(f"Accuracy of {visible(worker)} over time", words, 1.7, paint)


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


def _label(axes: Axes, names: Sequence[str]) -> None:
    """Name the rows, with room also for letters that matplotlib cannot measure."""
    cut = [short(visible(name), _LONGEST) for name in names]
    axes.set_yticks(range(len(names)), cut)
    wide = max((cell_len(name) for name in cut if not name.isascii()), default=0)
    if wide:
        room = "n" * (1 + wide * 4 // 5)  # an n is 0.63 em wide, a cell half an em
        axes.text(0, 0, room, transform=axes.get_yaxis_transform(), ha="right", alpha=0)


__all__ = ["COLOURS", "accuracies", "counts", "history"]
