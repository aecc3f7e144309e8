"""A source that lets batches fill, and knows how far it has delivered."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence

from connector.domain.records import Cursor, Record, TopicPartition
from connector.ports import Clock, Polled, Source

LOOK_S = 0.003
"""At most this long a filling batch does not notice `stop`, or that nothing is in its way."""

BATCH_BYTES = 16 * 1024 * 1024
"""Values of this size make a batch full, however few."""


class Intake:
    """Implements `connector.ports.Source` over another one.

    A poll that brought records, but fewer than a batch, goes on for a little while, if the batch
    before it is still being written or published: a batch is one commit to the database and one
    Kafka transaction, whatever its size, and would have to wait for those anyway. Where nothing is
    in its way there is nothing to wait for.

    Args:
        inner: the source.
        clock: for waiting.
        batch_size: records that make a batch full.
        batch_wait_s: how long one that is not full waits at most.
        on_poll: called after every poll.
        busy: whether a batch that came now would have to wait.
    """

    def __init__(
        self,
        inner: Source,
        clock: Clock,
        batch_size: int,
        batch_wait_s: float,
        on_poll: Callable[[], None] = lambda: None,
        busy: Callable[[], bool] = lambda: True,
    ) -> None:
        self._inner = inner
        self._clock = clock
        self._batch_size = batch_size
        self._batch_wait_s = batch_wait_s
        self.on_poll = on_poll
        self.busy = busy
        self.positions: dict[TopicPartition, int] = {}
        """Per partition the offset after the last record that was delivered."""
        self.opened = threading.Event()

    def open(self) -> None:
        self._inner.open()
        self.opened.set()

    def poll(self, timeout_s: float) -> Polled:
        polled = self._inner.poll(timeout_s)
        if polled.records and not polled.assigned and not polled.revoked:
            polled = self._filled(polled)
        for partition in polled.revoked:
            self.positions.pop(partition, None)
        for partition, records in polled.records.items():
            self.positions[partition] = records[-1].offset + 1
        self.on_poll()
        return polled

    def _filled(self, polled: Polled) -> Polled:
        records = {p: list(r) for p, r in polled.records.items()}
        until = self._clock.monotonic() + self._batch_wait_s
        while not self._full(records):
            left = until - self._clock.monotonic()
            if left <= 0.0 or not self.busy():
                break
            more = self._inner.poll(min(left, LOOK_S))
            for partition in (*more.revoked, *more.assigned):
                records.pop(partition, None)  # not ours, or to be read again from elsewhere
            for partition, found in more.records.items():
                records.setdefault(partition, []).extend(found)
            if more.assigned or more.revoked:
                return Polled(more.assigned, more.revoked, records, more.membership)
        return Polled((), (), records, polled.membership)

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
        self._inner.wake()

    def close(self) -> None:
        self._inner.close()
