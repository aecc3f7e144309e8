"""Names for people: an id may be any text, and must not hide itself or upset its surroundings."""

from __future__ import annotations

from unicodedata import category

from rich.cells import cell_len, set_cell_size

_JOINERS = "\u200c\u200d"
"""They shape letters and emoji; every other sign that cannot be seen is shown by its number."""


def visible(name: str) -> str:
    r"""The name itself, where all of it can be seen; else in quotes, with escapes.

    A terminal would obey an escape sequence, a page would turn round at a bidirectional override,
    and a name of blanks would be an empty cell.

        >>> visible("ann"), visible(" ann"), visible("a\x1b[31m")
        ('ann', '" ann"', '"a\\x1b[31m"')
    """
    escaped = "".join(map(_seen, name))
    return name if escaped == name == name.strip() else f'"{escaped}"'


def _seen(letter: str) -> str:
    kind = category(letter)
    if kind in ("Cc", "Zl", "Zp") or (kind == "Cf" and letter not in _JOINERS):
        return letter.encode("unicode_escape").decode()
    return letter


def short(name: str, cells: int) -> str:
    """Cut in the middle, so that both ends can be told; a letter is one or two cells wide."""
    if cell_len(name) <= cells:
        return name
    half = (cells - 1) // 2
    ending = set_cell_size(name[::-1], half).rstrip()[::-1]
    return f"{set_cell_size(name, half).rstrip()}…{ending}"
