"""The rows of a database as dictionaries, and how one transaction's changes lie on top of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from connector.domain.records import TopicPartition
from connector.domain.rows import (
    AnnotationRow,
    ClusterRow,
    ConfusionRow,
    DeadRow,
    FlagRow,
    HistoryRow,
    LeaseRow,
    PairRow,
    PartRow,
    ProgressRow,
    ProjectRow,
    RunRow,
    TaskRow,
    WorkerRow,
)

# (project, number or name)
Numbered = tuple[int, int]
Named = tuple[int, str]

_Key = TypeVar("_Key")
_Row = TypeVar("_Row")


class Tables:
    """Every table by its key, and the look-ups that a database has indexes for.

    Both what is committed and what one transaction has changed are of this kind; `absorb` lays
    the second on the first.
    """

    def __init__(self) -> None:
        self.progress: dict[TopicPartition, ProgressRow] = {}
        self.projects: dict[str, ProjectRow] = {}
        self.tasks: dict[Numbered, TaskRow] = {}
        self.task_ids: dict[Named, int] = {}
        self.workers: dict[Numbered, WorkerRow] = {}
        self.worker_ids: dict[Named, int] = {}
        self.pairs: dict[Numbered, dict[int, PairRow]] = {}
        """Of a task, by worker."""
        self.present: dict[Numbered, dict[int, bool]] = {}
        """Of a worker, by task: whether there is a present vote."""
        self.seen: dict[Numbered, dict[int, bool]] = {}
        """Of a worker, by task: whether they ever voted on it or have skipped it."""
        self.recorded: dict[int, dict[int, bool]] = {}
        """Of a project, the tasks that have or had a calibration record."""
        self.annotations: dict[Named, AnnotationRow] = {}
        self.history: dict[tuple[int, int, int], HistoryRow] = {}
        self.leases: dict[tuple[int, int, int], LeaseRow | None] = {}
        """None: it has ended."""
        self.dead: dict[tuple[str, int, int], DeadRow] = {}
        self.runs: dict[Named, RunRow] = {}
        self.parts: dict[Named, dict[int, PartRow]] = {}
        """Of a run; empty where they were dropped."""
        self.confusions: dict[int, list[ConfusionRow]] = {}
        """Of a project, as are the next two."""
        self.clusters: dict[int, list[ClusterRow]] = {}
        self.flags: dict[int, list[FlagRow]] = {}

    def put_task(self, row: TaskRow) -> None:
        """Keep it, whether new or changed."""
        self.tasks[row.project_id, row.id] = row
        self.task_ids[row.project_id, row.name] = row.id
        if row.record_seq is not None:
            self.recorded.setdefault(row.project_id, {})[row.id] = True

    def put_worker(self, row: WorkerRow) -> None:
        """Keep it, whether new or changed."""
        self.workers[row.project_id, row.id] = row
        self.worker_ids[row.project_id, row.name] = row.id

    def put_pair(self, row: PairRow) -> None:
        """Keep it, whether new or changed."""
        self.pairs.setdefault((row.project_id, row.task_id), {})[row.worker_id] = row
        of_worker = self.present.setdefault((row.project_id, row.worker_id), {})
        of_worker[row.task_id] = row.x is not None
        seen = self.seen.setdefault((row.project_id, row.worker_id), {})
        seen[row.task_id] = row.voted or row.skipped

    def absorb(self, changed: Tables) -> None:
        """Take over what a transaction has changed."""
        for name in vars(self):
            mine, theirs = getattr(self, name), getattr(changed, name)
            if name in _NESTED:
                for key, rows in theirs.items():
                    mine.setdefault(key, {}).update(rows)
            else:
                mine.update(theirs)
        for key, lease in changed.leases.items():
            if lease is None:
                del self.leases[key]


_NESTED = frozenset({"pairs", "present", "seen", "recorded"})


def found(
    keys: Iterable[_Key], changed: Mapping[_Key, _Row], kept: Mapping[_Key, _Row]
) -> list[_Row]:
    """The rows of those keys that exist, as the transaction sees them."""
    rows = []
    for key in keys:
        row = changed.get(key)
        if row is None:
            row = kept.get(key)
        if row is not None:
            rows.append(row)
    return rows


def merged(
    key: Any, changed: Mapping[Any, dict[Any, _Row]], kept: Mapping[Any, dict[Any, _Row]]
) -> dict[Any, _Row]:
    """The nested rows of a key, as the transaction sees them. Not to be changed."""
    above, below = changed.get(key), kept.get(key)
    if above is None:
        return below or {}
    return above if below is None else {**below, **above}
