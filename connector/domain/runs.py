"""The events of a reconciliation: what a run found, in parts; its end; what a person decided.

A run's parts and its `reconciliation.completed` travel in one Kafka transaction.  The consumer
keeps the parts and adopts the run at its end (`connector.engine.adopt`).
"""

from __future__ import annotations

import json
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from .ids import Id
from .instants import Instant

Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Offset = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Number = Annotated[int, Meta(ge=0, le=2**31 - 1)]
LogWeight = Annotated[float, Meta(ge=-1e9, le=1e9)]
"""Far beyond what any votes add up to, and near enough for no sum to overflow."""
Method = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_.-]{1,100}(?!\n)$")]
Probability = Annotated[float, Meta(ge=0, le=1)]
ClassRef = Annotated[str, Meta(min_length=1, max_length=512)] | Annotated[int, Meta(ge=0, le=999)]
"""A class by its name (a string) or by its place in `classes` from 0 (an integer)."""
Cell = tuple[ClassRef, ClassRef, Annotated[float, Meta(ge=0, le=1e15)]]
"""[true, given, expected count]; cells that are left out are 0."""
Confusion = Annotated[list[Cell], Meta(max_length=2000)]


class _Event(msgspec.Struct, tag_field="type", kw_only=True):
    project: Id
    run: Id
    at: Instant | UnsetType = UNSET


class RunTask(msgspec.Struct):
    """The base of a task's log-weights, one number a class in the order of `classes`."""

    task: Id
    base: Annotated[list[LogWeight], Meta(min_length=1)]


class RunWorker(msgspec.Struct):
    """What the run says of a worker; `p` weighs the votes from before its snapshot."""

    worker: Id
    p: Probability
    flag: str | None = None
    flag_reason: str | None = None
    confusion: Confusion = []
    cluster: Number | None = None


class RunCluster(msgspec.Struct):
    """A cluster of workers, and how its members answer."""

    cluster: Number
    confusion: Confusion


class ReconciliationPart(_Event, tag="reconciliation.part", kw_only=True):
    """A part of what a run found: of its tasks, of its workers, or of its clusters."""

    part: Number
    tasks: list[RunTask] | UnsetType = UNSET
    workers: list[RunWorker] | UnsetType = UNSET
    clusters: list[RunCluster] | UnsetType = UNSET

    def __post_init__(self) -> None:
        if sum(v is not UNSET for v in (self.tasks, self.workers, self.clusters)) != 1:
            raise ValueError("a part holds one of `tasks`, `workers`, `clusters`")


class ReconciliationCompleted(_Event, tag="reconciliation.completed", kw_only=True):
    """The end of a run: it is adopted, held or refused; with `error` it failed.

    `upto` is the partition's offset up to which the run has read. So many `parts` of different
    numbers must have come. `summary` is shown as it is; of it `tasks`, `workers`, `votes`
    (integers), `bound` (a number), `started_at`, `finished_at` (RFC 3339) and `durations` (an
    object) fill columns of their own where they are there.
    """

    upto: Offset
    parts: Number
    algorithm: Method | UnsetType = UNSET
    version: str | Int64 | None = None
    seed: Int64 | None = None
    parameters: dict[str, Any] = {}
    summary: dict[str, Any] = {}
    classes: list[Id] | UnsetType = UNSET
    """Those that the run was computed for, in order; where it does not say so, those at `upto`."""
    error: str | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.algorithm is UNSET and self.error is UNSET:
            raise ValueError("a run that did not fail needs `algorithm`")
        for fields in (self.parameters, self.summary):
            as_json(fields)


class ReconciliationApproved(_Event, tag="reconciliation.approved", kw_only=True):
    """A person adopts a run that is held."""


class ReconciliationRejected(_Event, tag="reconciliation.rejected", kw_only=True):
    """A person drops a run that is held."""


def as_json(fields: dict[str, Any] | list[Any]) -> str:
    """Compact JSON of an object or a list.

    Raises:
        ValueError: a number in it is not finite.
    """
    return json.dumps(fields, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def finite(value: object) -> float | None:
    """A number of a summary, or None where it is none."""
    if not isinstance(value, int | float) or isinstance(value, bool) or abs(value) > 1e300:
        return None
    return float(value)
