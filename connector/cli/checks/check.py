"""One line of the doctor's report."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class State(StrEnum):
    """How it is."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


class Check(NamedTuple):
    """What was looked at and how it is.

    Attributes:
        what: a few words, the same in every run.
        state: see `State`.
        found: what was seen.
        todo: what to do; empty where nothing is.
        unreachable: it failed because a dependency does not answer.
    """

    what: str
    state: State
    found: str
    todo: str = ""
    unreachable: bool = False


def ok(what: str, found: str) -> Check:
    """Nothing to do."""
    return Check(what, State.OK, found)


def warning(what: str, found: str, todo: str) -> Check:
    """It works, but somebody should know."""
    return Check(what, State.WARNING, found, todo)


def failed(what: str, found: str, todo: str, *, unreachable: bool = False) -> Check:
    """It does not work like this."""
    return Check(what, State.FAILED, found, todo, unreachable)
