"""A source that lets batches fill, and knows how far it has delivered."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence

from connector.domain.records import Cursor, Record, TopicPartition
from connector.ports import Clock, Polled, Source

LOOK_S = 0.05
"""So long a batch that is held back may not notice `wake`."""

BATCH_BYTES = 16 * 1024 * 1024
"""Values of this size make a batch full, however few."""


class Intake:
    """Implements `connector.ports.Source` over another one.

    A batch begins at the earliest so long after the one before it, unless that was full: it is one
    commit to the database and one Kafka transaction whatever its size, and these take the time of
    both machines.  More and smaller batches make the broker busy, and every label later.  Where
    nothing came for a while there is nothing to wait for.

    Args:
        inner: the source.
        clock: for waiting.
        batch_size: records that make a batch full.
        batch_wait_s: from a batch that was not full to the next.
        on_poll: called after every poll.
    """

    def __init__(
        self,
        inner: Source,
        clock: Clock,
        batch_size: int,
        batch_wait_s: float,
        on_poll: Callable[[], None] = lambda: None,
    ) -> None:
        self._inner = inner
        self._clock = clock
        self._batch_size = batch_size
        self._batch_wait_s = batch_wait_s
        self._due = 0.0
        self._woken = False
        self.on_poll = on_poll
        self.positions: dict[TopicPartition, int] = {}
        """Per partition the offset after the last record that was delivered."""
        self.opened = threading.Event()

    def open(self) -> None:
        self._inner.open()
        self.opened.set()

    def poll(self, timeout_s: float) -> Polled:
        while not self._woken and (left := self._due - self._clock.monotonic()) > 0.0:
            self._clock.sleep(min(left, LOOK_S))
        polled = self._inner.poll(timeout_s)
        self._woken = False
        for partition in polled.revoked:
            self.positions.pop(partition, None)
        for partition, records in polled.records.items():
            self.positions[partition] = records[-1].offset + 1
        if polled.records:
            wait_s = 0.0 if self._full(polled.records) else self._batch_wait_s
            self._due = self._clock.monotonic() + wait_s
        self.on_poll()
        return polled

    def _full(self, records: Mapping[TopicPartition, Sequence[Record]]) -> bool:
        return (
            sum(map(len, records.values())) >= self._batch_size
            or sum(len(r.value or b"") for found in records.values() for r in found) >= BATCH_BYTES
        )

    def committed(self, partition: TopicPartition) -> Cursor | None:
        return self._inner.committed(partition)

    def bounds(self, partition: TopicPartition) -> tuple[int, int]:
        return self._inner.bounds(partition)

    def seek(self, partition: TopicPartition, offset: int) -> None:
        self.positions[partition] = offset
        self._inner.seek(partition, offset)

    def pause(self, partition: TopicPartition) -> None:
        self._inner.pause(partition)

    def commit(self, cursors: Mapping[TopicPartition, Cursor]) -> None:
        self._inner.commit(cursors)

    def partitions(self) -> int:
        return self._inner.partitions()

    def wake(self) -> None:
        """Cut a poll short; for any thread."""
        self._woken = True
        self._inner.wake()

    def close(self) -> None:
        self._inner.close()
