"""Workers whose votes stop weighing, and weigh again."""

from __future__ import annotations

from connector.domain.events import WorkerBlocked, WorkerUnblocked

from .assign import BLOCKED, give_back
from .runs import ADOPTED
from .state import Worker
from .turn import Outcome, Turn


def blocked(turn: Turn, e: WorkerBlocked) -> Outcome:
    """`worker.blocked`: the votes leave their tasks' m, r, c and n, though not n_j and S_j.

    What the worker holds goes back first.  A block that comes from a run holds only if that run was
    adopted: one that waits for a person, or cannot be used, must not take anybody's votes out.
    """
    if isinstance(e.run, str):
        run = turn.project.staging.ended(turn.storage, e.run)
        if run is None or run.status != ADOPTED:
            return Outcome.DUPLICATE
    worker = turn.worker(e.worker)
    if worker.blocked:
        return Outcome.DUPLICATE
    desk = turn.project.desk
    if desk is not None:
        give_back(turn, desk.of_worker(worker.id), BLOCKED)
    _weigh(turn, worker, False)
    worker.blocked = True
    worker.block_reason = e.reason if isinstance(e.reason, str) else None
    turn.worker_changed(worker)
    turn.end_wide()
    return Outcome.APPLIED


def unblocked(turn: Turn, e: WorkerUnblocked) -> Outcome:
    """`worker.unblocked`: the votes come back with the weight that they have."""
    worker = turn.project.worker(turn.storage, e.worker)
    if worker is None or not worker.blocked:
        return Outcome.DUPLICATE
    _weigh(turn, worker, True)
    worker.blocked = False
    worker.block_reason = None
    turn.worker_changed(worker)
    turn.end_wide()
    return Outcome.APPLIED


def _weigh(turn: Turn, worker: Worker, counts: bool) -> None:
    """Put the worker's votes in or out, task by task in order of first appearance.

    `worker.blocked` changes only afterwards: tasks that are still to be loaded must come in as
    they were, or their voters' S would miss the change.
    """
    p = turn.project
    for tasks in p.chunks_of_tasks(turn.storage, p.task_ids_of(turn.storage, worker)):
        for task in tasks:
            task.votes[worker.id].counts = counts
            turn.settle(task)
            turn.record_gold(task)
            turn.judge(task)
        turn.relieve()
