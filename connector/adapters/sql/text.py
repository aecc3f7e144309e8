"""Free text as a database can keep it."""

from __future__ import annotations

import re
from typing import Any, TypeVar

Row = TypeVar("Row", bound=tuple[Any, ...])

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def storable(text: str) -> str:
    """The text with U+FFFD for what no database takes: NUL (PostgreSQL) and half surrogate pairs.

    For what people wrote (a reason, an error's message); names never hold such characters.
    Every store applies it, the in-memory one too, so that all give back the same.
    """
    return text if text.isascii() and "\0" not in text else _UNSTORABLE.sub("\ufffd", text)


def readable(row: Row) -> Row:
    """A named tuple with every text of it as a database can keep it."""
    texts = [storable(v) if isinstance(v, str) else v for v in row]
    return row if texts == list(row) else type(row)(*texts)
