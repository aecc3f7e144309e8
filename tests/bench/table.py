"""A table of figures: rich on a terminal, markdown elsewhere, CSV for other programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table as RichTable

Cell = str | int | float | None


@dataclass(frozen=True)
class Table:
    """Rows of figures.

    Attributes:
        name: short, of the file that it is written to.
        title: a sentence.
        columns: their headings.
        rows: a float is shown with as many digits as it needs, in the CSV with all of them.
        notes: sentences below.
    """

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = field(default=())

    def markdown(self) -> str:
        """As a section of a document."""
        lines = [
            f"### {self.title}",
            "",
            "| " + " | ".join(self.columns) + " |",
            "|" + "|".join(" --- " if i == 0 else " ---: " for i in range(len(self.columns))) + "|",
            *("| " + " | ".join(map(shown, row)) + " |" for row in self.rows),
        ]
        for note in self.notes:
            lines += ["", note]
        return "\n".join(lines) + "\n"

    def csv(self) -> str:
        """One line a row, below the headings."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(self.rows)
        return out.getvalue()

    def print(self, console: Console) -> None:
        """To people, or to a file."""
        if not console.is_terminal:
            print(self.markdown(), file=console.file, flush=True)
            return
        made = RichTable(title=self.title, title_justify="left")
        for i, name in enumerate(self.columns):
            made.add_column(name, justify="left" if i == 0 else "right")
        for row in self.rows:
            made.add_row(*map(shown, row))
        console.print(made)
        for note in self.notes:
            console.print(note, style="dim")


def shown(cell: Cell) -> str:
    """A figure as people read it: three significant digits, thousands set apart."""
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int) or abs(cell) >= 100:
        return f"{cell:,.0f}"
    if abs(cell) >= 10:
        return f"{cell:.1f}"
    return f"{cell:.2f}" if abs(cell) >= 0.1 or cell == 0 else f"{cell:.3g}"
