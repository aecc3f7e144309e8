"""One record at work: what the rules have in common."""

from __future__ import annotations

from . import messages, model, rules
from .events import Message, Record
from .fields import Rejected
from .messages import Topics
from .project import Project
from .state import Task, Vote, Worker
from .views import Row

APPLIED, DUPLICATE, STALE, DEAD = "applied", "duplicates", "stale", "dead"


def is_milestone(n: int) -> bool:
    """1, 2, 5, 10, 20, 50, 100, ..."""
    while n >= 10 and n % 10 == 0:
        n //= 10
    return n in (1, 2, 5)


def check_class(project: Project, label: str) -> None:
    if label not in project.config.classes:
        raise Rejected("unknown_class", label)


class Turn:
    def __init__(self, topics: Topics, record: Record, time: int) -> None:
        self.topics = topics
        self.record = record
        self.time = time  # of the partition
        self.out: list[Message] = []

    def task(self, project: Project, name: str) -> Task:
        if name not in project.tasks:
            task = project.tasks[name] = Task(name, self.time)
            project.refresh_mu(task, self.time)
            project.refresh_stated(task)
        return project.tasks[name]

    def worker(self, project: Project, name: str) -> Worker:
        time = self.time
        return project.workers.setdefault(name, Worker(name, time, time, time))

    def remove(self, project: Project, vote: Vote) -> None:
        project.tasks[vote.task].votes.remove(vote)
        project.workers[vote.worker].votes.remove(vote)
        del project.present[vote.task, vote.worker]

    def touch(
        self, project: Project, task: Task, *, record: bool = True, expert: str | None = None
    ) -> None:
        """Records and b first, then the task is judged."""
        project.refresh_mu(task, self.time)
        if record:
            project.refresh_record(task)
        project.refresh_stated(task)
        task.updated_at = self.time
        top = model.top_of(task.stated)
        verdict = rules.judge(
            status=task.status,
            label=task.label,
            gold=task.gold,
            top=top,
            conf=task.stated[top],
            n=len(project.counting(task)),
            limits=project.limits(task),
            expert=expert,
        )
        if verdict is None:
            return
        reopened = verdict.type == rules.REOPENED
        task.status = verdict.status
        task.label = None if reopened else verdict.label
        task.resolved_at = None if reopened else self.time
        task.version += 1
        self.say(messages.of_label(self.topics, self.record, project, task, verdict))

    def say(self, message: Message) -> None:
        """Sends it, with the headers that all but dead letters have."""
        self.out.append(
            messages.with_headers(self.topics, self.record, self.time, len(self.out), message)
        )

    def write_history(self, project: Project, worker: Worker) -> None:
        n = len(worker.votes)
        if is_milestone(n) and n not in worker.milestones:
            worker.milestones.add(n)
            row: Row = {"project": project.name, "worker": worker.name, "at": self.time}
            project.history.append(row | {"votes": n} | project.quality(worker))
