"""Writing in a thread of its own, so that one batch is written while the next is folded.

One write at a time: a second waits for the first, and is not begun if that failed.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import NamedTuple

from connector.domain.records import TopicPartition

CLOSE_WAIT_S = 5.0


class Written(NamedTuple):
    """How a write ended: with an error, or (None) well."""

    partition: TopicPartition
    error: BaseException | None


class Writer:
    """The thread that writes."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="writer")
        self._last: tuple[TopicPartition, Future[None]] | None = None

    def submit(self, partition: TopicPartition, job: Callable[[], None]) -> None:
        """Begin a write. The one before it must be settled."""
        assert self._last is None
        self._last = (partition, self._pool.submit(job))

    @property
    def done(self) -> bool:
        """Whether the last write has ended and waits to be settled."""
        return self._last is not None and self._last[1].done()

    def settle(self) -> Written | None:
        """Wait for the last write, and say how it ended; None: it is settled already."""
        if self._last is None:
            return None
        partition, future = self._last
        error = future.exception()
        self._last = None
        return Written(partition, error)

    def wait(self, timeout_s: float) -> None:
        """Wait for a running write; for another thread than the loop's."""
        last = self._last
        if last is not None:
            wait([last[1]], timeout_s)

    def close(self) -> None:
        """Let a running write end, within reason. Never raises."""
        self.wait(CLOSE_WAIT_S)
        self._pool.shutdown(wait=False, cancel_futures=True)
