"""A task that a worker holds, and when each such lease of a partition ends."""

from __future__ import annotations

from heapq import heappop, heappush

Pair = tuple[int, int]
"""Numbers of task and worker."""


class Lease:
    """A task that a worker holds until they answer, skip, or its time has come.

    Attributes:
        id: what it is called in messages; names the record that it comes from.
        expires_at: microseconds.
        open: it has not ended.

    Leases are ordered by (expires_at, id): the order in which they end.
    """

    __slots__ = ("expires_at", "id", "open", "project", "task", "task_id", "worker", "worker_id")

    def __init__(
        self,
        id: str,
        expires_at: int,
        *,
        project: str,
        task_id: int,
        task: str,
        worker_id: int,
        worker: str,
    ) -> None:
        self.id = id
        self.expires_at = expires_at
        self.project = project
        self.task_id = task_id
        self.task = task
        self.worker_id = worker_id
        self.worker = worker
        self.open = True

    @property
    def pair(self) -> Pair:
        """Numbers of task and worker."""
        return self.task_id, self.worker_id

    def __lt__(self, other: Lease) -> bool:
        return (self.expires_at, self.id) < (other.expires_at, other.id)


class Calendar:
    """The open leases of every project of a partition, by when they end.

    Attributes:
        heap: them, and some that have ended.
    """

    def __init__(self) -> None:
        self.heap: list[tuple[int, str, Lease]] = []

    def add(self, lease: Lease) -> None:
        """A lease began, or was read from the store."""
        heappush(self.heap, (lease.expires_at, lease.id, lease))

    @property
    def next(self) -> int | None:
        """When the next lease ends (microseconds), None where none is open."""
        heap = self.heap
        while heap and not heap[0][2].open:
            heappop(heap)
        return heap[0][0] if heap else None

    def due(self, time: int) -> Lease | None:
        """The next lease that ends by ``time``; the caller ends it before asking again."""
        expires_at = self.next
        if expires_at is None or expires_at > time:
            return None
        return self.heap[0][2]
