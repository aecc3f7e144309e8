"""A run is adopted: every task gets its base from it, every worker what the run says of them.

Votes keep their own p.  Those of records before the run's snapshot weigh with the run's p of their
worker where there is one (`Project.weigh`), so that adopting changes no vote's row.

Everything is read from the storage, a chunk of tasks at a time, and worked out on a project of its
own.  So it does not matter what was in memory, and a run that the guard holds has changed nothing.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from connector.domain.rows import ClusterRow, ConfusionRow, FlagRow, RunRow, TaskRow
from connector.domain.runs import as_json

from . import rows
from .findings import Findings
from .project import CHUNK, Adopted, Project
from .state import Task, Worker
from .turn import Turn

TOLD = 10
"""Changes that a run tells of, the most certain first."""


class Adoption(NamedTuple):
    """What became of it.

    Attributes:
        changed: resolved tasks whose label changes.
        told: JSON, the most certain of them.
        held: why the guard holds the run; None: it is adopted.
    """

    changed: int
    told: str
    held: str | None


class _Change(NamedTuple):
    confidence: float
    id: int
    task: str
    was: str
    now: str | None

    def told(self) -> dict[str, object]:
        """For people."""
        return {
            "task": self.task,
            "from": self.was,
            "to": self.now,
            "confidence": self.confidence,
        }


def adopt(turn: Turn, row: RunRow, findings: Findings, *, guarded: bool) -> Adoption:
    """Adopt a run that can be used, or find that it is to be held.

    `turn.project` is another one afterwards if it is adopted.
    """
    old = turn.project
    stored = turn.storage.project(old.name)
    assert stored is not None
    turn.project = p = Project.from_row(stored, turn.storage)
    p.run, p.upto, p.algorithm = row.id, row.upto, row.algorithm
    for worker in p.all_workers(turn.storage):
        found = findings.workers.get(worker.name)
        worker.run_p = None if found is None else found.p
    sent, sequence = len(turn.outgoing), turn.sequence
    judged = _Judged(turn, findings)
    made = list(judged.tasks())
    changes = sorted(judged.changes, key=lambda c: (-c.confidence, c.id))
    told = as_json([c.told() for c in changes[:TOLD]])
    limit = p.config.max_flip_fraction
    if guarded and judged.resolved and len(changes) / judged.resolved > limit:
        turn.project = old
        del turn.outgoing[sent:]
        turn.sequence = sequence
        return Adoption(len(changes), told, _why(changes, judged.resolved, p))
    judged.sum_workers()
    for id, record in p.calibration.records.items():
        z, hit, place = record
        made[id - 1] = made[id - 1]._replace(record_z=z, record_hit=hit, record_seq=place)
    p.adopted = Adopted(made, *_said(p, findings, p.all_workers(turn.storage)))
    p.dirty = True
    return Adoption(len(changes), told, None)


class _Judged:
    """The tasks under the run, one after the other, and what is summed up over them."""

    def __init__(self, turn: Turn, findings: Findings) -> None:
        self._turn = turn
        self._findings = findings
        self.resolved = 0
        self.changes: list[_Change] = []
        self._arrival = array("q")
        self._worker = array("q")
        self._right = array("d")

    def tasks(self) -> Iterator[TaskRow]:
        """The new row of every task, in order of first appearance; messages go to the turn."""
        p, storage = self._turn.project, self._turn.storage
        for first in range(1, p.task_count + 1, CHUNK):
            ids = range(first, min(first + CHUNK, p.task_count + 1))
            made = [self._one(task) for task in p.under_run(storage, ids, self._findings.bases)]
            yield from made

    def _one(self, task: Task) -> TaskRow:
        p = self._turn.project
        for vote in task.votes.values():
            self._arrival.append(vote.arrival)
            self._worker.append(vote.worker.id)
            self._right.append(task.mu[vote.x])
        was = task.label if task.resolved else None
        if p.config.calibrate and (task.truth is not None or task.id in p.calibration.records):
            p.calibration.update(task, p.prior_of(task), p.config.doubt, p.b0)
        self._turn.judge(task)
        del p.dirty_tasks[task.id]
        if was is not None:
            self.resolved += 1
            if task.label != was:
                self._note(task, was)
        return rows.task_row(p.id, task, p.config.kind, p.config.classes, None)

    def _note(self, task: Task, was: int) -> None:
        classes = self._turn.project.config.classes
        now = None if task.label is None else classes[task.label]
        self.changes.append(_Change(task.confidence, task.id, task.name, classes[was], now))

    def sum_workers(self) -> None:
        """Each worker's S anew, over the present votes in order of arrival."""
        p = self._turn.project
        order = np.argsort(np.frombuffer(self._arrival, np.int64), kind="stable")
        worker = np.frombuffer(self._worker, np.int64)[order]
        right = np.frombuffer(self._right, np.float64)[order]
        # Adds up one after the other, as a loop would.
        S = np.bincount(worker, right, p.worker_count + 1).tolist()
        for w in p.all_workers(self._turn.storage):
            w.S = S[w.id]
            self._turn.worker_changed(w)


def _why(changes: Sequence[_Change], resolved: int, p: Project) -> str:
    share = len(changes) / resolved
    return (
        f"it would change the label of {len(changes)} of {resolved} resolved tasks ({share:.1%}),"
        f" and max_flip_fraction is {p.config.max_flip_fraction:.4g}: `crowdresolve reconcile"
        " approve` adopts it, `reconcile reject` drops it"
    )


def _said(
    p: Project, findings: Findings, workers: Iterable[Worker]
) -> tuple[list[ConfusionRow], list[ClusterRow], list[FlagRow]]:
    """Rows of what the run says of workers and their clusters, in order of their numbers."""
    confusions: list[ConfusionRow] = []
    flags: list[FlagRow] = []
    for w in workers:
        found = findings.workers.get(w.name)
        if found is None:
            continue
        cells = findings.cells(found.confusion)
        confusions += [ConfusionRow(p.id, w.id, *names, count) for names, count in cells.items()]
        if (found.cluster, found.flag, found.flag_reason) != (None, None, None):
            flags.append(FlagRow(p.id, w.id, found.cluster, found.flag, found.flag_reason))
    clusters = [
        ClusterRow(p.id, number, *names, count)
        for number, cells in sorted(findings.clusters.items())
        for names, count in cells.items()
    ]
    return confusions, clusters, flags
