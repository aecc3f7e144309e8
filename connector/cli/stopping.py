"""SIGTERM and SIGINT: the first ends the service cleanly, the second at once."""

from __future__ import annotations

import os
import signal
import sys
import threading
from types import FrameType

import structlog

from .wiring import Parts

log = structlog.get_logger("crowdresolve")

GRACE_S = 7.0
"""After this the process ends whatever it waits for; below the 10 s of common supervisors.  It
loses nothing by it: a killed process is the case that everything is made for."""


class Stop:
    """Installs the handlers when it is made.

    Attributes:
        parts: what is to be stopped, once there is something.
    """

    def __init__(self, grace_s: float = GRACE_S) -> None:
        self.parts: Parts | None = None
        self._grace_s = grace_s
        self._asked = False
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._handle)

    def _handle(self, number: int, _: FrameType | None) -> None:
        if self._asked:
            os._exit(128 + number)
        self._asked = True
        timer = threading.Timer(self._grace_s, self._end)
        timer.daemon = True
        timer.start()
        parts = self.parts
        if parts is None or not parts.source.opened.is_set():
            # Nothing is held yet; connecting may take long.
            raise SystemExit(0)
        parts.consumer.stop()
        parts.source.wake()

    def _end(self) -> None:
        log.warning("stopping_took_too_long", grace_s=self._grace_s, todo="nothing; it is safe")
        sys.stderr.flush()
        os._exit(0)
