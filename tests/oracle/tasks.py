"""Tasks that are added, withdrawn or gold; workers that are blocked or not."""

from __future__ import annotations

from .assign import end_of_task, end_of_worker
from .events import Added, Blocked, GoldSet
from .fields import Rejected
from .project import Project
from .state import Worker
from .turn import APPLIED, DUPLICATE, Turn, check_class


def add(turn: Turn, project: Project, event: Added) -> str:
    classes = project.config.classes
    if event.prior is not None and len(event.prior) != len(classes):
        raise Rejected("invalid_field", "prior has not one number per class")
    changed = event.task not in project.tasks
    touched = False
    task = turn.task(project, event.task)
    if task.withdrawn:
        task.withdrawn, changed = False, True
    if event.priority is not None and event.priority != task.priority:
        task.priority, changed = event.priority, True
    if event.max_labels is not None and event.max_labels != task.max_labels:
        task.max_labels, touched = event.max_labels, True
    new_prior = False
    if event.prior is not None:
        prior = dict(zip(classes, event.prior, strict=True))
        if prior != task.prior:
            project.set_prior(task, prior)
            touched, new_prior = True, True
    if touched:
        turn.touch(project, task, record=new_prior)
    if not (changed or touched):
        return DUPLICATE
    task.updated_at = turn.time
    return APPLIED


def withdraw(turn: Turn, project: Project, name: str) -> str:
    task = turn.task(project, name)
    if task.withdrawn:
        return DUPLICATE
    task.withdrawn = True
    task.updated_at = turn.time
    end_of_task(turn, project, task.name)
    return APPLIED


def set_gold(turn: Turn, project: Project, event: GoldSet) -> str:
    if event.label is not None:
        check_class(project, event.label)
    known = project.tasks.get(event.task)
    if (None if known is None else known.gold) == event.label:
        return DUPLICATE
    task = turn.task(project, event.task)
    task.gold = event.label
    turn.touch(project, task)
    return APPLIED


def block(turn: Turn, project: Project, event: Blocked) -> str:
    """A block that comes from a run holds only if that run was adopted."""
    if event.run is not None:
        run = project.runs.get(event.run)
        if run is None or run.status != "adopted":
            return DUPLICATE
    worker = turn.worker(project, event.worker)
    if worker.blocked:
        return DUPLICATE
    end_of_worker(turn, project, worker.name)
    set_blocked(turn, project, worker, True)
    return APPLIED


def unblock(turn: Turn, project: Project, name: str) -> str:
    worker = project.workers.get(name)
    if worker is None or not worker.blocked:
        return DUPLICATE
    set_blocked(turn, project, worker, False)
    return APPLIED


def set_blocked(turn: Turn, project: Project, worker: Worker, blocked: bool) -> None:
    worker.blocked = blocked
    worker.changed(turn.time)
    voted = {vote.task for vote in worker.votes}
    for task in project.tasks.values():
        if task.name in voted:
            turn.touch(project, task)
