"""The rule of choosing: scores, ties, and which of a worker's assignments are probes or gold.

A choice is the minimum of a total order that depends on tasks and worker alone.  How tasks are
kept (`ranking`) can therefore not change it.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from math import log
from typing import NamedTuple

import msgspec

from connector.domain.config import ProjectConfig

_64 = 2**64 - 1
_GOLDEN = 0x9E3779B97F4A7C15

UNIFORM = "uniform"
ORDINAL = "ordinal"


class Standing(IntEnum):
    """What a task is to a chooser."""

    OPEN = 0
    RESOLVED = 1
    """Resolved and neither gold nor ambiguous: only for probes."""
    AMBIGUOUS = 2
    """For experts, and for probes."""
    GOLD = 3


class Facts(msgspec.Struct, frozen=True, gc=False):
    """What a chooser must know of a task, but for its leases.

    Attributes:
        standing: see `Standing`.
        margin: see `margin`.
        votes: distinct workers whose votes count.
        priority: highest first.
        limit: votes and leases together that the task may have, None for no limit.
        withdrawn: never chosen.
        name: for whoever asks; the rule does not read it.
    """

    standing: Standing
    margin: float
    votes: int = 0
    priority: float = 0.0
    limit: int | None = None
    withdrawn: bool = False
    name: str = ""


class Rules(NamedTuple):
    """What of a project's configuration a chooser follows.

    Attributes:
        seed: of the order among equals and of the draw for gold.
        policy: "uncertainty" or "uniform".
        lease_weight: what an open lease adds to a score under uncertainty.
        probes: "auto", or how many first assignments of a worker are probes.
        gold_rate: share of a worker's assignments that are gold tasks.
        skilled_after: from so many votes on, an open task is for skilled workers alone.
    """

    seed: int
    policy: str = "uncertainty"
    lease_weight: float = log(2.0)
    probes: str | int = "auto"
    gold_rate: float = 0.0
    skilled_after: int | None = None

    @classmethod
    def of(cls, config: ProjectConfig, seed: int) -> Rules:
        """The rules that a project declares."""
        return cls(
            seed,
            config.policy,
            log(config.alpha / config.beta),
            config.probes if config.policy != UNIFORM else 0,
            config.gold_rate,
            config.skilled_after,
        )

    def score(self, facts: Facts, leases: int) -> float:
        """The lowest is chosen. Gap in nats (ordinal: minus classes), or votes."""
        if self.policy == UNIFORM:
            return float(facts.votes + leases)
        return facts.margin + leases * self.lease_weight

    def is_probe(self, k: int) -> bool:
        """Whether a worker's ``k``-th assignment (from 1) is a probe.

        "auto": the 1st, 6th, 11th, 21st, 41st, 81st, ...; rarer as the worker is better known.
        """
        if self.probes == "auto":
            tens, rest = divmod(k - 1, 10)
            return k in (1, 6) or (rest == 0 and tens > 0 and tens & (tens - 1) == 0)
        assert isinstance(self.probes, int)
        return k <= self.probes

    def is_gold(self, worker: int, k: int) -> bool:
        """Whether a worker's ``k``-th assignment is drawn to be a gold task."""
        if not self.gold_rate:
            return False
        return mix64(self.worker_hash(worker) + k * _GOLDEN) < self.gold_rate * 2.0**64

    def task_hash(self, task: int) -> int:
        """64 bits, different for every task of a project."""
        return mix64(self.seed + task * _GOLDEN)

    def worker_hash(self, worker: int) -> int:
        """Where on the circle of hashes a worker begins.

        Among equals a worker gets the task with the smallest (task_hash - worker_hash) mod 2^64.
        That hash of task and worker has an order that is the same circle for everybody, which is
        what lets the first in it be found by bisection.
        """
        return mix64(mix64(self.seed) + worker * _GOLDEN)


def mix64(z: int) -> int:
    """A permutation of 64-bit numbers that scatters neighbours (splitmix64's last step)."""
    z &= _64
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & _64
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & _64
    return z ^ (z >> 31)


def margin(kind: str, m: Sequence[float], posterior: Sequence[float] | None = None) -> float:
    """How decided a task is.

    Args:
        kind: of the project.
        m: length K, its log-weights; they need not be normalised.
        posterior: length K, their softmax; needed where `kind` is "ordinal".

    Returns:
        The gap between the two best log-weights, in nats.  Ordinal: minus the expected absolute
        loss, in classes, of the answer that has the lowest.
    """
    if kind == ORDINAL:
        assert posterior is not None
        return -_absolute_loss(posterior)
    if len(m) == 2:
        return abs(m[0] - m[1])
    first = second = float("-inf")
    for value in m:
        if value > first:
            first, second = value, first
        elif value > second:
            second = value
    return first - second


def _absolute_loss(mu: Sequence[float]) -> float:
    """min_c sum_x mu[x] |x - c|, in which each cut between classes costs its lighter side."""
    below, loss = 0.0, 0.0
    for share in mu[:-1]:
        below += share
        loss += min(below, 1.0 - below)
    return loss
