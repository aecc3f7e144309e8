"""The events that arrive on the `annotations` topic, one class a kind.

Adding a kind is a matter of this file (its class, and its place in `Event`) and of one handler in
`connector.engine.handlers`.  `connector.domain.decode` makes them from bytes.
"""

from __future__ import annotations

from math import isfinite
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from .config import Declaration, Positive, ProjectConfig
from .ids import Id
from .instants import Instant
from .runs import ReconciliationApproved as ReconciliationApproved
from .runs import ReconciliationCompleted as ReconciliationCompleted
from .runs import ReconciliationPart as ReconciliationPart
from .runs import ReconciliationRejected as ReconciliationRejected

Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Weight = Annotated[float, Meta(gt=0)]


class _Event(msgspec.Struct, tag_field="type", kw_only=True, gc=False):
    project: Id
    at: Instant | UnsetType = UNSET


class AnnotationSubmitted(_Event, tag="annotation.submitted", kw_only=True, gc=False):
    """A vote; from the same worker again: a replacement, a duplicate or stale."""

    task: Id
    worker: Id
    label: Id
    annotation_id: Id | UnsetType = UNSET
    revision: Int64 | UnsetType = UNSET


class AnnotationSkipped(_Event, tag="annotation.skipped", kw_only=True, gc=False):
    """The worker abstains: no vote, and never again this task for this worker."""

    task: Id
    worker: Id
    reason: str | UnsetType = UNSET
    revision: Int64 | UnsetType = UNSET


class AnnotationRetracted(_Event, tag="annotation.retracted", kw_only=True, gc=False):
    """The vote is taken out, by (task, worker) or by annotation_id."""

    task: Id | UnsetType = UNSET
    worker: Id | UnsetType = UNSET
    annotation_id: Id | UnsetType = UNSET
    revision: Int64 | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.annotation_id is UNSET and (self.task is UNSET or self.worker is UNSET):
            raise ValueError("a retraction needs `task` and `worker`, or `annotation_id`")


class TaskAdded(_Event, tag="task.added", kw_only=True, gc=False):
    """Makes a task known before its first label, or changes the fields that it states."""

    task: Id
    prior: list[Weight] | UnsetType = UNSET
    priority: float | UnsetType = UNSET
    max_labels: Positive | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.prior is not UNSET and not all(map(isfinite, self.prior)):
            raise ValueError("`prior` must be finite numbers")
        if self.priority is not UNSET and not isfinite(self.priority):
            raise ValueError("`priority` must be a finite number")


class TaskWithdrawn(_Event, tag="task.withdrawn", kw_only=True, gc=False):
    """No more assignments of this task."""

    task: Id


class TaskGold(_Event, tag="task.gold", kw_only=True, gc=False):
    """The truth is known, or (label null) no longer known."""

    task: Id
    label: Id | None


class WorkerAvailable(_Event, tag="worker.available", kw_only=True, gc=False):
    """The worker asks for up to `want` tasks."""

    worker: Id
    want: Positive = 1


class WorkerBlocked(_Event, tag="worker.blocked", kw_only=True, gc=False):
    """The worker's votes stop weighing."""

    worker: Id
    reason: str | UnsetType = UNSET
    run: Id | UnsetType = UNSET


class WorkerUnblocked(_Event, tag="worker.unblocked", kw_only=True, gc=False):
    """The worker's votes weigh again as they did."""

    worker: Id
    reason: str | UnsetType = UNSET


class TimePassed(msgspec.Struct, tag_field="type", tag="time.passed", kw_only=True, gc=False):
    """Nothing but a time: lets leases end on a partition where nothing else arrives."""

    at: Instant | UnsetType = UNSET


class ProjectDeclared(
    Declaration, tag_field="type", tag="project.declared", frozen=True, kw_only=True
):
    """The whole configuration of a project, as written; `Declared` is what the engine gets."""

    project: Id
    at: Instant | UnsetType = UNSET


class Declared(msgspec.Struct):
    """A declaration with every default filled in and checked."""

    project: str
    config: ProjectConfig


Wire = (
    AnnotationSubmitted
    | AnnotationSkipped
    | AnnotationRetracted
    | TaskAdded
    | TaskWithdrawn
    | TaskGold
    | WorkerAvailable
    | WorkerBlocked
    | WorkerUnblocked
    | TimePassed
    | ProjectDeclared
    | ReconciliationPart
    | ReconciliationCompleted
    | ReconciliationApproved
    | ReconciliationRejected
)
"""What the topic may hold."""

Event = (
    AnnotationSubmitted
    | AnnotationSkipped
    | AnnotationRetracted
    | TaskAdded
    | TaskWithdrawn
    | TaskGold
    | WorkerAvailable
    | WorkerBlocked
    | WorkerUnblocked
    | TimePassed
    | Declared
    | ReconciliationPart
    | ReconciliationCompleted
    | ReconciliationApproved
    | ReconciliationRejected
)
"""What the engine applies."""
