"""A worker asks for tasks and gets some, or is told why not; leases that end without an answer."""

from __future__ import annotations

from collections.abc import Iterable

from connector.domain.events import WorkerAvailable

from .history import beta_interval
from .leases import Lease
from .messages import ASSIGNED, EXPIRED, NONE, assigned_message, expired_message, none_message
from .project import Project
from .state import Worker
from .turn import Outcome, Turn

PROJECT_CLOSED = "project_closed"
BLOCKED = "blocked"
BUDGET = "budget"
WITHDRAWN = "withdrawn"
TIMED_OUT = "expired"


def available(turn: Turn, e: WorkerAvailable) -> Outcome:
    """`worker.available`: up to `want` tasks, or one reason why there is none."""
    p = turn.project
    worker = turn.worker(e.worker)
    reason = _refusal(p, worker)
    if reason is None:
        reason = _lend(turn, worker, e.want)
    if reason is not None:
        key, value = none_message(p.name, worker.name, reason)
        turn.emit(NONE, turn.topics.assigned, key, value)
    return Outcome.APPLIED


def _refusal(p: Project, worker: Worker) -> str | None:
    if p.config.closed:
        return PROJECT_CLOSED
    if worker.blocked:
        return BLOCKED
    return None


def _lend(turn: Turn, worker: Worker, want: int) -> str | None:
    """Give up to ``want`` tasks; why none, or None where there was one."""
    p, desk = turn.project, turn.desk()
    config = p.config
    chooser = desk.ready(p, turn.storage, worker)
    skilled = _is_skilled(p, worker)
    expert = worker.name in p.experts
    expires_at = turn.time + round(config.lease_seconds * 1e6)
    for given in range(want):
        choice = (
            BUDGET
            if config.budget is not None and p.pairs + len(desk.held) >= config.budget
            else chooser.choose(worker.id, worker.assigned + 1, skilled=skilled, expert=expert)
        )
        if isinstance(choice, str):
            return None if given else choice
        lease = Lease(
            turn.cause.id(turn.sequence),
            expires_at,
            project=p.name,
            task_id=choice.task,
            task=chooser.facts(choice.task).name,
            worker_id=worker.id,
            worker=worker.name,
        )
        desk.lend(lease)
        turn.calendar.add(lease)
        worker.assigned += 1
        p.dirty_workers[worker.id] = worker
        key, value = assigned_message(lease, choice.score, config.policy)
        turn.emit(ASSIGNED, turn.topics.assigned, key, value)
    return None


def _is_skilled(p: Project, worker: Worker) -> bool:
    """Whether the worker may have open tasks with `skilled_after` votes."""
    config = p.config
    if config.skilled_after is None:
        return True
    (lower,), _ = beta_interval([worker.S + config.alpha], [worker.n - worker.S + config.beta])
    return lower >= config.skilled_accuracy


def give_back(turn: Turn, leases: Iterable[Lease], reason: str) -> None:
    """End leases of the turn's project that nobody answered, and say so."""
    desk = turn.desk()
    for lease in leases:
        desk.give_back(lease)
        key, value = expired_message(lease, reason)
        turn.emit(EXPIRED, turn.topics.assigned, key, value)
