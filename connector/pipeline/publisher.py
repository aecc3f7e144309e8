"""Publishing in a thread of its own, so that it overlaps the next batch.

Work arrives in order, one `Publication` a committed batch.  Several are sent as one Kafka
transaction with the cursors that they lead to.  A partition that is taken away is closed at once:
what waits for it is dropped (the outbox has it, the next owner publishes it), what is being sent
is waited for.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from connector.domain.records import Cursor, Outgoing, TopicPartition
from connector.ports import Sink, Store

MAX_MESSAGES = 20_000
"""Messages in one Kafka transaction; 100,000 take 6 s, and hold up every subscriber that long."""

MAX_WAITING = 50_000
"""Messages that may wait before the loop is held back."""

MANY_RECORDS = 500
"""A batch of so many records is one of a backlog: the next comes at once."""

TOGETHER = 4
"""So many batches of a backlog go out in one Kafka transaction, as each takes 2 ms of the
interpreter whatever is in it; nobody waits for the first, who will wait for the last longer."""

GATHER_S = 0.15
"""For so long they are waited for."""


class Publication(NamedTuple):
    """A stretch of the log whose messages are in the outbox and not yet out.

    Attributes:
        messages: they themselves, or None: too many to hold, read them from the outbox.
        start, until: cursors before and after.
        membership: the group metadata of the poll that brought the records.
    """

    partition: TopicPartition
    messages: Sequence[Outgoing] | None
    start: Cursor
    until: Cursor
    membership: object


class Publisher:
    """The thread that owns the sink.

    Args:
        sink: opened by the caller.
        store: for stretches that are read from the outbox.
        on_sent: called from the thread with the cursors that are published; the loop commits them
            itself where the sink has no transactions.
    """

    def __init__(
        self,
        sink: Sink,
        store: Store,
        on_sent: Callable[[dict[TopicPartition, Cursor], int], None] | None = None,
    ) -> None:
        self._sink = sink
        self._store = store
        self._on_sent = on_sent
        self._queue: deque[Publication] = deque()
        self._waiting = 0
        self._running: set[TopicPartition] = set()
        self._open: set[TopicPartition] = set()
        self._published: dict[TopicPartition, Cursor] = {}
        self._failure: BaseException | None = None
        self._stopping = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="publisher", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    # -- from the loop

    def admit(self, partition: TopicPartition, published: Cursor) -> None:
        """Take work for the partition from now on."""
        with self._changed:
            self._open.add(partition)
            self._published[partition] = published

    def submit(self, work: Publication, timeout_s: float = 60.0) -> None:
        """Queue a batch's messages; waits while too many are waiting. Raises what `check` does."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._waiting < MAX_WAITING or self._failure is not None, timeout_s
            )
            self._raise()
            if work.partition not in self._open:
                return
            self._queue.append(work)
            self._waiting += _size(work)
            self._changed.notify_all()

    def check(self) -> None:
        """Raise what ended the thread, if anything did: Fenced, Refused, DependencyError."""
        with self._changed:
            self._raise()

    def published(self, partition: TopicPartition) -> Cursor:
        """Everything before this cursor is out."""
        with self._changed:
            return self._published.get(partition, Cursor(0))

    def drain(self, timeout_s: float) -> bool:
        """Wait until everything is out; False if that takes too long or has failed."""
        with self._changed:
            done = self._changed.wait_for(
                lambda: (not self._queue and not self._running) or self._failure is not None,
                timeout_s,
            )
            return done and self._failure is None

    def stop(self) -> None:
        """End the thread after what it is sending, and close the sink. Never raises."""
        with self._changed:
            self._stopping = True
            self._queue.clear()
            self._waiting = 0
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join(1.0)  # long enough for a transaction that goes well
        self._sink.close()  # cuts off one that does not
        if self._thread.is_alive():
            self._thread.join(3.0)

    # -- from the client's I/O thread

    def revoke(self, partitions: Collection[TopicPartition], wait_s: float) -> None:
        """Close partitions: drop what waits for them, wait for what is being sent."""
        gone = set(partitions)
        with self._changed:
            self._open -= gone
            kept = deque(w for w in self._queue if w.partition not in gone)
            self._queue = kept
            self._waiting = sum(map(_size, kept))
            self._changed.notify_all()
            self._changed.wait_for(lambda: not (self._running & gone), wait_s)

    # -- the thread

    def _run(self) -> None:
        try:
            while (work := self._take()) is not None:
                self._publish(work)
        except BaseException as error:
            with self._changed:
                self._failure = error
                self._running = set()
                self._changed.notify_all()

    def _take(self) -> list[Publication] | None:
        with self._changed:
            while not self._queue:  # a revocation may empty it while more is waited for
                self._changed.wait_for(lambda: self._queue or self._stopping)
                self._changed.wait_for(lambda: not self._gathers(), GATHER_S)
                if self._stopping:
                    return None
            work = [self._queue.popleft()]
            size = _size(work[0])
            while (
                self._queue
                and work[0].messages is not None
                and self._queue[0].messages is not None
                and self._queue[0].membership == work[0].membership
                and size + _size(self._queue[0]) <= MAX_MESSAGES
            ):
                work.append(self._queue.popleft())
                size += _size(work[-1])
            self._running = {w.partition for w in work}
            return work

    def _gathers(self) -> bool:
        """Whether the queue is a backlog's, and more of it is to come."""
        return (
            0 < len(self._queue) < TOGETHER
            and not self._stopping
            and all(
                w.messages is not None and w.until.offset - w.start.offset >= MANY_RECORDS
                for w in self._queue
            )
        )

    def _publish(self, work: list[Publication]) -> None:
        first = work[0]
        if first.messages is None:
            self._publish_stored(first)
        else:
            messages = [m for w in work for m in w.messages or ()]
            cursors = {w.partition: w.until for w in work}
            self._send(messages, cursors, first.membership)
        with self._changed:
            self._waiting = sum(map(_size, self._queue))
            self._running = set()
            self._changed.notify_all()

    def _publish_stored(self, work: Publication) -> None:
        """Publish one transaction's worth; what is left waits behind the other partitions."""
        page = self._store.outbox(work.partition, work.start, MAX_MESSAGES)
        page = [m for m in page if Cursor(m.offset, m.sequence) < work.until]
        last = len(page) < MAX_MESSAGES
        start = work.until if last else Cursor(page[-1].offset, page[-1].sequence + 1)
        self._send(page, {work.partition: start}, work.membership)
        if not last:
            self._put_back(work._replace(start=start))

    def _put_back(self, work: Publication) -> None:
        with self._changed:
            if work.partition not in self._open or self._stopping:
                return
            others = [w for w in self._queue if w.partition != work.partition]
            mine = [w for w in self._queue if w.partition == work.partition]
            self._queue = deque([*others, work, *mine])

    def _send(
        self,
        messages: Sequence[Outgoing],
        cursors: dict[TopicPartition, Cursor],
        membership: object,
    ) -> None:
        self._sink.publish(messages, cursors, membership)
        with self._changed:
            self._published.update(cursors)
        if self._on_sent is not None:
            self._on_sent(cursors, len(messages))

    def _raise(self) -> None:
        if self._failure is not None:
            raise self._failure


def _size(work: Publication) -> int:
    return 1 + (MAX_MESSAGES if work.messages is None else len(work.messages))
