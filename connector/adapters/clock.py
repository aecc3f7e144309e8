"""The machine's time."""

from __future__ import annotations

import time


class SystemClock:
    """Implements `connector.ports.Clock`: for waiting and for logs, never for state."""

    def monotonic(self) -> float:
        """Seconds since some start."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)
