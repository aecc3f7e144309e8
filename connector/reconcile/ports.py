"""What the job needs of a database and of a log; `connector.adapters` has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from connector.domain.records import TopicPartition

from .changes import Mark
from .snapshot import Said, Snapshot


class Standing(NamedTuple):
    """A project, and what is known of its last run.

    Attributes:
        project: its name.
        partition: where its log is.
        algorithm: of its configuration.
        next_offset: what the consumer expects next of the partition.
        mark: the project's votes as they stand.
        leased: another job is at work on it.
        run: the last run that was, or was about to be, sent.
        run_mark: the votes as that run saw them.
        completed: offset of that run's last record; None: whether it was sent is not known.
    """

    project: str
    partition: TopicPartition
    algorithm: str
    next_offset: int
    mark: Mark
    leased: bool
    run: str | None
    run_mark: Mark | None
    completed: int | None

    @property
    def awaited(self) -> bool:
        """The last run is in the log, and the consumer has not come to its end."""
        return self.completed is not None and self.next_offset <= self.completed

    @property
    def in_doubt(self) -> bool:
        """A job died, or lost the broker, while it sent."""
        return self.run is not None and self.completed is None


class Outcome(NamedTuple):
    """What the consumer has made of a run."""

    status: str
    reason: str | None


class Reader(Protocol):
    """What the consumer keeps, to be read. Raises DependencyError."""

    def standings(self, project: str | None = None) -> Sequence[Standing]:
        """Every project, or the one, by name."""
        ...

    def snapshot(self, project: str, said: Said | None = None) -> Snapshot:
        """One consistent picture of the project's counting votes.

        Args:
            project: its name; it exists.
            said: told how many votes are read.
        """
        ...

    def next_offset(self, partition: TopicPartition) -> int:
        """What the consumer expects next."""
        ...

    def outcome(self, project: str, run: str) -> Outcome | None:
        """What became of a run; None: the consumer has not met its end."""
        ...


class Leases(Protocol):
    """One job at a time on a project, by the database's clock.

    Every call is a transaction of its own, and may raise DependencyError.
    """

    def take(self, project: str, holder: str, seconds: float) -> bool:
        """Take the lease, if nobody has it or its holder has let it end."""
        ...

    def renew(self, project: str, holder: str, seconds: float) -> bool:
        """Keep it for so long from now; False: another has it."""
        ...

    def note_run(
        self, project: str, holder: str, partition: TopicPartition, run: str, mark: Mark
    ) -> bool:
        """Before a run is sent; False: another has the lease."""
        ...

    def note_completed(self, project: str, holder: str, offset: int) -> bool:
        """After it was sent: the offset of its last record."""
        ...

    def forget_run(self, project: str, holder: str) -> bool:
        """The run was never sent: the next one is due as if it had not been."""
        ...

    def release(self, project: str, holder: str) -> None:
        """Give the lease back, if it is still ours."""
        ...


class RunLog(Protocol):
    """The annotations topic, for one project's runs at a time."""

    def open(self) -> None:
        """Connect; whatever a former job of the project was sending ends here.

        Raises:
            DependencyError: no broker answers.
            ConfigurationError: a setting is wrong, access is denied, or there is no topic.
        """
        ...

    def send(self, partition: TopicPartition, key: bytes, values: Sequence[bytes]) -> int:
        """Send all to the partition in one transaction; the last one's offset.

        Raises:
            Fenced: another job has taken the project over; nothing was sent.
            DependencyError: the outcome is unknown.
        """
        ...

    def find(self, partition: TopicPartition, start: int, needle: bytes) -> int | None:
        """The offset of the last record from ``start`` on whose value holds the needle."""
        ...

    def close(self) -> None:
        """Let go within a few seconds; never raises."""
        ...
