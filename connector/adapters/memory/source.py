"""The annotations topic in memory, as a member of a consumer group."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from connector.domain.errors import DependencyError, Refused
from connector.domain.records import Cursor, Record, TopicPartition
from connector.ports import Polled

from .broker import MemoryBroker
from .group import Membership


class MemorySource:
    """Implements `connector.ports.Source` on a `MemoryBroker`."""

    def __init__(
        self,
        broker: MemoryBroker,
        *,
        group: str,
        topic: str,
        on_revoke: Callable[[Sequence[TopicPartition], bool], None] | None = None,
        batch_size: int = 1000,
        batch_bytes: int = 16 * 1024 * 1024,
        committed_timeout_s: float = 60.0,
    ) -> None:
        """Not a member before the first poll.

        Args:
            broker: where the topic is.
            group: id of the consumer group.
            topic: the annotations.
            on_revoke: called inside `poll` and `close`, as `KafkaSource` does.
            batch_size: most records of one poll.
            batch_bytes: most bytes of keys and values of one poll, but for one record more.
            committed_timeout_s: how long `committed` waits for another's transaction to end.
        """
        self._broker = broker
        self._group = group
        self._topic = topic
        self._hook = on_revoke
        self._batch_size = batch_size
        self._batch_bytes = batch_bytes
        self._committed_timeout_s = committed_timeout_s
        self._member: str | None = None
        self._membership: Membership | None = None
        self._owned: list[TopicPartition] = []
        self._positions: dict[TopicPartition, int] = {}
        self._assigned: list[TopicPartition] = []
        self._revoked: set[TopicPartition] = set()
        self._woken = False

    @property
    def member(self) -> str | None:
        """The member's id, for `MemoryBroker.expire_member`."""
        return self._member

    def open(self) -> None:
        """Raises ConfigurationError where there is no such topic."""
        self.partitions()

    def poll(self, timeout_s: float) -> Polled:
        """As `KafkaSource.poll`. Raises Refused where a position is no longer in the log."""
        deadline = time.monotonic() + timeout_s
        while True:
            self._follow()
            with self._broker.changed:
                records = self._records()
                if records or self._assigned or self._revoked or self._woken:
                    break
                left = deadline - time.monotonic()
                if left <= 0:
                    break
                if not self._behind():
                    self._broker.changed.wait(left)
        self._woken = False
        assigned, self._assigned = self._assigned, []
        revoked, self._revoked = sorted(self._revoked), set()
        return Polled(assigned, revoked, records, self._membership)

    def committed(self, partition: TopicPartition) -> Cursor | None:
        """As `KafkaSource.committed`. Raises DependencyError where a transaction does not end."""
        broker = self._broker
        with broker.changed:
            group = broker.group(self._group)
            if not broker.changed.wait_for(
                lambda: not group.unstable(partition), self._committed_timeout_s
            ):
                raise DependencyError(f"a transaction on the offset of {partition} does not end")
            return group.cursors.get(partition)

    def bounds(self, partition: TopicPartition) -> tuple[int, int]:
        """First offset that the log still has, and the end of what is committed in it."""
        with self._broker.changed:
            log = self._broker.log(partition)
            return log.first, log.stable_end

    def seek(self, partition: TopicPartition, offset: int) -> None:
        """Raises ValueError where the partition is not assigned."""
        if partition not in self._owned:
            raise ValueError(f"{partition} is not assigned")
        self._positions[partition] = offset

    def pause(self, partition: TopicPartition) -> None:
        """Deliver nothing of it until `seek`."""
        self._positions.pop(partition, None)

    def commit(self, cursors: Mapping[TopicPartition, Cursor]) -> None:
        """Outside a transaction; ignored while the member is not one of the present generation."""
        with self._broker.changed:
            group = self._broker.group(self._group)
            if self._membership is not None and group.allows(self._membership):
                group.cursors.update(cursors)

    def partitions(self) -> int:
        """How many the topic has now. Raises ConfigurationError where there is no such topic."""
        with self._broker.changed:
            return len(self._broker.logs(self._topic))

    def wake(self) -> None:
        """Cut the present or the next poll short. For any thread."""
        self._woken = True
        with self._broker.changed:
            self._broker.changed.notify_all()

    def close(self) -> None:
        """Leave the group."""
        self._give_up(lost=False)
        with self._broker.changed:
            if self._member is not None:
                self._broker.group(self._group).leave(self._member)
                self._member = None
            self._broker.changed.notify_all()

    def _behind(self) -> bool:
        """Whether the group has moved on and this member has something to do about it."""
        group = self._broker.group(self._group)
        if self._member not in group.members:
            return True
        if group.preparing:
            return not group.members[self._member]
        return self._membership is None or self._membership.generation != group.generation

    def _follow(self) -> None:
        """Give up and take on what the group's present state wants."""
        broker = self._broker
        with broker.changed:
            group = broker.group(self._group)
            lost = self._member is not None and self._member not in group.members
            giving_up = lost or (group.preparing and self._behind())
        if giving_up:
            self._give_up(lost=lost)  # without the lock: the hook may wait for a publisher
        with broker.changed:
            logs = broker.logs(self._topic)
            if len(logs) != len(group.partitions):
                group.partitions = [TopicPartition(self._topic, log.partition) for log in logs]
                group.rebalance()
            if self._member is None or self._member not in group.members:
                self._member = broker.new_member(self._group)
                group.join(self._member)
            elif giving_up:
                group.ready(self._member)
            if not group.preparing and self._behind():
                self._take_on(group.assignment.get(self._member, []), group.generation)
            broker.changed.notify_all()

    def _take_on(self, partitions: Sequence[TopicPartition], generation: int) -> None:
        assert self._member is not None
        self._revoked.update(set(self._owned) - set(self._assigned))
        self._owned = list(partitions)
        self._assigned = list(partitions)
        self._positions.clear()
        self._membership = Membership(self._group, generation, self._member)

    def _give_up(self, *, lost: bool) -> None:
        gone, self._owned = self._owned, []
        self._positions.clear()
        self._revoked.update(set(gone) - set(self._assigned))
        self._assigned = []
        if gone and self._hook is not None:
            self._hook(gone, lost)

    def _records(self) -> dict[TopicPartition, Sequence[Record]]:
        taken: dict[TopicPartition, Sequence[Record]] = {}
        room, budget = self._batch_size, self._batch_bytes
        for partition, position in sorted(self._positions.items()):
            log = self._broker.log(partition)
            if not log.first <= position <= log.end:
                raise Refused(
                    f"{partition} has offsets {log.first} to {log.end}, not {position}: "
                    "`crowdresolve run --rebuild` goes on from what it has"
                )
            records: list[Record] = []
            for record in log.read(position):
                if room <= 0 or budget <= 0:
                    break
                records.append(record)
                room -= 1
                budget -= len(record.value or b"") + len(record.key or b"")
            if records:
                taken[partition] = records
                self._positions[partition] = records[-1].offset + 1
        return taken
