"""The plain slow chooser: looks at every task, every time, and does what the documents say."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b

from tests.oracle.assign import Choices

_64 = 2**64


def scatter(z: int) -> int:
    z %= _64
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) % _64
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % _64
    return z ^ (z >> 31)


GOLDEN = 0x9E3779B97F4A7C15
AUTO = {1, 6, *(10 * 2**i + 1 for i in range(40))}


@dataclass
class PlainTask:
    id: int
    standing: str
    margin: float
    votes: int = 0
    priority: float = 0.0
    limit: int | None = None
    withdrawn: bool = False
    leases: int = 0


@dataclass
class PlainChooser:
    seed: int
    policy: str
    lease_weight: float
    probes: str | int
    gold_rate: float
    skilled_after: int | None
    tasks: dict[int, PlainTask] = field(default_factory=dict)
    seen: set[tuple[int, int]] = field(default_factory=set)

    def score(self, task: PlainTask) -> float:
        if self.policy == "uniform":
            return float(task.votes + task.leases)
        return task.margin + task.leases * self.lease_weight

    def order(self, task: PlainTask, worker: int) -> int:
        at = scatter(self.seed + task.id * GOLDEN)
        return (at - scatter(scatter(self.seed) + worker * GOLDEN)) % _64

    def choose(self, worker: int, k: int, skilled: bool, expert: bool) -> tuple[int, float] | str:
        def nearest(tied: list[PlainTask]) -> PlainTask:
            return min(tied, key=lambda t: self.order(t, worker))

        def lowest(tasks: list[PlainTask]) -> PlainTask:
            priority = max(t.priority for t in tasks)
            tasks = [t for t in tasks if t.priority == priority]
            best = min(map(self.score, tasks))
            return nearest([t for t in tasks if self.score(t) <= best + 1e-9])

        def fits(task: PlainTask) -> bool:
            full = task.limit is not None and task.votes + task.leases >= task.limit
            hard = self.skilled_after is not None and task.votes >= self.skilled_after
            return not full and (skilled or not hard or task.standing != "open")

        def is_unseen(task: PlainTask) -> bool:
            return (task.id, worker) not in self.seen

        there = [t for t in self.tasks.values() if not t.withdrawn]
        adjudicable = [t for t in there if expert and t.standing == "ambiguous" and not t.leases]
        if unseen := list(filter(is_unseen, adjudicable)):
            task = lowest(unseen)
            return task.id, self.score(task)
        fit = list(filter(fits, there))
        unseen = list(filter(is_unseen, fit))
        ordinary = [t for t in unseen if t.standing == "open"]
        if not ordinary:
            some = adjudicable or any(t.standing == "open" for t in fit)
            return "all_seen" if some else "no_open_task"
        task = lowest(ordinary)
        score = self.score(task)
        probe = self.policy == "uncertainty" and (
            k in AUTO if self.probes == "auto" else k <= int(self.probes)
        )
        draw = scatter(scatter(scatter(self.seed) + worker * GOLDEN) + k * GOLDEN) / _64
        gold = [t for t in unseen if t.standing == "gold"]
        if (probe or draw < self.gold_rate) and gold:
            return nearest(gold).id, score
        decided = [t for t in unseen if t.standing != "gold"]
        if probe and decided:
            most = max(t.margin for t in decided)
            return nearest([t for t in decided if t.margin >= most - 1e-9]).id, score
        return task.id, score


def _seed(project: str) -> int:
    return int.from_bytes(blake2b(project.encode(), digest_size=8).digest(), "big") >> 1


def _worker(project: str, worker: int) -> int:
    return scatter(scatter(_seed(project)) + worker * GOLDEN)


CHOICES = Choices(
    tie=lambda project, task, worker: (
        (scatter(_seed(project) + task * GOLDEN) - _worker(project, worker)) % _64
    ),
    is_gold_turn=lambda project, worker, k, rate: (
        scatter(_worker(project, worker) + k * GOLDEN) < rate * _64
    ),
)
"""For the plain fold: what the product makes of what the documents leave open."""
