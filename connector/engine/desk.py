"""A project's assignments: the leases that workers hold, and the index of what they may get."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from connector.domain.rows import LeaseRow

from .choosing import Chooser, Facts, Rules, Standing, margin
from .leases import Lease, Pair
from .state import AMBIGUOUS, GOLD, OPEN, Task, Worker

if TYPE_CHECKING:
    from connector.domain.config import ProjectConfig

    from .project import Project
    from .storage import BriefRow, Storage

PAGE = 20_000
"""Tasks that one look-up brings when the index is made."""

STANDINGS = {OPEN: Standing.OPEN, AMBIGUOUS: Standing.AMBIGUOUS, GOLD: Standing.GOLD}


class Desk:
    """What a project keeps once somebody has asked for a task; one that nobody asks has none.

    Attributes:
        held: open leases by pair.
        chooser: the index, None until it is asked for, and again after the configuration changed.
    """

    def __init__(self) -> None:
        self.held: dict[Pair, Lease] = {}
        self.chooser: Chooser | None = None
        self._holders: dict[int, set[int]] = {}
        self._moved: dict[int, Task] = {}
        self._met: set[str] = set()
        self._dirty: dict[Pair, LeaseRow | None] = {}
        """Pairs whose leases changed since the last save, with the row that the store has."""
        self._stored: dict[Pair, LeaseRow] = {}

    # -- leases

    def restore(self, lease: Lease, row: LeaseRow) -> None:
        """Take over a lease as it was stored."""
        self._stored[lease.pair] = row
        self._hold(lease)

    def lend(self, lease: Lease) -> None:
        """A worker gets a task."""
        self._touch(lease.pair)
        self._hold(lease)
        if self.chooser is not None:
            self.chooser.saw(*lease.pair)
            self.chooser.leased(lease.task_id)

    def _hold(self, lease: Lease) -> None:
        self.held[lease.pair] = lease
        self._holders.setdefault(lease.task_id, set()).add(lease.worker_id)

    def give_back(self, lease: Lease) -> None:
        """A lease ends without an answer: the worker may get the task again."""
        self._end(lease)
        if self.chooser is not None:
            self.chooser.unsaw(*lease.pair)

    def answered(self, task_id: int, worker_id: int) -> None:
        """A vote or a skip: the lease ends, if there is one, and the task is not for them again."""
        lease = self.held.get((task_id, worker_id))
        if lease is not None:
            self._end(lease)
        if self.chooser is not None:
            self.chooser.saw(task_id, worker_id)

    def _end(self, lease: Lease) -> None:
        self._touch(lease.pair)
        lease.open = False
        del self.held[lease.pair]
        holders = self._holders[lease.task_id]
        holders.discard(lease.worker_id)
        if not holders:
            del self._holders[lease.task_id]
        if self.chooser is not None:
            self.chooser.leased(lease.task_id, -1)

    def on_task(self, task_id: int) -> list[Lease]:
        """The task's leases, in the order in which they end."""
        return sorted(self.held[task_id, w] for w in self._holders.get(task_id, ()))

    def of_worker(self, worker_id: int) -> list[Lease]:
        """The worker's leases, in the order in which they end."""
        return sorted(lease for lease in self.held.values() if lease.worker_id == worker_id)

    # -- what is to be saved

    def _touch(self, pair: Pair) -> None:
        if pair not in self._dirty:
            self._dirty[pair] = self._stored.pop(pair, None)

    @property
    def changed(self) -> bool:
        """Whether there is anything to save."""
        return bool(self._dirty)

    def collect(self, project_id: int) -> Iterator[tuple[LeaseRow | None, LeaseRow | None]]:
        """Per changed pair: the row that ended and the row that began."""
        for pair, before in self._dirty.items():
            lease = self.held.get(pair)
            after = None
            if lease is not None:
                after = LeaseRow(project_id, *pair, lease.id, lease.expires_at)
                self._stored[pair] = after
            if before != after:
                yield before, after
        self._dirty = {}

    # -- the index

    def changed_task(self, task: Task) -> None:
        """The index reads it when it is asked next, or at the end of the batch."""
        if self.chooser is not None:
            self._moved[task.id] = task

    def catch_up(self, config: ProjectConfig) -> None:
        """Bring the index up to what tasks have become."""
        if self._moved:
            assert self.chooser is not None
            for task in self._moved.values():
                self.chooser.put(task.id, facts_of(task, config))
            self._moved = {}

    def serves(self, worker: str) -> bool:
        """Whether the index is made, and what that worker has seen is in it."""
        return worker in self._met

    def forget_index(self) -> None:
        """The configuration changes: another rule, another index."""
        self.chooser = None
        self._moved = {}
        self._met.clear()

    def ready(self, p: Project, storage: Storage, worker: Worker) -> Chooser:
        """The index, made where there is none, with what the worker has seen.

        Everything that was folded before this batch must have been written.
        """
        if self.chooser is None:
            self.chooser = Chooser(Rules.of(p.config, p.id))
            leases = {task_id: len(holders) for task_id, holders in self._holders.items()}
            self.chooser.fill(_all_facts(p, storage), leases)
        else:
            self.catch_up(p.config)
        if not self.chooser.knows(worker.id):
            seen = p.seen_by(storage, worker)
            seen.update(task_id for task_id, w in self.held if w == worker.id)
            self.chooser.meet(worker.id, seen)
            self._met.add(worker.name)
        return self.chooser


def _all_facts(p: Project, storage: Storage) -> Iterator[tuple[int, Facts]]:
    """Of every task: as it is in memory where it was changed, else as it was stored."""
    dirty, config = p.dirty_tasks, p.config
    after, end = 0, p.task_count
    while p.stored and after < end:
        page = storage.brief_tasks(p.id, after, PAGE)
        if not page:
            break
        after = page[-1].id
        yield from ((row.id, _facts_from(row, config)) for row in page if row.id not in dirty)
    yield from ((task.id, facts_of(task, config)) for task in dirty.values())


def facts_of(task: Task, config: ProjectConfig) -> Facts:
    """What a chooser must know of it."""
    return Facts(
        STANDINGS.get(task.status, Standing.RESOLVED),
        margin(config.kind, task.m, task.mu),
        task.counted,
        task.priority,
        config.max_labels if task.max_labels is None else task.max_labels,
        task.withdrawn,
        task.name,
    )


def _facts_from(row: BriefRow, config: ProjectConfig) -> Facts:
    return Facts(
        STANDINGS.get(row.status, Standing.RESOLVED),
        row.margin,
        row.votes,
        row.priority,
        config.max_labels if row.max_labels is None else row.max_labels,
        bool(row.withdrawn),
        row.name,
    )
