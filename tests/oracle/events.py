"""What is read, what is sent, and the checked events between the two."""

from __future__ import annotations

from dataclasses import dataclass

from .config import Config
from .fields import Fields


@dataclass(frozen=True)
class Record:
    """What was read from the input topic."""

    partition: int
    offset: int
    timestamp_ms: int
    value: bytes | None
    key: bytes | None = None
    headers: tuple[tuple[str, bytes | None], ...] = ()


@dataclass(frozen=True)
class Message:
    """What is sent; `value` is parsed JSON, or of a dead letter the original bytes."""

    topic: str
    key: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]
    value: object


@dataclass(frozen=True)
class Stamp:
    """What orders the votes of one worker on one task; `at` in microseconds since 1970."""

    revision: int | None = None
    at: int | None = None

    def filled_from(self, other: Stamp) -> Stamp:
        return Stamp(
            other.revision if self.revision is None else self.revision,
            other.at if self.at is None else self.at,
        )


def compare(left: Stamp, right: Stamp) -> int | None:
    """-1, 0, 1 by `revision` where both have one, else by `at`; None: not comparable."""
    if left.revision is not None and right.revision is not None:
        return (left.revision > right.revision) - (left.revision < right.revision)
    if left.at is not None and right.at is not None:
        return (left.at > right.at) - (left.at < right.at)
    return None


@dataclass(frozen=True)
class Event:
    project: str


@dataclass(frozen=True)
class Submitted(Event):
    task: str
    worker: str
    label: str
    annotation_id: str | None
    stamp: Stamp


@dataclass(frozen=True)
class Skipped(Event):
    task: str
    worker: str
    stamp: Stamp


@dataclass(frozen=True)
class Retracted(Event):
    task: str | None
    worker: str | None
    annotation_id: str | None
    stamp: Stamp


@dataclass(frozen=True)
class Added(Event):
    task: str
    prior: tuple[float, ...] | None
    priority: float | None
    max_labels: int | None


@dataclass(frozen=True)
class Withdrawn(Event):
    task: str


@dataclass(frozen=True)
class GoldSet(Event):
    task: str
    label: str | None


@dataclass(frozen=True)
class Blocked(Event):
    worker: str
    run: str | None = None


@dataclass(frozen=True)
class Unblocked(Event):
    worker: str


@dataclass(frozen=True)
class Available(Event):
    worker: str
    want: int


@dataclass(frozen=True)
class TimePassed(Event):
    """Of no project."""


@dataclass(frozen=True)
class Declared(Event):
    config: Config


# --- what a reconciliation found --------------------------------------------------------------

# True class, given class, expected count; a class by its name, or by its index in `classes`.
Confusion = tuple[tuple[str | int, str | int, float], ...]


@dataclass(frozen=True)
class RunWorker:
    """What a run says of one worker."""

    worker: str
    p: float
    flag: str | None
    flag_reason: str | None
    cluster: int | None
    confusion: Confusion


@dataclass(frozen=True)
class RunEvent(Event):
    run: str


@dataclass(frozen=True)
class Part(RunEvent):
    part: int
    tasks: tuple[tuple[str, tuple[float, ...]], ...]
    """Name and base, an entry per class."""
    workers: tuple[RunWorker, ...]
    clusters: tuple[tuple[int, Confusion], ...]


@dataclass(frozen=True)
class Completed(RunEvent):
    """The end of a run; with `error` of one that failed."""

    upto: int
    parts: int
    algorithm: str | None
    version: str | None
    seed: int | None
    parameters: Fields
    summary: Fields
    classes: tuple[str, ...] | None
    error: str | None

    @property
    def bound(self) -> float | None:
        bound = self.summary.get("bound")
        if isinstance(bound, bool) or not isinstance(bound, int | float):
            return None
        return float(bound)


@dataclass(frozen=True)
class Approved(RunEvent):
    pass


@dataclass(frozen=True)
class RunRejected(RunEvent):
    pass
