"""The ends of runs that are being folded beside the loop, one a partition at most."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import structlog

from connector.domain.events import Event
from connector.domain.records import Record, TopicPartition
from connector.engine.shard import Shard
from connector.ports import Clock, Store

from .adoption import Adoption

log = structlog.get_logger("crowdresolve")


class Adoptions:
    """Used by the loop; `cancel` also by the client's I/O thread.

    Args:
        store, clock: see `connector.ports`.
        on_done: called from an adoption's thread when it has ended.
    """

    def __init__(self, store: Store, clock: Clock, on_done: Callable[[], None]) -> None:
        self._store = store
        self._clock = clock
        self._on_done = on_done
        self._running: dict[TopicPartition, Adoption] = {}

    def __contains__(self, partition: TopicPartition) -> bool:
        return partition in self._running

    def begin(self, partition: TopicPartition, shard: Shard, record: Record, event: Event) -> None:
        """Fold and write the record; nobody else may use the shard until that has ended."""
        begun = self._clock.monotonic()
        adoption = Adoption(self._store, shard, record, event, begun, self._on_done)
        self._running[partition] = adoption
        adoption.start()
        log.info(
            "run_ending",
            topic=partition.topic,
            partition=partition.partition,
            offset=record.offset,
            run=getattr(event, "run", None),
        )

    def ended(self) -> Iterator[tuple[TopicPartition, Adoption]]:
        """Those that have ended, each once."""
        for partition, adoption in list(self._running.items()):
            if adoption.done:
                del self._running[partition]
                yield partition, adoption

    def cancel(self, partition: TopicPartition, wait_s: float) -> None:
        """Let it write nothing any more; where that is too late, wait for its end."""
        adoption = self._running.get(partition)
        if adoption is not None:
            adoption.cancel(wait_s)

    def cancel_all(self, wait_s: float) -> None:
        """As `cancel`, each."""
        for partition in list(self._running):
            self.cancel(partition, wait_s)

    def drop(self, partition: TopicPartition, wait_s: float) -> None:
        """Cancel it, and know nothing of it any more."""
        self.cancel(partition, wait_s)
        self._running.pop(partition, None)
