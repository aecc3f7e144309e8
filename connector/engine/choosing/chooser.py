"""The index of a project's tasks, and what it gives a worker who asks."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from .ranking import Ranking, hash_in, key_of, rank_in, start_of, task_in
from .rule import Facts, Rules, Standing

NO_OPEN_TASK = "no_open_task"
ALL_SEEN = "all_seen"

GRAIN = 1e10
"""Scores are ordered in steps of 1e-10, so that those within 1e-9 are at most eleven ranks."""
WIDTH = 10
_HALF = 2**63
_64 = 2**64 - 1


class Choice(NamedTuple):
    """A task for a worker, and the score that may be told: that of the ordinary choice."""

    task: int
    score: float


class Chooser:
    """Open tasks by score, gold, and decided ones for probes; per worker, what they have seen.

    Args:
        rules: see `Rules`.

    Numbers of tasks and workers count from 1 in order of first appearance.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self._facts: list[Facts | None] = [None]
        self._leases: dict[int, int] = {}
        self._seen: dict[int, set[int]] = {}
        self._watching: set[int] = set()
        """Workers for whom some ranking keeps a list."""
        self._watchers: dict[int, list[int]] = {}
        """Per task, those of them who have seen it."""
        # By tier: 1 for open tasks that are for skilled workers alone.
        self._open = (Ranking(), Ranking())
        self._decided = (Ranking(), Ranking())
        self._gold = Ranking()
        self._ambiguous = Ranking()
        self._all = (*self._open, *self._decided, self._gold, self._ambiguous)

    # -- what there is

    def fill(self, facts: Iterable[tuple[int, Facts]], leases: Mapping[int, int]) -> None:
        """Take in many tasks at once, before anything else.

        Args:
            facts: by number, each once.
            leases: open ones per task.
        """
        self._leases = dict(leases)
        keys: list[list[int]] = [[] for _ in self._all]
        last = 0
        given = sorted(facts, key=_number)
        if given:
            last = given[-1][0]
        self._facts = [None] * (last + 1)
        for task, of_task in given:
            self._facts[task] = of_task
            for found, key in zip(keys, self._keys(task), strict=True):
                if key >= 0:
                    found.append(key)
        for ranking, found in zip(self._all, keys, strict=True):
            ranking.fill(found, last)

    def put(self, task: int, facts: Facts) -> None:
        """A task is new, or not what it was."""
        missing = task + 1 - len(self._facts)
        if missing > 0:
            self._facts.extend([None] * missing)
        self._facts[task] = facts
        self._place(task)

    def facts(self, task: int) -> Facts:
        """As they were put."""
        found = self._facts[task]
        assert found is not None
        return found

    def knows(self, worker: int) -> bool:
        """Whether `meet` was called."""
        return worker in self._seen

    def meet(self, worker: int, seen: Iterable[int]) -> None:
        """Before a worker's first choice: tasks that they answered, skipped or hold."""
        self._seen[worker] = set(seen)

    def saw(self, task: int, worker: int) -> None:
        """The worker answered, skipped or holds the task (also if that was known)."""
        seen = self._seen.get(worker)
        if seen is None or task in seen:
            return
        seen.add(task)
        if worker in self._watching:
            self._watchers.setdefault(task, []).append(worker)
            for ranking in self._all:
                ranking.saw(worker, task)

    def unsaw(self, task: int, worker: int) -> None:
        """The worker holds the task no more, and neither answered nor skipped it."""
        seen = self._seen.get(worker)
        if seen is None or task not in seen:
            return
        seen.remove(task)
        if worker in self._watching:
            self._watchers[task].remove(worker)
            for ranking in self._all:
                ranking.unsaw(worker, task)

    def leased(self, task: int, by: int = 1) -> None:
        """The task has a lease more, or (-1) less."""
        leases = self._leases.get(task, 0) + by
        if leases:
            self._leases[task] = leases
        else:
            del self._leases[task]
        self._place(task)

    # -- the choice

    def choose(
        self, worker: int, k: int, *, skilled: bool = True, expert: bool = False
    ) -> Choice | str:
        """The task for a worker's ``k``-th assignment (from 1).

        What comes of it is the caller's: `saw` and `leased`.

        Args:
            worker: one that `meet` was called for.
            k: counts every assignment that the worker ever got in the project.
            skilled: may have open tasks with `skilled_after` votes.
            expert: gets ambiguous tasks before all others.

        Returns:
            The choice, or why there is none: `NO_OPEN_TASK` where not even a worker of the same
            kind who has seen nothing would get one, else `ALL_SEEN`.
        """
        rules = self.rules
        tiers = 2 if skilled else 1
        pools: Sequence[Ranking] = self._open[:tiers]
        if expert and (task := self._lowest((self._ambiguous,), worker)) is not None:
            return Choice(task, self._score(task))
        ordinary = self._lowest(pools, worker)
        if ordinary is None:
            some = any(pools) or (expert and len(self._ambiguous) > 0)
            return ALL_SEEN if some else NO_OPEN_TASK
        score = self._score(ordinary)
        probe = rules.is_probe(k)
        if probe or rules.is_gold(worker, k):
            other = self._lowest((self._gold,), worker)
            if other is None and probe:
                other = self._lowest(self._decided[:tiers], worker)
            if other is not None:
                return Choice(other, score)
        return Choice(ordinary, score)

    def _score(self, task: int) -> float:
        return self.rules.score(self.facts(task), self._leases.get(task, 0))

    def _lowest(self, pools: Sequence[Ranking], worker: int) -> int | None:
        """The unseen task of the lowest rank, equals in the worker's own order."""
        seen = self._seen[worker]
        firsts = [(pool, self._first(pool, worker, seen, 0)) for pool in pools if len(pool)]
        lowest = min((rank_in(key) for _, key in firsts if key >= 0), default=-1)
        if lowest < 0:
            return None
        begin = self.rules.worker_hash(worker)
        best, nearest = 0, _64 + 1
        for pool, key in firsts:
            # A rank is priority and score; one of another priority is further away than WIDTH.
            while key >= 0 and (rank := rank_in(key)) <= lowest + WIDTH:
                found = self._first(pool, worker, seen, start_of(rank, begin))
                if found < 0 or rank_in(found) != rank:
                    found = key  # the circle has come round
                distance = hash_in(found) - begin & _64
                if distance < nearest:
                    best, nearest = task_in(found), distance
                key = self._first(pool, worker, seen, start_of(rank + 1))
        return best

    def _first(self, pool: Ranking, worker: int, seen: set[int], start: int) -> int:
        found = pool.near(seen, start)
        if found is not None:
            return found
        if worker not in self._watching:
            self._watching.add(worker)
            for task in seen:
                self._watchers.setdefault(task, []).append(worker)
        return pool.first(worker, seen, start)

    # -- where a task stands

    def _place(self, task: int) -> None:
        watchers = self._watchers.get(task, ())
        for ranking, key in zip(self._all, self._keys(task), strict=True):
            ranking.put(task, key, watchers)

    def _keys(self, task: int) -> tuple[int, int, int, int, int, int]:
        """The task's key in each ranking, -1 where it does not belong."""
        facts = self._facts[task]
        if facts is None or facts.withdrawn:
            return _NOWHERE
        rules, standing = self.rules, facts.standing
        leases = self._leases.get(task, 0)
        room = facts.limit is None or facts.votes + leases < facts.limit
        hash_ = rules.task_hash(task)
        decided = -1
        if rules.probes and room:
            decided = key_of(_rank(0.0, -facts.margin), hash_, task)
        if standing is Standing.AMBIGUOUS:
            # Its labels are in, as a rule; one expert at a time may add one.
            key = -1
            if not leases:
                key = key_of(_rank(facts.priority, rules.score(facts, 0)), hash_, task)
            return (-1, -1, decided, -1, -1, key)
        if not room:
            return _NOWHERE
        if standing is Standing.GOLD:
            return (-1, -1, -1, -1, key_of(0, hash_, task), -1)
        if standing is Standing.RESOLVED:
            return (-1, -1, decided, -1, -1, -1)
        key = key_of(_rank(facts.priority, rules.score(facts, leases)), hash_, task)
        if rules.skilled_after is not None and facts.votes >= rules.skilled_after:
            return (-1, key, -1, decided, -1, -1)
        return (key, -1, decided, -1, -1, -1)


_NOWHERE = (-1, -1, -1, -1, -1, -1)


def _number(given: tuple[int, Facts]) -> int:
    return given[0]


def _rank(priority: float, score: float) -> int:
    """Higher priority first, then the lower score; score in steps of 1 / GRAIN."""
    step = min(max(round(score * GRAIN), -_HALF // 2), _HALF // 2)
    return _descending(priority) << 64 | step + _HALF


@lru_cache(maxsize=1024)
def _descending(priority: float) -> int:
    """64 bits, the smaller the higher the priority."""
    bits = int.from_bytes(struct.pack(">d", 0.0 - priority), "big")
    return bits ^ _64 if bits >> 63 else bits | _HALF
