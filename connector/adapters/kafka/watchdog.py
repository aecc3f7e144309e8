"""The last resort: for calls of the client that do not return though they have a timeout."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator

OnHang = Callable[[str], None]
"""Called from the watchdog's thread, once; it should end the process and say why."""


class Watchdog:
    """Calls `on_hang` where what it watches has not returned in time.

    Time is counted in ticks of its own thread, so that a process that was stopped (SIGSTOP, a
    suspended machine) is not taken for one that hangs.
    """

    def __init__(self, seconds: float, on_hang: OnHang, *, ticks: int = 30) -> None:
        self._interval = seconds / ticks
        self._ticks = ticks
        self._on_hang = on_hang
        self._watched: tuple[str, list[int]] | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watchdog", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def close(self) -> None:
        """End; does not wait."""
        self._ended.set()

    @contextlib.contextmanager
    def watch(self, what: str) -> Iterator[None]:
        """The block must not take longer than the watchdog's seconds."""
        self._watched = (what, [0])
        try:
            yield
        finally:
            self._watched = None

    def _run(self) -> None:
        while not self._ended.wait(self._interval):
            watched = self._watched
            if watched is None:
                continue
            what, count = watched
            count[0] += 1
            if count[0] > self._ticks and self._watched is watched:
                seconds = self._interval * self._ticks
                self._on_hang(f"{what} has not returned for {seconds:.0f} s")
                return
