"""What the database holds: one named tuple a table, and `Changes`, what one batch writes.

Both stores (SQL and in-memory) take and give exactly these, so that they can be held to the same
tests.  Times are microseconds since 1970; `x` is a class index in the order of the project's
present `classes`; vectors are little-endian float64 bytes, so that doubles come back bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from .records import Outgoing, TopicPartition


class ProgressRow(NamedTuple):
    """How far a partition's log has been folded, and what became of its records."""

    topic: str
    partition: int
    next_offset: int
    time: int
    received: int
    applied: int
    duplicates: int
    stale: int
    dead: int


class ProjectRow(NamedTuple):
    """A project. `tasks`, `workers`, `arrivals`, `pairs`, `record_seq` count what was numbered."""

    id: int
    name: str
    topic: str
    partition: int
    config: str
    tasks: int
    workers: int
    arrivals: int
    pairs: int
    uses: str
    """JSON list: how many votes, gold truths and experts' verdicts name each class."""
    b: float
    record_seq: int
    gold_records: int
    gold_resolved: int
    gold_right: int
    gold_lower: float | None
    gold_upper: float | None
    gold_stated: float | None
    declared_at: int
    run: int | None
    """`RunRow.id` of the adopted run."""
    upto: int | None
    """Votes of records before this offset weigh with that run's p of their worker."""
    algorithm: str | None
    classes_since: int
    """Offset of the last declaration that changed them; -1: none has."""


class TaskRow(NamedTuple):
    """A task; `id` is its place in order of first appearance in the project, from 1."""

    project_id: int
    id: int
    name: str
    priority: float
    max_labels: int | None
    prior: bytes | None
    base: bytes | None
    run: int | None
    withdrawn: bool
    truth: int | None
    status: str
    label: int | None
    confidence: float
    probabilities: str
    votes: int
    version: int
    algorithm: str
    resolved_at: int | None
    updated_at: int
    record_z: float | None
    record_hit: bool | None
    record_seq: int | None
    margin: float
    """How decided it is (`connector.engine.choosing.margin`), so that an index of open tasks can
    be made without every vote."""


class WorkerRow(NamedTuple):
    """A worker; `id` counts from 1 in order of first appearance in the project."""

    project_id: int
    id: int
    name: str
    S: float
    n: int
    accuracy: float
    lower: float
    upper: float
    blocked: bool
    block_reason: str | None
    resolved_votes: int
    agreed: int
    mark: int
    """The last of 1, 2, 5, 10, ... votes that the history has a row for."""
    updated_at: int
    run_p: float | None
    """What the adopted run says of the worker."""
    assigned: int
    """Tasks that were ever assigned to the worker."""


class PairRow(NamedTuple):
    """What is known of one worker on one task.

    The present vote (`x` None: there is none), and what is remembered of a retraction or skip.
    """

    project_id: int
    task_id: int
    worker_id: int
    x: int | None
    p: float | None
    arrival: int | None
    offset: int | None
    revision: int | None
    at: int | None
    annotation_id: str | None
    voted: bool
    skipped: bool
    gone: bool
    gone_revision: int | None
    gone_at: int | None


class AnnotationRow(NamedTuple):
    """An annotation_id: whose it is (None: only a retraction named it), and its retraction."""

    project_id: int
    annotation_id: str
    task_id: int | None
    worker_id: int | None
    gone: bool
    gone_revision: int | None
    gone_at: int | None


class HistoryRow(NamedTuple):
    """A worker's accuracy when it reached so many votes."""

    project_id: int
    worker_id: int
    votes: int
    at: int
    accuracy: float
    lower: float
    upper: float


class PartRow(NamedTuple):
    """A part of a run that is not adopted yet, as it came."""

    project_id: int
    run: str
    part: int
    at: int
    body: bytes


class RunRow(NamedTuple):
    """A run that has ended; `id` is the offset of its `reconciliation.completed`."""

    project_id: int
    id: int
    run: str
    upto: int
    classes: str | None
    """JSON list, where it named them."""
    algorithm: str | None
    version: str | None
    seed: int | None
    parameters: str
    bound: float | None
    parts: int
    status: str
    """adopted, held, rejected, refused or failed."""
    reason: str | None
    summary: str
    tasks: int | None
    workers: int | None
    votes: int | None
    changed: int | None
    """Resolved tasks whose label the run changes, or would."""
    changes: str
    """JSON list: the most certain of those changes."""
    durations: str
    started_at: int | None
    finished_at: int | None
    adopted_at: int | None


class ConfusionRow(NamedTuple):
    """How often a worker is expected to have given an answer where another one is true."""

    project_id: int
    worker_id: int
    true_class: str
    given_class: str
    expected_count: float


class ClusterRow(NamedTuple):
    """The same of a cluster of workers."""

    project_id: int
    cluster: int
    true_class: str
    given_class: str
    expected_count: float


class FlagRow(NamedTuple):
    """What the adopted run says of a worker beside the accuracy."""

    project_id: int
    worker_id: int
    cluster: int | None
    flag: str | None
    flag_reason: str | None


class LeaseRow(NamedTuple):
    """A task that a worker holds; the row goes when the lease ends."""

    project_id: int
    task_id: int
    worker_id: int
    lease: str
    expires_at: int


class DeadRow(NamedTuple):
    """A dead letter's origin and reason; its bytes are on the dead-letter topic."""

    topic: str
    partition: int
    offset: int
    at: int
    code: str
    message: str
    size: int
    """Bytes of the record's value; -1: a tombstone."""


@dataclass
class Changes:
    """All that a stretch of one partition's log changed, handed from apply to store to publish.

    Lists named `new_*` are rows that the store does not have yet; the others replace rows that
    it has (`projects`, `annotations` and `runs` are small: either).  What `dropped` and `found`
    name goes before anything comes.
    """

    source: TopicPartition
    progress: ProgressRow
    projects: list[ProjectRow] = field(default_factory=list)
    new_tasks: list[TaskRow] = field(default_factory=list)
    tasks: list[TaskRow] = field(default_factory=list)
    new_workers: list[WorkerRow] = field(default_factory=list)
    workers: list[WorkerRow] = field(default_factory=list)
    new_pairs: list[PairRow] = field(default_factory=list)
    pairs: list[PairRow] = field(default_factory=list)
    annotations: list[AnnotationRow] = field(default_factory=list)
    history: list[HistoryRow] = field(default_factory=list)
    ended_leases: list[LeaseRow] = field(default_factory=list)
    """Go before `new_leases` come: a pair may be in both."""
    new_leases: list[LeaseRow] = field(default_factory=list)
    dead: list[DeadRow] = field(default_factory=list)
    runs: list[RunRow] = field(default_factory=list)
    new_parts: list[PartRow] = field(default_factory=list)
    dropped: list[tuple[int, str, int]] = field(default_factory=list)
    """Project, run, time: parts that came until then are no longer needed."""
    found: list[int] = field(default_factory=list)
    """Projects whose confusions, clusters and flags are those that follow."""
    confusions: list[ConfusionRow] = field(default_factory=list)
    clusters: list[ClusterRow] = field(default_factory=list)
    flags: list[FlagRow] = field(default_factory=list)
    outgoing: list[Outgoing] = field(default_factory=list)
