"""The demo's loop: the crowd labels what is undecided until nothing is."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from connector.domain.errors import DependencyError

from .platform import Platform
from .reading import received
from .stage import Stage

AIM_S = 14.0
"""About how long the crowd labels: long enough to watch, short enough to wait for."""
LABELS_PER_TASK = 8
"""About how many it will be."""
MAX_S = 50.0
TURN_S = 0.04
WAIT_FOR_SERVICE_S = 60.0
_WINDOW_S = 2.0


@dataclass
class Rates:
    """Votes and messages a second, over the last moments."""

    _seen: deque[tuple[float, int, int]] = field(default_factory=deque)

    def note(self, now: float, votes: int, messages: int) -> None:
        """Where the counters stand now."""
        self._seen.append((now, votes, messages))
        while now - self._seen[0][0] > _WINDOW_S:
            self._seen.popleft()

    @property
    def votes(self) -> float:
        """Votes a second."""
        return self._rate(1)

    @property
    def messages(self) -> float:
        """Resolutions a second."""
        return self._rate(2)

    def _rate(self, column: int) -> float:
        if len(self._seen) < 2:
            return 0.0
        first, last = self._seen[0], self._seen[-1]
        return (last[column] - first[column]) / max(last[0] - first[0], 1e-3)


def play(stage: Stage, platform: Platform, show: Callable[[float, Rates], None]) -> float:
    """Let the crowd label; how many seconds it took.

    Args:
        stage: where.
        platform: who and what.
        show: called some times a second with the seconds gone.

    Raises:
        DependencyError: the service or the broker is gone.
    """
    stage.lines.send(platform.declaration())
    _await_service(stage)
    rates = Rates()
    pace = max(60.0, len(platform.crowd.tasks) * LABELS_PER_TASK / AIM_S)
    started = time.monotonic()
    seconds = 0.0
    while not platform.finished and seconds < MAX_S:
        stage.service.check()
        while platform.sent < seconds * pace:
            vote = platform.next_vote()
            if vote is None:
                break
            stage.lines.send(vote)
        for message in stage.lines.receive(TURN_S):
            platform.hear(message)
        seconds = time.monotonic() - started
        rates.note(seconds, platform.sent, platform.messages)
        show(seconds, rates)
    return seconds


def _await_service(stage: Stage) -> None:
    """Until it has taken the declaration: it joins its group first."""
    deadline = time.monotonic() + WAIT_FOR_SERVICE_S
    while not received(stage.database):
        stage.service.check()
        if time.monotonic() > deadline:
            raise DependencyError(f"the service does not work after {WAIT_FOR_SERVICE_S:.0f} s")
        time.sleep(0.1)
