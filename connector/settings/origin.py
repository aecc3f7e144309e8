"""Where a value came from."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Kind(Enum):
    """In order of precedence, the strongest first."""

    FLAG = "flag"
    VARIABLE = "variable"
    FILE = "file"
    DEFAULT = "default"


class Origin(NamedTuple):
    """A flag, a variable, a key of a file, or none: the default.

    Attributes:
        kind: which of these.
        name: of the flag, variable or key.
        path: of the file, where it is one.
    """

    kind: Kind
    name: str = ""
    path: str = ""

    def __str__(self) -> str:
        if self.kind is Kind.DEFAULT:
            return "default"
        return f"`{self.name}` in {self.path}" if self.kind is Kind.FILE else self.name


DEFAULT = Origin(Kind.DEFAULT)
