"""A consumer group in memory: who owns which partition, and how far publishing has come."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from connector.domain.records import Cursor, TopicPartition

from .log import State, Transaction


class Membership(NamedTuple):
    """What a publisher shows to prove that it still speaks for a member."""

    group: str
    generation: int
    member: str


@dataclass
class Group:
    """Eager rebalancing: a new assignment holds once every member has given up the old one."""

    name: str
    partitions: list[TopicPartition] = field(default_factory=list)
    """Of the topic that the members read."""
    generation: int = 0
    members: dict[str, bool] = field(default_factory=dict)
    """Member -> whether it is ready for the next assignment."""
    preparing: bool = False
    assignment: dict[str, list[TopicPartition]] = field(default_factory=dict)
    cursors: dict[TopicPartition, Cursor] = field(default_factory=dict)
    pending: list[Transaction] = field(default_factory=list)

    def join(self, member: str) -> None:
        """A member comes; the others have to give up what they have first."""
        self.members[member] = True
        self.rebalance(but=member)

    def leave(self, member: str) -> None:
        """A member goes, or is taken for dead."""
        if self.members.pop(member, None) is not None:
            self.rebalance()

    def ready(self, member: str) -> None:
        """The member has given up everything."""
        self.members[member] = True
        self._complete()

    def allows(self, membership: Membership) -> bool:
        """Whether it is of the present generation; while one is prepared, the last one's is."""
        return membership.generation == self.generation and membership.member in self.members

    def unstable(self, partition: TopicPartition) -> bool:
        """Whether an unfinished transaction holds a cursor of the partition."""
        self.pending = [one for one in self.pending if one.state is State.OPEN]
        return any((self.name, partition) in one.cursors for one in self.pending)

    def rebalance(self, but: str | None = None) -> None:
        """Begin a new generation."""
        self.preparing = True
        for member in self.members:
            # One that owns nothing has nothing to give up.
            self.members[member] = member == but or not self.assignment.get(member)
        self._complete()

    def _complete(self) -> None:
        if not self.preparing or not all(self.members.values()):
            return
        self.preparing = False
        self.generation += 1
        names = sorted(self.members)
        share, more = divmod(len(self.partitions), len(names) or 1)
        self.assignment = {}
        start = 0
        for index, name in enumerate(names):
            end = start + share + (index < more)
            self.assignment[name] = self.partitions[start:end]
            start = end
