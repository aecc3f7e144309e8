"""Pictures as SVG that takes its colours from the page.

matplotlib draws with colours that stand for names; in the text that it writes each is replaced by
the page's variable of that name, so that one picture is right in light and in dark.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable
from html import escape
from itertools import count
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, MUTED, LINE, MARK, BAND, WARN, BAD = (f"#0f0f{i:02x}" for i in range(1, 8))
_NAMES = dict(
    zip(
        (INK, MUTED, LINE, MARK, BAND, WARN, BAD),
        ("ink", "muted", "line", "mark", "band", "warn", "bad"),
        strict=True,
    )
)
WIDTH = 4.6
"""Inches; 331 units of the picture, so that its letters can be read on a telephone."""

_STYLE: Any = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 8.5,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": LINE,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "grid.color": LINE,
    "grid.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.parse_math": False,
}


class Pictures:
    """Makes the pictures of one page; no two share an id."""

    def __init__(self) -> None:
        self._number = count(1)

    def draw(
        self, title: str, description: str, height: float, paint: Callable[[Axes], None]
    ) -> Markup:
        """One picture.

        Args:
            title: what a screen reader calls it.
            description: what it shows, in words.
            height: inches.
            paint: draws on the axes that it is given.
        """
        import matplotlib
        from matplotlib.figure import Figure

        with matplotlib.rc_context(_STYLE), warnings.catch_warnings():
            # The browser has letters that matplotlib's font lacks.
            warnings.filterwarnings("ignore", "Glyph .* missing")
            figure = Figure(figsize=(WIDTH, height), layout="constrained")
            paint(figure.add_subplot())
            out = io.StringIO()
            figure.savefig(out, format="svg", metadata=dict.fromkeys(_METADATA))
        return Markup(self._own(out.getvalue(), title, description))

    def _own(self, text: str, title: str, description: str) -> str:
        name = f"picture-{next(self._number)}"
        text = text[text.index("<svg") :]
        text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
        used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', text))
        text = re.sub(
            r' id="([^"]+)"', lambda m: f' id="{name}-{m[1]}"' if m[1] in used else "", text
        )
        text = re.sub(r'(href="#|url\(#)', rf"\g<1>{name}-", text)
        for colour, variable in _NAMES.items():
            text = text.replace(colour, f"var(--{variable})")
        text = text.replace("'DejaVu Sans'", "system-ui, 'DejaVu Sans'")
        head = re.sub(r' (width|height)="[^"]*"', "", text[: text.index(">")])
        labels = f'role="img" aria-labelledby="{name}-title {name}-desc"'
        words = (
            f'<title id="{name}-title">{escape(title)}</title>'
            f'<desc id="{name}-desc">{escape(description)}</desc>'
        )
        return f"{head} {labels}>{words}{text[text.index('>') + 1 :]}"


_METADATA = ("Date", "Creator", "Format", "Type")
