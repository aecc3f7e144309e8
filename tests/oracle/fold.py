"""The plain fold: record after record, state and messages straight from the documents."""

from __future__ import annotations

from collections import Counter

from . import assign, messages, runs, tasks, views, votes
from .assign import Choices
from .config import Config
from .decode import decode
from .events import (
    Added,
    Approved,
    Available,
    Blocked,
    Completed,
    Declared,
    Event,
    GoldSet,
    Message,
    Part,
    Record,
    Retracted,
    RunRejected,
    Skipped,
    Submitted,
    TimePassed,
    Unblocked,
    Withdrawn,
)
from .fields import Rejected
from .messages import Topics
from .project import Project
from .turn import APPLIED, DEAD, DUPLICATE, STALE, Turn
from .views import Row

__all__ = ["Message", "PlainFold", "Record"]


class PlainFold:
    """Feed it every record of the log in order; then read rows and messages."""

    def __init__(
        self,
        topic: str = "annotations",
        group: str = "crowdresolve",
        resolved: str = "labels.resolved",
        dead: str = "annotations.dead",
        assigned: str = "tasks.assigned",
        choices: Choices = assign.DEFAULT,
    ) -> None:
        self.topics = Topics(topic, group, resolved, dead, assigned)
        self.choices = choices
        self.messages: list[Message] = []
        self.projects: dict[str, Project] = {}
        self.counters: dict[int, Counter[str]] = {}
        self._times: dict[int, int] = {}

    def feed(self, record: Record) -> list[Message]:
        """Applies one record; the messages it causes, in order of sequence."""
        time = max(self._times.get(record.partition, 0), record.timestamp_ms * 1000)
        self._times[record.partition] = time
        turn = Turn(self.topics, record, time)
        self._let_time_pass(turn)
        try:
            outcome = self._apply(turn, decode(record))
        except Rejected as rejected:
            outcome = DEAD
            turn.out.append(messages.dead_letter(self.topics, record, rejected))
        counter = self.counters.setdefault(record.partition, Counter())
        counter["received"] += 1
        counter[outcome] += 1
        self.messages += turn.out
        return turn.out

    def time(self, partition: int) -> int:
        return self._times[partition]

    def _let_time_pass(self, turn: Turn) -> None:
        here = [p for p in self.projects.values() if p.partition == turn.record.partition]
        assign.expire(turn, here)
        for project in here:
            runs.drop_parts(project, turn.time)

    def _apply(self, turn: Turn, event: Event) -> str:
        """The rules of each kind: checks first, then changes."""
        if isinstance(event, TimePassed):
            return APPLIED
        if isinstance(event, Declared):
            return self._declare(turn, event.project, event.config)
        project = self.projects.get(event.project)
        if project is None:
            raise Rejected("unknown_project", event.project)
        check_partition(turn, project)
        match event:
            case Submitted():
                return votes.submit(turn, project, event)
            case Skipped():
                return votes.skip(turn, project, event)
            case Retracted(task=task, worker=worker, annotation_id=None):
                assert task is not None
                assert worker is not None
                return votes.retract(turn, project, (task, worker), event.stamp)
            case Retracted(annotation_id=str(annotation_id)):
                return votes.retract_id(turn, project, annotation_id, event)
            case Added():
                return tasks.add(turn, project, event)
            case Withdrawn():
                return tasks.withdraw(turn, project, event.task)
            case GoldSet():
                return tasks.set_gold(turn, project, event)
            case Blocked():
                return tasks.block(turn, project, event)
            case Unblocked():
                return tasks.unblock(turn, project, event.worker)
            case Available():
                return assign.available(turn, project, event, self.choices)
            case Part():
                return runs.store(turn, project, event)
            case Completed():
                return runs.complete(turn, project, event)
            case Approved() | RunRejected():
                return runs.decide(turn, project, event.run, isinstance(event, Approved))
        raise AssertionError(event)

    def _declare(self, turn: Turn, name: str, config: Config) -> str:
        project = self.projects.get(name)
        if project is None:
            self.projects[name] = Project(name, turn.record.partition, config)
            return APPLIED
        check_partition(turn, project)
        if config == project.config:
            return DUPLICATE
        conflict = project.conflict(config)
        if conflict is not None:
            raise Rejected("project_conflict", conflict)
        project.configure(config, turn.record.offset)
        for task in project.tasks.values():
            turn.touch(project, task, record=False)
        return APPLIED

    # --- rows, as the views of interface.md; times in microseconds since 1970 -----------------

    def task_labels(self) -> list[Row]:
        return [
            views.task_row(project, task)
            for project in self.projects.values()
            for task in project.tasks.values()
        ]

    def worker_quality(self) -> list[Row]:
        return [
            views.worker_row(project, worker)
            for project in self.projects.values()
            for worker in project.workers.values()
        ]

    def worker_updates(self) -> list[Row]:
        """Between which times `updated_at` of a worker may lie, as far as rounding decides."""
        return [
            {
                "project": project.name,
                "worker": worker.name,
                "earliest": worker.surely_updated_at,
                "latest": worker.touched_at,
            }
            for project in self.projects.values()
            for worker in project.workers.values()
        ]

    def worker_quality_history(self) -> list[Row]:
        return [dict(row) for project in self.projects.values() for row in project.history]

    def project_progress(self) -> list[Row]:
        return [views.progress_row(project) for project in self.projects.values()]

    def event_accounting(self) -> list[Row]:
        names = ("received", APPLIED, DUPLICATE, STALE, DEAD)
        return [
            {"topic": self.topics.topic, "partition": partition}
            | {name: counter[name] for name in names}
            for partition, counter in sorted(self.counters.items())
        ]

    def calibration(self) -> list[Row]:
        return [views.calibration_row(project) for project in self.projects.values()]

    def reconciliation_runs(self) -> list[Row]:
        return [
            views.run_row(project, run)
            for project in self.projects.values()
            for run in project.runs.values()
        ]

    def worker_confusion(self) -> list[Row]:
        return [
            {"project": project.name, "worker": worker.name} | row
            for project in self.projects.values()
            for worker in project.workers.values()
            for row in views.confusion_rows(project, worker.confusion)
        ]

    def cluster_confusion(self) -> list[Row]:
        return [
            {"project": project.name, "cluster": cluster} | row
            for project in self.projects.values()
            for cluster, confusion in project.cluster_confusion.items()
            for row in views.confusion_rows(project, confusion)
        ]


def check_partition(turn: Turn, project: Project) -> None:
    if project.partition != turn.record.partition:
        raise Rejected("wrong_partition", f"{project.name} is on {project.partition}")
