"""An order of tasks in which the first that a worker has not seen is found without a walk.

Of a worker's seen tasks those in the order are a sorted list of their own, `own`.  The number of
unseen tasks before own[i] is its place in the order less i, and that never falls as i grows: so
the first gap is found by bisection, however long the run of seen tasks before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from itertools import islice

from sortedcontainers import SortedList

ID_BITS = 40
HASH_BITS = 64
RANK_SHIFT = ID_BITS + HASH_BITS
_ID = (1 << ID_BITS) - 1
_HASH = (1 << HASH_BITS) - 1

LOOK = 8
"""Tasks that are tried one by one before a worker's own list is made."""


def key_of(rank: int, hash_: int, task: int) -> int:
    """Orders by rank, then hash; carries the task along."""
    return (rank << HASH_BITS | hash_) << ID_BITS | task


def start_of(rank: int, hash_: int = 0) -> int:
    """Not above any key of that rank whose hash is not below ``hash_``."""
    return (rank << HASH_BITS | hash_) << ID_BITS


def task_in(key: int) -> int:
    """The task's number."""
    return key & _ID


def hash_in(key: int) -> int:
    """The task's hash."""
    return key >> ID_BITS & _HASH


def rank_in(key: int) -> int:
    """The rank."""
    return key >> RANK_SHIFT


class Ranking:
    """Keys of tasks in ascending order, less those that a worker has seen.

    With n tasks: `put` takes O(log n), and as much again for each watching worker who has seen
    the task; `first` O(log n log d) where d seen tasks lie before the answer.  Making a worker's
    list takes O(log n) for each task seen, once.

    Attributes:
        steps: comparisons of a task with what a worker has seen, for who doubts the above.
    """

    __slots__ = ("_key", "_keys", "_own", "steps")

    def __init__(self) -> None:
        self._keys: SortedList[int] = SortedList()
        self._key: list[int] = []
        """By number of the task, -1 for one that is not in the order."""
        self._own: dict[int, SortedList[int]] = {}
        self.steps = 0

    def __len__(self) -> int:
        return len(self._keys)

    def fill(self, keys: Sequence[int], tasks: int) -> None:
        """Begin with many keys at once, of tasks numbered up to ``tasks``."""
        self._keys = SortedList(keys)
        self._key = [-1] * (tasks + 1) if keys else []
        for key in keys:
            self._key[key & _ID] = key

    def put(self, task: int, key: int, watchers: Iterable[int]) -> None:
        """Move the task to its key, or (-1) out of the order.

        Args:
            task: its number.
            key: from `key_of`.
            watchers: workers with a list of their own who have seen the task.
        """
        keys = self._key
        if task >= len(keys):
            if key < 0:
                return
            keys.extend([-1] * (task + 1 - len(keys)))
        old = keys[task]
        if key == old:
            return
        keys[task] = key
        if old >= 0:
            self._keys.remove(old)
        if key >= 0:
            self._keys.add(key)
        for worker in watchers:
            own = self._own.get(worker)
            if own is not None:
                if old >= 0:
                    own.remove(old)
                if key >= 0:
                    own.add(key)

    def saw(self, worker: int, task: int) -> None:
        """A worker who may have a list of their own has seen a task more."""
        own = self._own.get(worker)
        if own is not None and task < len(self._key) and self._key[task] >= 0:
            own.add(self._key[task])

    def unsaw(self, worker: int, task: int) -> None:
        """The reverse of `saw`."""
        own = self._own.get(worker)
        if own is not None and task < len(self._key) and self._key[task] >= 0:
            own.remove(self._key[task])

    def near(self, seen: Set[int], start: int) -> int | None:
        """The first key from ``start`` on that is not seen, -1 if there is none.

        None: the first few are seen all; ask `first`.
        """
        tried = 0
        for key in islice(self._keys.irange(start), LOOK):
            tried += 1
            if key & _ID not in seen:
                self.steps += tried
                return key
        self.steps += tried
        return None if tried == LOOK else -1

    def first(self, worker: int, seen: Set[int], start: int) -> int:
        """The first key from ``start`` on whose task the worker has not seen, or -1."""
        keys = self._keys
        own = self._own.get(worker)
        if own is None:
            own = self._own[worker] = self._made(seen)
        r, a = keys.bisect_left(start), own.bisect_left(start)
        # own[a + i] and keys[r + i] are the same task for every i below the answer.
        low, high, most = 0, LOOK, len(own) - a
        while high < most and keys.bisect_left(own[a + high]) - r == high:
            low, high = high + 1, 2 * high
            self.steps += 1
        high = min(high, most)
        while low < high:
            middle = (low + high) // 2
            self.steps += 1
            if keys.bisect_left(own[a + middle]) - r == middle:
                low = middle + 1
            else:
                high = middle
        return keys[r + low] if r + low < len(keys) else -1

    def _made(self, seen: Set[int]) -> SortedList[int]:
        key, end = self._key, len(self._key)
        return SortedList(key[task] for task in seen if task < end and key[task] >= 0)
