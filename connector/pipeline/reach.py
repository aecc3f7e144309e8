"""Whether any broker can be reached: said in the log, where nothing else would say it."""

from __future__ import annotations

from math import inf

import structlog

from connector.ports import Clock

log = structlog.get_logger("crowdresolve")

UNREACHABLE_S = 2.0
"""So long a broker may be without a connection before that is logged: leaders change, too."""


class Reach:
    """Logs once that no broker can be reached, and once that one can again."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._since: float | None = None
        """Since when no broker has had a connection; minus infinity: that has been logged."""

    def note(self, reachable: bool) -> None:
        """After each poll."""
        if reachable:
            if self._since == -inf:
                log.info("broker_back")
            self._since = None
        elif self._since is None:
            self._since = self._clock.monotonic()
        elif 0.0 <= self._since <= self._clock.monotonic() - UNREACHABLE_S:
            log.warning("broker_unreachable", todo="it is tried for as long as it takes")
            self._since = -inf
