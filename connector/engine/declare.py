"""A project is declared, or declared anew: the whole configuration, from there on."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

from connector.domain.config import ProjectConfig
from connector.domain.errors import DeadCode, InputError

from .project import Project
from .state import Task
from .turn import Outcome, Turn


def redeclared(turn: Turn, config: ProjectConfig) -> Outcome:
    """Apply a declaration of a project that exists, and re-evaluate its tasks in order.

    Raises:
        InputError: project_conflict; nothing was changed.
    """
    p = turn.project
    old = p.config
    if config == old:
        return Outcome.DUPLICATE
    _check(p, config)
    change = _Change(p, config)
    turn.begin_wide()
    if config.classes != old.classes:
        p.classes_since = turn.cause.offset
    if p.desk is not None:
        p.desk.forget_index()
    if not config.calibrate:
        for id in p.calibration.clear():
            t = p.task_numbered(turn.storage, id)
            p.dirty_tasks[t.id] = t
    p.uses = [p.uses[i] if i is not None else 0 for i in change.was]
    ids = range(1, p.task_count + 1)
    # Tasks come in as they were under the old configuration and leave as they are under the new:
    # so the project is switched back while a chunk is loaded.
    chunks = p.chunks_of_tasks(turn.storage, ids)
    while True:
        p.configure(old)
        tasks = next(chunks, None)
        p.configure(config)
        if tasks is None:
            break
        for task in tasks:
            change.carry(turn, task)
            turn.judge(task)
        turn.relieve()
    if (config.alpha, config.beta) != (old.alpha, old.beta):
        for worker in p.all_workers(turn.storage):
            turn.worker_changed(worker)
    p.dirty = True
    return Outcome.APPLIED


def _check(p: Project, config: ProjectConfig) -> None:
    old = p.config

    def conflict(what: str) -> InputError:
        return InputError(DeadCode.PROJECT_CONFLICT, f"project {p.name!r}: {what}")

    if config.kind != old.kind:
        raise conflict(f"`kind` cannot change from {old.kind} to {config.kind}")
    present = set(config.classes)
    for x, name in enumerate(old.classes):
        if name not in present and p.uses[x]:
            raise conflict(
                f"class {name[:80]!r} cannot go: votes, gold or an expert's verdict name it"
            )
    if config.kind == "ordinal":
        kept = [c for c in old.classes if c in present]
        if kept != [c for c in config.classes if c in set(kept)]:
            raise conflict("the order of ordinal classes cannot change")


class _Change:
    """What a new configuration does to each task.

    Attributes:
        was: per new class its old index, None for an added one.
        now: per old class its new index, None for a removed one.
    """

    def __init__(self, p: Project, config: ProjectConfig) -> None:
        old = p.config
        self.was: Sequence[int | None] = [p.class_index.get(c) for c in config.classes]
        index = {c: x for x, c in enumerate(config.classes)}
        self.now: Sequence[int | None] = [index.get(c) for c in old.classes]
        self.same_order = config.classes == old.classes
        self.same_set = set(config.classes) == set(old.classes)
        self.old_log_prior = [log(v) for v in old.class_prior]

    def carry(self, turn: Turn, task: Task) -> None:
        """Bring a task over: class indices, prior, base, weights."""
        p = turn.project
        before, mu = task.m, task.mu
        old = self.old_log_prior if task.prior is None else p.log_prior_of(task)
        if not self.same_order:
            self._renumber(turn, task)
        self._rebase(p, task, old)
        if self.same_order:
            turn.settle(task)
            return
        # S must lose what the old posterior gave and gain what the new one gives; with another
        # numbering of classes the two vectors are matched by name first.
        task.m = before
        task.mu = [0.0 if i is None else mu[i] for i in self.was]
        turn.settle(task)

    def _renumber(self, turn: Turn, task: Task) -> None:
        p = turn.project
        for worker_id, vote in task.votes.items():
            p.touch_pair(task, worker_id)  # type: ignore[arg-type]
            vote.x = self.now[vote.x]
        if task.truth is not None:
            task.truth = self.now[task.truth]
        if task.label is not None:
            task.label = self.now[task.label]
        if task.prior is not None:
            task.prior = (
                tuple(task.prior[i] for i in self.was if i is not None) if self.same_set else None
            )

    def _rebase(self, p: Project, task: Task, old: Sequence[float]) -> None:
        """`old`: the log prior as it was, in the old numbering."""
        new = p.log_prior_of(task)
        if task.run_base is None:
            task.base = new
            return
        # What the run took for the prior goes with it, and the present one takes its place.
        task.run_base = [
            new[x] if i is None else task.run_base[i] + (new[x] - old[i])
            for x, i in enumerate(self.was)
        ]
