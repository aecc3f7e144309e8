"""`time.passed`, sent to a partition that is quiet while leases are due.

Leases end by the time of the records.  Where none arrives, that time stands still; so the service
sends a record itself.  The machine's clock decides when, the record's timestamp what time it is:
one that is sent twice, late or too early by that clock changes nothing that a replay would miss.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor

import structlog

from connector.domain.errors import DependencyError
from connector.domain.records import TopicPartition

log = structlog.get_logger("crowdresolve")

QUIET_S = 1.0
"""Without a record for so long a partition is quiet; so often it is told the time at most."""

VALUE = b'{"type":"time.passed"}'


class Timekeeper:
    """Decides when, and sends in a thread of its own, so that nobody waits for it.

    Args:
        send: `VALUE` to a partition; may take its time. Raises DependencyError.
        now: microseconds since 1970 by the machine's clock.
        monotonic: seconds.
    """

    def __init__(
        self,
        send: Callable[[TopicPartition], None],
        now: Callable[[], int],
        monotonic: Callable[[], float],
    ) -> None:
        self._send = send
        self._now = now
        self._monotonic = monotonic
        self._last: dict[TopicPartition, float] = {}
        """When a record came from the partition, or was sent to it."""
        self._telling: dict[TopicPartition, Future[None]] = {}
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="timekeeper")

    def heard(self, partition: TopicPartition) -> None:
        """A record has come."""
        self._last[partition] = self._monotonic()

    def is_quiet(self, partition: TopicPartition) -> bool:
        """Whether nothing has come for a while; from its first call on."""
        now = self._monotonic()
        return now - self._last.setdefault(partition, now) >= QUIET_S

    def tell(self, due: Mapping[TopicPartition, int | None]) -> None:
        """Send to the quiet partitions whose next lease ends by now (microseconds)."""
        time = self._now()
        for partition, expires_at in due.items():
            if expires_at is None or expires_at > time:
                continue
            before = self._telling.get(partition)
            if before is None or before.done():  # a broker that is away would have many waiting
                self._last[partition] = self._monotonic()
                self._telling[partition] = self._pool.submit(self._tell, partition)

    def _tell(self, partition: TopicPartition) -> None:
        try:
            self._send(partition)
        except DependencyError as error:
            log.warning(
                "time_not_sent",
                topic=partition.topic,
                partition=partition.partition,
                reason=str(error),
            )

    def close(self) -> None:
        """Send nothing more. Never raises."""
        self._pool.shutdown(wait=False, cancel_futures=True)
