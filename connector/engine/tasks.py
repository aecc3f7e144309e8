"""Tasks that are added, withdrawn, or whose truth becomes known."""

from __future__ import annotations

from msgspec import UNSET

from connector.domain.config import scaled_prior
from connector.domain.errors import DeadCode, InputError
from connector.domain.events import TaskAdded, TaskGold, TaskWithdrawn

from .assign import WITHDRAWN, give_back
from .state import Task
from .turn import Outcome, Turn
from .votes import class_of


def added(turn: Turn, e: TaskAdded) -> Outcome:
    """`task.added`: makes the task known, undoes a withdrawal, changes the fields it states."""
    p = turn.project
    prior = None
    if e.prior is not UNSET:
        try:
            prior = scaled_prior(e.prior, p.K, "prior")
        except ValueError as error:
            raise InputError(DeadCode.INVALID_FIELD, str(error)) from None
    new = p.task(turn.storage, e.task) is None
    task = turn.task(e.task)
    shown = new or task.withdrawn
    task.withdrawn = False
    if e.priority is not UNSET and e.priority != task.priority:
        task.priority = e.priority
        shown = True
    judged = False
    if e.max_labels is not UNSET and e.max_labels != task.max_labels:
        task.max_labels = e.max_labels
        judged = True
    if prior is not None and prior != task.prior:
        change_prior(turn, task, prior)
        turn.record_gold(task)
        judged = True
    if judged:
        turn.judge(task)
    elif shown:
        turn.changed(task)
    return Outcome.APPLIED if judged or shown else Outcome.DUPLICATE


def change_prior(turn: Turn, task: Task, prior: tuple[float, ...] | None) -> None:
    """Give the task a prior of its own (None: the project's), and carry it to its base."""
    p = turn.project
    old = p.log_prior_of(task)
    task.prior = prior
    new = p.log_prior_of(task)
    if task.run_base is None:
        task.base = new
    else:
        task.run_base = [b + (n - o) for b, n, o in zip(task.run_base, new, old, strict=True)]
    turn.settle(task)


def withdrawn(turn: Turn, e: TaskWithdrawn) -> Outcome:
    """`task.withdrawn`: concerns assignment only."""
    task = turn.task(e.task)
    if task.withdrawn:
        return Outcome.DUPLICATE
    task.withdrawn = True
    turn.changed(task)
    desk = turn.project.desk
    if desk is not None:
        give_back(turn, desk.on_task(task.id), WITHDRAWN)
    return Outcome.APPLIED


def gold(turn: Turn, e: TaskGold) -> Outcome:
    """`task.gold`: the truth is known, or no longer known."""
    p = turn.project
    truth = None if e.label is None else class_of(p, e.label)
    known = p.task(turn.storage, e.task)
    if truth == (None if known is None else known.truth):
        return Outcome.DUPLICATE
    task = turn.task(e.task)
    turn.set_truth(task, truth)
    turn.record_gold(task)
    turn.judge(task)
    return Outcome.APPLIED
