"""How a job's work is followed, and asked to end."""

from __future__ import annotations

from typing import Protocol


class Stopped(Exception):
    """The job was asked to end; what it had begun is for another one."""


class Watch(Protocol):
    """Told how far the work on a project is; called often, so it must return at once."""

    def step(self, project: str, stage: str, done: int, total: int) -> None:
        """A stage has come so far. May raise Stopped."""
        ...

    def done(self, project: str) -> None:
        """The work on the project is over, however it ended."""
        ...
