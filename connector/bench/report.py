"""Tables as CSV and markdown."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

Cell = str | int | float | None
Say = Callable[[str], None]


@dataclass(frozen=True)
class Report:
    """One table, and the file's name that it is written to.

    Attributes:
        name: of the files, without extension.
        title: a sentence.
        columns: headings.
        rows: floats are written in full to the CSV, with ``digits`` decimals elsewhere.
        notes: below the table.
        digits: decimals.
    """

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = field(default=())
    digits: int = 3

    def markdown(self) -> str:
        """As a section of a document."""
        lines = [f"### {self.title}", "", "| " + " | ".join(self.columns) + " |"]
        lines.append("|" + " --- |" + " ---: |" * (len(self.columns) - 1))
        lines += ["| " + " | ".join(self.shown(c) for c in row) + " |" for row in self.rows]
        for note in self.notes:
            lines += ["", note]
        return "\n".join(lines) + "\n"

    def shown(self, cell: Cell) -> str:
        """As people read it."""
        if cell is None:
            return "-"
        if isinstance(cell, float):
            return f"{cell:.{self.digits}f}"
        return f"{cell:,}" if isinstance(cell, int) else cell

    def write(self, out: Path) -> None:
        """NAME.csv and NAME.md."""
        out.mkdir(parents=True, exist_ok=True)
        with (out / f"{self.name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(self.columns)
            writer.writerows(self.rows)
        (out / f"{self.name}.md").write_text(self.markdown(), encoding="utf-8")
