"""The engine's working objects: what `aggregators.streaming` computes on, and what rules need."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import msgspec

from aggregators.streaming import TaskState, VoteState, WorkerState

OPEN = "open"
CONFIDENT = "confident"
CAPPED = "capped"
AMBIGUOUS = "ambiguous"
GOLD = "gold"
ADJUDICATED = "adjudicated"

FAST_SBIC = "fast_sbic"

_encode = msgspec.json.Encoder().encode


class Worker(WorkerState):
    """A worker of one project.

    Attributes:
        id: counts from 1 in order of first appearance.
        resolved: the worker's present votes on resolved tasks.
        agreed: those of them that equal the task's label.
        mark: the last of 1, 2, 5, 10, ... votes that the history has a row for.
        run_p: what the adopted run says of the worker, None where it does not name them.
        assigned: tasks that were ever assigned to the worker.
        updated_at: microseconds, when S, n or blocked last changed.
    """

    __slots__ = (
        "agreed",
        "assigned",
        "block_reason",
        "blocked",
        "id",
        "mark",
        "name",
        "resolved",
        "run_p",
        "stored",
        "updated_at",
    )

    def __init__(self, id: int, name: str) -> None:
        super().__init__()
        self.id = id
        self.name = name
        self.blocked = False
        self.block_reason: str | None = None
        self.resolved = 0
        self.agreed = 0
        self.mark = 0
        self.run_p: float | None = None
        self.assigned = 0
        self.updated_at = 0
        self.stored = False


class Vote(VoteState):
    """A present vote, with what later votes and retractions are compared to.

    Attributes:
        arrival: its number among the project's votes, the order in which weights are summed.
        offset: of the record that brought it.
        own: the p of its own, where `p` is the adopted run's of its worker; else None.
    """

    __slots__ = ("annotation_id", "arrival", "at", "offset", "own", "revision")

    worker: Worker

    def __init__(
        self,
        worker: Worker,
        x: int,
        *,
        arrival: int,
        offset: int,
        revision: int | None,
        at: int | None,
        annotation_id: str | None,
        p: float = 0.0,
    ) -> None:
        self.worker = worker
        self.x = x
        self.p = p
        self.counts = not worker.blocked
        self.own: float | None = None
        self.arrival = arrival
        self.offset = offset
        self.revision = revision
        self.at = at
        self.annotation_id = annotation_id


class Memory:
    """What stays of a pair or an annotation_id beside its present vote.

    Attributes:
        gone: a retraction is remembered; `revision` and `at` are its fields.
        skipped: never assign this task to this worker again.
        voted: the pair has ever voted (it used up budget).
    """

    __slots__ = ("at", "gone", "revision", "skipped", "voted")

    def __init__(
        self,
        *,
        gone: bool = False,
        revision: int | None = None,
        at: int | None = None,
        skipped: bool = False,
        voted: bool = False,
    ) -> None:
        self.gone = gone
        self.revision = revision
        self.at = at
        self.skipped = skipped
        self.voted = voted


class Annotation:
    """An annotation_id: the (task, worker) that it belongs to, by number, and its retraction."""

    __slots__ = ("id", "memory", "task_id", "worker_id")

    def __init__(self, id: str) -> None:
        self.id = id
        self.task_id: int | None = None
        self.worker_id: int | None = None
        self.memory = Memory()


class Task(TaskState):
    """A task of one project.

    Attributes:
        id: counts from 1 in order of first appearance.
        prior: its own prior, scaled to sum 1, or None for the project's.
        run: the reconciliation run that `run_base` comes from, or None.
        run_base: that run's base, in force (`Project.base_of`) while a counting vote is there that
            the run has seen; else `base` is the log prior.
        label: what `task_labels` shows: the resolved label, or the present top, or None.
        q: length K, the stated probabilities; None: as `shown` has them from the database.
        shown: JSON of them by class name, made when it is asked for (`shown_probabilities`).
        counted: distinct workers whose votes count.
        memories: by worker number, only for pairs that have something to remember.
        record: calibration record (z, hit) of a gold task.
    """

    __slots__ = (
        "algorithm",
        "confidence",
        "counted",
        "id",
        "label",
        "max_labels",
        "memories",
        "name",
        "prior",
        "priority",
        "q",
        "resolved_at",
        "run",
        "run_base",
        "shown",
        "status",
        "stored",
        "updated_at",
        "version",
        "withdrawn",
    )

    votes: dict[Hashable, Any]

    def __init__(self, id: int, name: str, base: list[float]) -> None:
        super().__init__(base)
        self.id = id
        self.name = name
        self.priority = 0.0
        self.max_labels: int | None = None
        self.prior: tuple[float, ...] | None = None
        self.run: int | None = None
        self.run_base: list[float] | None = None
        self.withdrawn = False
        self.status = OPEN
        self.label: int | None = None
        self.confidence = 0.0
        self.q: Sequence[float] | None = None
        self.shown: bytes | None = None
        self.counted = 0
        self.version = 0
        self.algorithm = FAST_SBIC
        self.resolved_at: int | None = None
        self.updated_at = 0
        self.memories: dict[int, Memory] = {}
        self.stored = False

    def shown_probabilities(self, classes: Sequence[str]) -> bytes:
        """JSON of the stated probabilities by class name."""
        if self.shown is None:
            q = self.q
            assert q is not None
            if len(q) == 2:
                self.shown = _encode({classes[0]: q[0], classes[1]: q[1]})
            else:
                self.shown = _encode(dict(zip(classes, q, strict=True)))
        return self.shown

    @property
    def resolved(self) -> bool:
        """Whether a label has gone out that still stands."""
        return self.status != OPEN
