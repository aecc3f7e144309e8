"""What is being measured just now: a live line on a terminal, plain lines on stderr elsewhere."""

from __future__ import annotations

import sys
from types import TracebackType

from rich.console import Console
from rich.status import Status


class Progress:
    """Says one thing at a time; `with Progress() as say: say("...")`."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._status: Status | None = None
        self._last = ""

    def __enter__(self) -> Progress:
        if self._console.is_terminal:
            self._status = self._console.status("")
            self._status.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self._status is not None:
            self._status.stop()

    def __call__(self, what: str) -> None:
        """The present measurement."""
        if self._status is not None:
            self._status.update(what)
        elif what != self._last:
            print(what, file=sys.stderr, flush=True)
        self._last = what
