"""Figures drawn with characters."""

from __future__ import annotations


def interval_bar(lower: float, middle: float, upper: float, width: int = 30) -> str:
    """An interval on the line from 0 to 1: `.......---o--.`."""
    cells = ["."] * width
    for i in range(_cell(lower, width), _cell(upper, width) + 1):
        cells[i] = "-"
    cells[_cell(middle, width)] = "o"
    return "".join(cells)


def count_bar(count: int, largest: int, width: int = 30) -> str:
    """As long as its share of the largest count; something, if there is anything."""
    if not count:
        return ""
    return "#" * max(1, round(width * count / largest))


def _cell(share: float, width: int) -> int:
    return min(width - 1, max(0, int(share * width)))
