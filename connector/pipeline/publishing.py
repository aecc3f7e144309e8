"""What the loop has published: a publisher at a time, and how far each partition is out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping

import structlog

from connector.domain.errors import DependencyError
from connector.domain.records import Cursor, TopicPartition
from connector.ports import Clock, Sink, Source, Store

from .publisher import Publication, Publisher

log = structlog.get_logger("crowdresolve")

RETRY_S = (0.2, 0.5, 1.0, 2.0, 5.0)
"""Between attempts while something is away; the last for as long as it takes."""


class Publishing:
    """Replaces the publisher after an outcome that nobody knows.

    Args:
        make_sink: a new sink.
        store, source, clock: see `connector.ports`.
        transactional: the sink commits cursors itself (exactly_once).
    """

    def __init__(
        self,
        make_sink: Callable[[], Sink],
        store: Store,
        source: Source,
        clock: Clock,
        transactional: bool,
    ) -> None:
        self._make_sink = make_sink
        self._store = store
        self._source = source
        self._clock = clock
        self._transactional = transactional
        self._publisher: Publisher | None = None
        self._sent: dict[TopicPartition, Cursor] = {}
        self._sent_lock = threading.Lock()

    def open(self) -> None:
        """Connect. Raises DependencyError, ConfigurationError."""
        sink = self._make_sink()
        sink.open()
        self._publisher = Publisher(sink, self._store, self._note_sent)
        self._publisher.start()

    @property
    def publisher(self) -> Publisher:
        """The present one; `open` comes first."""
        assert self._publisher is not None
        return self._publisher

    def submit(self, work: Publication) -> None:
        """Hand on a batch that is written. Also called from the writer's thread."""
        try:
            self.publisher.submit(work)
        except DependencyError:
            return  # the outbox has it; the next turn opens a new publisher and recovers

    def failed(self) -> bool:
        """Whether the present publisher has ended; Fenced and Refused are raised."""
        try:
            self.publisher.check()
        except DependencyError as error:
            log.warning("publisher_failed", reason=str(error))
            return True
        return False

    def reopen(self, stopping: threading.Event) -> None:
        """A new publisher, however long that takes; every partition must be recovered then."""
        self.publisher.stop()
        tries = 0
        while not stopping.is_set():
            try:
                self.open()
                return
            except DependencyError as error:
                wait = RETRY_S[min(tries, len(RETRY_S) - 1)]
                tries += 1
                log.warning("broker_away", retry_in_s=wait, reason=str(error))
                self._clock.sleep(wait)

    def revoke(self, partitions: Collection[TopicPartition], wait_s: float) -> None:
        """As `Publisher.revoke`; from the client's I/O thread."""
        if self._publisher is not None:
            self._publisher.revoke(partitions, wait_s)

    def forget(self, partition: TopicPartition) -> None:
        """It is not ours any more."""
        self._sent.pop(partition, None)

    def close(self) -> None:
        """End it; never raises."""
        if self._publisher is not None:
            self._publisher.stop()

    # -- at_least_once: the group's cursor follows what was acknowledged

    def _note_sent(self, cursors: Mapping[TopicPartition, Cursor], messages: int) -> None:
        if not self._transactional:
            with self._sent_lock:
                self._sent.update(cursors)

    def commit_sent(self, owned: Collection[TopicPartition]) -> None:
        """Commit what is out, where the sink does not do it itself."""
        if self._transactional or not self._sent:
            return
        with self._sent_lock:
            due = {p: c for p, c in self._sent.items() if p in owned}
            self._sent.clear()
        if due:
            try:
                self._source.commit(due)
            except DependencyError as error:
                log.warning("offsets_not_committed", reason=str(error))
