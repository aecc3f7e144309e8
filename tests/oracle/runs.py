"""Reconciliation in the log: parts, runs that end, what adopting one does, and its guard.

As read here: a run that is held or failed is an applied record with a row in
`reconciliation_runs`; one that is refused has a row too, and its record is a dead letter. A run's
`base` arrays and class indices mean the classes that it names, or else those that there were at
`upto`: then it is for other classes where a declaration changed them (their set or order) since.
Tasks and workers that the project does not have are passed over.
"""

from __future__ import annotations

from . import model
from .events import Completed, Confusion, Part
from .fields import Rejected
from .project import Project
from .state import NamedConfusion, Run, Task
from .turn import APPLIED, DUPLICATE, Turn

DAY = 86_400 * 1_000_000

PARTS_MISSING, OTHER_CLASSES = "run_parts_missing", "run_other_classes"
NOT_NEWER = "run_outdated"


def drop_parts(project: Project, time: int) -> None:
    """Parts without an end are dropped after a day."""
    for run, parts in list(project.parts.items()):
        for number, (stored_at, _) in list(parts.items()):
            if stored_at + DAY <= time:
                del parts[number]
        if not parts:
            del project.parts[run]


def store(turn: Turn, project: Project, part: Part) -> str:
    """A part of a run that has ended, or one that is there, is a duplicate."""
    parts = project.parts.get(part.run, {})
    if part.run in project.runs or part.part in parts:
        return DUPLICATE
    project.parts[part.run] = parts | {part.part: (turn.time, part)}
    return APPLIED


def complete(turn: Turn, project: Project, completed: Completed) -> str:
    if completed.upto > turn.record.offset:
        raise Rejected("invalid_field", "upto lies behind the record")
    if completed.run in project.runs:
        return DUPLICATE
    parts = project.parts.pop(completed.run, {})
    run = project.runs[completed.run] = collected(
        completed, [part for _, (_, part) in sorted(parts.items())]
    )
    if completed.error is not None:
        run.status, run.reason = "failed", completed.error
        return APPLIED
    if len(parts) < completed.parts:
        raise refused(run, PARTS_MISSING)
    check(project, run)
    if is_too_much(project, run):
        run.status = "held"
    else:
        adopt(turn, project, run)
    return APPLIED


def decide(turn: Turn, project: Project, name: str, approved: bool) -> str:
    """A person's answer to a held run; to any other there is nothing to say."""
    run = project.runs.get(name)
    if run is None or run.status != "held":
        return DUPLICATE
    if not approved:
        run.status = "rejected"
    else:
        check(project, run)
        adopt(turn, project, run)
    return APPLIED


def collected(completed: Completed, parts: list[Part]) -> Run:
    return Run(
        completed,
        {task: base for part in parts for task, base in part.tasks},
        {found.worker: found for part in parts for found in part.workers},
        {cluster: confusion for part in parts for cluster, confusion in part.clusters},
    )


def check(project: Project, run: Run) -> None:
    """Refuses a run for other classes, or not newer than the adopted one."""
    upto, adopted = run.completed.upto, project.adopted
    if not fits(project, run):
        raise refused(run, OTHER_CLASSES)
    if adopted is not None and upto <= adopted.completed.upto:
        raise refused(run, NOT_NEWER)


def refused(run: Run, code: str) -> Rejected:
    run.status, run.reason = "refused", code
    return Rejected(code, run.completed.run)


def fits(project: Project, run: Run) -> bool:
    """Whether the run is about the present classes."""
    classes = run.completed.classes
    if classes is None and project.classes_since >= run.completed.upto:
        return False
    if classes is not None and classes != project.config.classes:
        return False
    confusions = [found.confusion for found in run.workers.values()]
    confusions += run.clusters.values()
    return all(len(base) == len(project.config.classes) for base in run.bases.values()) and all(
        class_name(project, name) is not None
        for confusion in confusions
        for true, given, _ in confusion
        for name in (true, given)
    )


def class_name(project: Project, given: str | int) -> str | None:
    classes = project.config.classes
    if isinstance(given, int):
        return classes[given] if given < len(classes) else None
    return given if given in classes else None


def by_name(project: Project, confusion: Confusion) -> NamedConfusion:
    classes = project.config.classes
    names = {name: class_name(project, name) or "" for name in (*range(len(classes)), *classes)}
    return tuple((names[true], names[given], count) for true, given, count in confusion)


def is_too_much(project: Project, run: Run) -> bool:
    """The guard: puts the run in place, looks at the tops, and takes it out again.

    Gold and adjudicated tasks are resolved too, but no run changes their label.
    """
    tasks = project.tasks.values()
    resolved = [task for task in tasks if task.status != "open"]
    before = project.adopted, {task.name: task.run_base for task in tasks}
    put_in_place(project, run)
    flips = sum(would_flip(project, task) for task in resolved)
    project.adopted = before[0]
    for task in tasks:
        task.run_base = before[1][task.name]
    return bool(resolved) and flips / len(resolved) > project.config.max_flip_fraction


def would_flip(project: Project, task: Task) -> bool:
    if task.status in ("gold", "adjudicated"):
        return False
    return model.top_of(project.shadow(task)) != task.label


def put_in_place(project: Project, run: Run) -> None:
    project.adopted = run
    for task in project.tasks.values():
        base = run.bases.get(task.name)
        task.run_base = (
            None if base is None else dict(zip(project.config.classes, base, strict=True))
        )


def adopt(turn: Turn, project: Project, run: Run) -> None:
    """Every task has its base anew and is judged; S_j follows by itself, as it is summed anew."""
    put_in_place(project, run)
    run.status, run.reason, run.adopted_at = "adopted", None, turn.time
    for worker in project.workers.values():
        worker.found = run.workers.get(worker.name)
        worker.confusion = by_name(project, worker.found.confusion) if worker.found else ()
    project.cluster_confusion = {
        cluster: by_name(project, confusion) for cluster, confusion in run.clusters.items()
    }
    for task in project.tasks.values():
        turn.touch(project, task)
