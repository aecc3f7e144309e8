"""Pictures of the figures, with matplotlib where it is installed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from connector.reports.formats import Unsupported, check_target, target

EXTENSIONS = (".png", ".svg", ".pdf")
NEEDS = "pictures need matplotlib: pip install crowdresolve[pictures]"
_DOTS = 150
_ACROSS = 3


def check_picture(path: str | None) -> None:
    """Raise, before any work, where a picture could not be drawn or written.

    Raises:
        Unsupported: the extension is none of `EXTENSIONS`, or matplotlib is not installed.
        Unwritable: the place.
    """
    if path is None:
        return
    if Path(path).suffix.lower() not in EXTENSIONS:
        known = ", ".join(EXTENSIONS)
        raise Unsupported(f"{path}: the extension says what to draw, one of {known}")
    if find_spec("matplotlib") is None:
        raise Unsupported(f"{path}: {NEEDS}")
    check_target(path)


Line = Mapping[float, float]
"""A curve: y by x."""


@contextmanager
def panels(path: str, titles: Sequence[str]) -> Iterator[list[Any]]:
    """Axes, one a title, three in a row at most; written when the block ends.

    Raises:
        Unwritable: also from the block.
    """
    # Neither pyplot nor its choice of a window system: this draws into a file alone.
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    across = min(_ACROSS, len(titles))
    down = -(-len(titles) // across)
    figure = Figure(figsize=(6.4 * across, 4.8 * down), layout="constrained")
    FigureCanvasAgg(figure)
    axes = [figure.add_subplot(down, across, 1 + at) for at in range(len(titles))]
    for ax, title in zip(axes, titles, strict=True):
        ax.set_title(title)
        ax.grid(alpha=0.3)
    yield axes
    kind = Path(path).suffix.lower().removeprefix(".")
    # Without the date and with ids that are no chance the same figures give the same file.
    with target(path) as file, rc_context({"svg.hashsalt": "crowdresolve"}):
        metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
        figure.savefig(file, format=kind, dpi=_DOTS, metadata=metadata)


def curve(ax: Any, line: Line, label: str, **style: Any) -> None:
    """One line with its points."""
    x = sorted(line)
    ax.plot(x, [line[at] for at in x], label=label, **style)


def logarithmic(ax: Any, x: str, y: str) -> None:
    """A logarithmic y, and a legend."""
    ax.set_yscale("log")
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.legend(fontsize="small")
