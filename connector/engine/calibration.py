"""The slope of a project's stated confidence, learned on its gold tasks.

A gold task's votes accumulate beneath its truth.  Where at least two of them count, the task has
one record: the logit of what would have been stated, and whether that would have been right.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import exp
from typing import NamedTuple

from scipy.special import betaincinv

from aggregators.confidence import bend, fit_slope, logit_top, stated, top, vote_counts

from .state import Task
from .storage import RecordRow

KEPT = 500
MIN_VOTES = 2


class Record(NamedTuple):
    """One gold task's record, and its place in the order of updates."""

    z: float
    hit: bool
    place: int


class Standing(NamedTuple):
    """How the gold tasks fare: those that would be resolved at the stop value, and how well."""

    records: int
    resolved: int
    right: int
    lower: float | None
    upper: float | None
    stated_mean: float | None


class Calibration:
    """Records, least recently updated first, and the slope b that they give (1 without any)."""

    def __init__(self) -> None:
        self.b = 1.0
        self.sequence = 0
        self.records: dict[int, Record] = {}

    def restore(self, b: float, sequence: int, records: Iterable[RecordRow]) -> None:
        """Take over what was stored."""
        self.b = b
        self.sequence = sequence
        self.records = {r.task_id: Record(r.z, bool(r.hit), r.place) for r in records}

    def clear(self) -> list[int]:
        """Drop every record; the tasks that had one."""
        dropped = list(self.records)
        self.records = {}
        self.b = 1.0
        return dropped

    def update(self, task: Task, prior: Sequence[float], doubt: float, b0: float) -> list[int]:
        """Bring the task's record up to date, and with it the slope.

        Returns:
            Numbers of the tasks whose record changed, this one or one that fell off the end.
        """
        counts = vote_counts(task)
        had = self.records.pop(task.id, None)
        changed = []
        if task.truth is not None and sum(counts.values()) >= MIN_VOTES:
            q = stated(task.m, counts, prior, doubt)
            x = top(q)
            self.sequence += 1
            self.records[task.id] = Record(logit_top(q[x]), x == task.truth, self.sequence)
            changed.append(task.id)
            if len(self.records) > KEPT:
                oldest = next(iter(self.records))
                del self.records[oldest]
                changed.append(oldest)
        elif had is None:
            return []
        else:
            changed.append(task.id)
        self.b = (
            fit_slope(
                [r.z for r in self.records.values()],
                [r.hit for r in self.records.values()],
                self.b,
                b0,
            )
            if self.records
            else 1.0
        )
        return changed

    def apply(self, q: list[float]) -> list[float]:
        """Stated probabilities under the slope; as they are where there is no record."""
        return bend(q, self.b) if self.records else q

    def standing(self, confidence: float) -> Standing:
        """Gold tasks that would be resolved at ``confidence``, and how many of them rightly.

        The interval is the 95 % one of that share (Jeffreys).
        """
        said = [(_bent(r.z, self.b), r.hit) for r in self.records.values()]
        at_stop = [(s, hit) for s, hit in said if s >= confidence]
        n = len(at_stop)
        if not n:
            return Standing(len(said), 0, 0, None, None, None)
        right = sum(hit for _, hit in at_stop)
        lower, upper = (float(betaincinv(right + 0.5, n - right + 0.5, t)) for t in (0.025, 0.975))
        return Standing(len(said), n, right, lower, upper, sum(s for s, _ in at_stop) / n)


def _bent(z: float, b: float) -> float:
    return 1.0 / (1.0 + exp(-(b * z if z > 0.0 else z)))
