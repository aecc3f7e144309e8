"""What a member of the group owns, as the client's rebalances tell it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kafka import ConsumerRebalanceListener

from connector.domain.records import TopicPartition

RevokeHook = Callable[[Sequence[TopicPartition], bool], None]
"""Called with partitions that are being taken away, and whether they are lost already."""


class Duties(ConsumerRebalanceListener):  # type: ignore[misc]
    """What the member owns, noted on the client's I/O thread inside `poll` and `close`.

    Nothing here may ask the broker anything: the I/O thread would wait for itself.
    """

    def __init__(self, hook: RevokeHook | None) -> None:
        self.consumer: Any = None
        self.membership: Any = None
        self.failure: BaseException | None = None
        self._hook = hook
        self._assigned: set[TopicPartition] = set()
        self._revoked: set[TopicPartition] = set()
        self._known: set[TopicPartition] = set()

    @property
    def changed(self) -> bool:
        return bool(self._assigned or self._revoked)

    def report(self) -> tuple[list[TopicPartition], list[TopicPartition]]:
        """What was assigned and revoked since the last report."""
        assigned, revoked = sorted(self._assigned), sorted(self._revoked)
        self._known = (self._known - self._revoked) | self._assigned
        self._assigned = set()
        self._revoked = set()
        return assigned, revoked

    def on_partitions_assigned(self, assigned: Any) -> None:
        for partition in assigned:
            # A position, so that the client looks for none (and finds none in a new group); and
            # paused, so that nothing is fetched from there before the loop has sought.
            self.consumer.seek(partition, 0)
            self.consumer.pause(partition)
        self._assigned = {TopicPartition(*partition) for partition in assigned}
        # Of this assignment. Read later, it could be that of no member at all, against which the
        # broker checks nothing.
        self.membership = self.consumer.group_metadata()

    def on_partitions_revoked(self, revoked: Any) -> None:
        self._take(revoked, lost=False)

    def on_partitions_lost(self, lost: Any) -> None:
        self._take(lost, lost=True)

    def _take(self, partitions: Any, *, lost: bool) -> None:
        gone = sorted(TopicPartition(*partition) for partition in partitions)
        self._assigned.difference_update(gone)
        self._revoked.update(self._known.intersection(gone))
        if gone and self._hook is not None:
            try:
                self._hook(gone, lost)
            except BaseException as error:
                # Raised here it would reach the loop as the client's own error.
                self.failure = error
