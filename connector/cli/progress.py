"""Every ten seconds a line that says how fast it goes and how much is left."""

from __future__ import annotations

import structlog

from connector.domain.errors import CrowdResolveError
from connector.domain.records import TopicPartition
from connector.ports import Clock

from .intake import Intake

log = structlog.get_logger("crowdresolve")

EVERY_S = 10.0


class Progress:
    """Counts batches, and logs `progress` while there are any.

    Args:
        intake: asked where the log ends.
        clock: for the rate.
        every_s: seconds between two lines.
    """

    def __init__(self, intake: Intake, clock: Clock, every_s: float = EVERY_S) -> None:
        self._intake = intake
        self._clock = clock
        self._every_s = every_s
        self._since = clock.monotonic()
        self._records = 0
        self._messages = 0
        self._batches = 0

    def note(self, partition: TopicPartition, records: int, messages: int) -> None:
        """A batch is done."""
        if not self._batches and self._clock.monotonic() - self._since > self._every_s:
            self._since = self._clock.monotonic()  # it was quiet: that is no slowness
        self._records += records
        self._messages += messages
        self._batches += 1

    def tick(self) -> None:
        """Log if it is time."""
        seconds = self._clock.monotonic() - self._since
        if not self._batches or seconds < self._every_s:
            return
        log.info(
            "progress",
            records=self._records,
            batches=self._batches,
            messages=self._messages,
            records_per_s=round(self._records / seconds, 1),
            lag=self._lag(),
        )
        self._since = self._clock.monotonic()
        self._records = self._messages = self._batches = 0

    def _lag(self) -> int | None:
        """Records that are still to be folded; None where the broker does not say."""
        lag = 0
        for partition, position in list(self._intake.positions.items()):
            try:
                lag += max(0, self._intake.bounds(partition)[1] - position)
            except CrowdResolveError:
                return None
        return lag
