"""The plain fold: record after record, state and messages straight from the documents."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from . import model, rules, views
from .config import Config
from .decode import (
    Added,
    Blocked,
    Declared,
    Event,
    GoldSet,
    Message,
    Record,
    Retracted,
    Skipped,
    Stamp,
    Submitted,
    Unblocked,
    Withdrawn,
    compare,
    decode,
)
from .fields import Rejected
from .state import Pair, Project, Task, Vote, Worker
from .views import Row

__all__ = ["Message", "PlainFold", "Record"]

APPLIED, DUPLICATE, STALE, DEAD = "applied", "duplicates", "stale", "dead"


def timestamp(microseconds: int) -> str:
    instant = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)
    return instant.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def is_milestone(n: int) -> bool:
    """1, 2, 5, 10, 20, 50, 100, ..."""
    while n >= 10 and n % 10 == 0:
        n //= 10
    return n in (1, 2, 5)


def encoded(name: str) -> str:
    return name.replace("%", "%25").replace("/", "%2F")


def newest(new: Stamp, last: Stamp | None) -> Stamp:
    """What is remembered of two retractions: the newer, lacking fields from the other."""
    if last is None:
        return new
    return last.filled_from(new) if compare(new, last) == -1 else new.filled_from(last)


Key = TypeVar("Key")


class PlainFold:
    """Feed it every record of the log in order; then read rows and messages."""

    def __init__(
        self,
        topic: str = "annotations",
        group: str = "crowdresolve",
        resolved: str = "labels.resolved",
        dead: str = "annotations.dead",
    ) -> None:
        self.topic = topic
        self.group = group
        self.resolved = resolved
        self.dead = dead
        self.messages: list[Message] = []
        self.projects: dict[str, Project] = {}
        self.counters: dict[int, Counter[str]] = {}
        self._times: dict[int, int] = {}
        # Of the record at hand:
        self._record = Record(0, 0, 0, None)
        self._time = 0
        self._out: list[Message] = []

    def feed(self, record: Record) -> list[Message]:
        """Applies one record; the messages it causes, in order of sequence."""
        self._record, self._out = record, []
        self._time = max(self._times.get(record.partition, 0), record.timestamp_ms * 1000)
        self._times[record.partition] = self._time
        try:
            outcome = self._apply(decode(record))
        except Rejected as rejected:
            outcome = DEAD
            self._out.append(self._dead_letter(rejected))
        counter = self.counters.setdefault(record.partition, Counter())
        counter["received"] += 1
        counter[outcome] += 1
        self.messages += self._out
        return self._out

    # --- the rules of each kind: checks first, then changes -----------------------------------

    def _apply(self, event: Event) -> str:
        if isinstance(event, Declared):
            return self._declare(event.project, event.config)
        project = self.projects.get(event.project)
        if project is None:
            raise Rejected("unknown_project", event.project)
        self._check_partition(project)
        match event:
            case Submitted():
                return self._submit(project, event)
            case Skipped():
                return self._skip(project, event)
            case Retracted(task=task, worker=worker, annotation_id=None):
                assert task is not None
                assert worker is not None
                return self._retract(project, (task, worker), event.stamp)
            case Retracted(annotation_id=str(annotation_id)):
                return self._retract_id(project, annotation_id, event)
            case Added():
                return self._add(project, event)
            case Withdrawn():
                return self._withdraw(project, event.task)
            case GoldSet():
                return self._set_gold(project, event)
            case Blocked():
                return self._block(project, event.worker)
            case Unblocked():
                return self._unblock(project, event.worker)
        raise AssertionError(event)

    def _check_partition(self, project: Project) -> None:
        if project.partition != self._record.partition:
            raise Rejected("wrong_partition", f"{project.name} is on {project.partition}")

    def _check_class(self, project: Project, label: str) -> None:
        if label not in project.config.classes:
            raise Rejected("unknown_class", label)

    def _declare(self, name: str, config: Config) -> str:
        project = self.projects.get(name)
        if project is None:
            self.projects[name] = Project(name, self._record.partition, config)
            return APPLIED
        self._check_partition(project)
        if config == project.config:
            return DUPLICATE
        conflict = project.conflict(config)
        if conflict is not None:
            raise Rejected("project_conflict", conflict)
        project.configure(config)
        for task in project.tasks.values():
            self._touch(project, task, record=False)
        return APPLIED

    def _submit(self, project: Project, vote: Submitted) -> str:
        pair = (vote.task, vote.worker)
        self._check_class(project, vote.label)
        annotation_id = vote.annotation_id
        if annotation_id is not None:
            if project.owners.get(annotation_id, pair) != pair:
                raise Rejected("annotation_id_conflict", annotation_id)
            gone = project.id_retractions.get(annotation_id)
            if gone is not None and compare(vote.stamp, gone) != 1:
                return STALE
        gone = project.retractions.get(pair)
        if gone is not None and compare(vote.stamp, gone) in (-1, 0):
            return STALE
        present = project.present.get(pair)
        if present is not None:
            order = compare(vote.stamp, present.stamp)
            if order == -1:
                return STALE
            if order == 0 or (order is None and vote.label == present.label):
                return DUPLICATE

        task, worker = self._task(project, vote.task), self._worker(project, vote.worker)
        if present is not None:
            self._remove(project, present)
        p = model.vote_p(project.S(worker), len(worker.votes), project.config.worker_prior)
        new = Vote(task.name, worker.name, vote.label, vote.stamp, annotation_id, p)
        task.votes.append(new)
        worker.votes.append(new)
        worker.changed(self._time)
        project.present[pair] = new
        project.ever_voted.add(pair)
        project.skips.discard(pair)
        if annotation_id is not None:
            project.owners.setdefault(annotation_id, pair)
        if not worker.blocked:
            is_expert = worker.name in project.config.experts
            self._touch(project, task, expert=vote.label if is_expert else None)
        self._write_history(project, worker)
        return APPLIED

    def _skip(self, project: Project, event: Skipped) -> str:
        pair = (event.task, event.worker)
        outcome = self._retract(project, pair, event.stamp)
        if outcome == STALE or (outcome == DUPLICATE and pair in project.skips):
            return outcome
        project.skips.add(pair)
        return APPLIED

    def _retract(self, project: Project, pair: Pair, stamp: Stamp) -> str:
        present = project.present.get(pair)
        if present is not None:
            return self._retract_vote(project, present, stamp)
        outcome = self._remember(project.retractions, pair, stamp)
        if outcome == APPLIED:
            self._task(project, pair[0])
            self._worker(project, pair[1])
        return outcome

    def _retract_id(self, project: Project, annotation_id: str, event: Retracted) -> str:
        owner = project.owners.get(annotation_id)
        if owner is not None:
            if event.task not in (None, owner[0]) or event.worker not in (None, owner[1]):
                raise Rejected("annotation_id_conflict", annotation_id)
            present = project.present.get(owner)
            if present is not None and present.annotation_id == annotation_id:
                return self._retract_vote(project, present, event.stamp)
        return self._remember(project.id_retractions, annotation_id, event.stamp)

    def _retract_vote(self, project: Project, vote: Vote, stamp: Stamp) -> str:
        if compare(stamp, vote.stamp) == -1:
            return STALE
        pair = (vote.task, vote.worker)
        filled = stamp.filled_from(vote.stamp)
        project.retractions[pair] = newest(filled, project.retractions.get(pair))
        if vote.annotation_id is not None:
            last = project.id_retractions.get(vote.annotation_id)
            project.id_retractions[vote.annotation_id] = newest(filled, last)
        self._remove(project, vote)
        worker = project.workers[vote.worker]
        worker.changed(self._time)
        if not worker.blocked:
            self._touch(project, project.tasks[vote.task])
        return APPLIED

    def _remember(self, memory: dict[Key, Stamp], key: Key, stamp: Stamp) -> str:
        last = memory.get(key)
        if last is not None:
            order = compare(stamp, last)
            if order == -1:
                return STALE
            if order == 0 or stamp.filled_from(last) == last:
                return DUPLICATE
        memory[key] = newest(stamp, last)
        return APPLIED

    def _add(self, project: Project, event: Added) -> str:
        classes = project.config.classes
        if event.prior is not None and len(event.prior) != len(classes):
            raise Rejected("invalid_field", "prior has not one number per class")
        changed = event.task not in project.tasks
        touched = False
        task = self._task(project, event.task)
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
                task.prior, touched, new_prior = prior, True, True
        if touched:
            self._touch(project, task, record=new_prior)
        if not (changed or touched):
            return DUPLICATE
        task.updated_at = self._time
        return APPLIED

    def _withdraw(self, project: Project, name: str) -> str:
        task = self._task(project, name)
        if task.withdrawn:
            return DUPLICATE
        task.withdrawn = True
        task.updated_at = self._time
        return APPLIED

    def _set_gold(self, project: Project, event: GoldSet) -> str:
        if event.label is not None:
            self._check_class(project, event.label)
        known = project.tasks.get(event.task)
        if (None if known is None else known.gold) == event.label:
            return DUPLICATE
        task = self._task(project, event.task)
        task.gold = event.label
        self._touch(project, task)
        return APPLIED

    def _block(self, project: Project, name: str) -> str:
        worker = self._worker(project, name)
        if worker.blocked:
            return DUPLICATE
        self._set_blocked(project, worker, True)
        return APPLIED

    def _unblock(self, project: Project, name: str) -> str:
        worker = project.workers.get(name)
        if worker is None or not worker.blocked:
            return DUPLICATE
        self._set_blocked(project, worker, False)
        return APPLIED

    def _set_blocked(self, project: Project, worker: Worker, blocked: bool) -> None:
        worker.blocked = blocked
        worker.changed(self._time)
        voted = {vote.task for vote in worker.votes}
        for task in project.tasks.values():
            if task.name in voted:
                self._touch(project, task)

    # --- what the rules have in common --------------------------------------------------------

    def _task(self, project: Project, name: str) -> Task:
        if name not in project.tasks:
            task = project.tasks[name] = Task(name, self._time)
            project.refresh_mu(task, self._time)
            project.refresh_stated(task)
        return project.tasks[name]

    def _worker(self, project: Project, name: str) -> Worker:
        time = self._time
        return project.workers.setdefault(name, Worker(name, time, time, time))

    def _remove(self, project: Project, vote: Vote) -> None:
        project.tasks[vote.task].votes.remove(vote)
        project.workers[vote.worker].votes.remove(vote)
        del project.present[vote.task, vote.worker]

    def _touch(
        self, project: Project, task: Task, *, record: bool = True, expert: str | None = None
    ) -> None:
        """Records and b first, then the task is judged."""
        project.refresh_mu(task, self._time)
        if record:
            project.refresh_record(task)
        project.refresh_stated(task)
        task.updated_at = self._time
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
        task.resolved_at = None if reopened else self._time
        task.version += 1
        self._send(project, task, verdict)

    def _write_history(self, project: Project, worker: Worker) -> None:
        n = len(worker.votes)
        if is_milestone(n) and n not in worker.milestones:
            worker.milestones.add(n)
            row: Row = {"project": project.name, "worker": worker.name, "at": self._time}
            project.history.append(row | {"votes": n} | project.quality(worker))

    # --- messages -----------------------------------------------------------------------------

    def _send(self, project: Project, task: Task, verdict: rules.Verdict) -> None:
        record = self._record
        votes = len(project.counting(task))
        nothing_said = not votes and task.gold is None
        cause = {"topic": self.topic, "partition": record.partition, "offset": record.offset}
        value = {
            "type": verdict.type,
            "project": project.name,
            "task": task.name,
            "label": None if nothing_said else verdict.label,
            "confidence": task.stated[verdict.label],
            "probabilities": dict(task.stated),
            "votes": votes,
            "status": verdict.status,
            "algorithm": "fast_sbic",
            "version": task.version,
            "cause": cause,
        }
        sequence = len(self._out)
        headers = {
            "ce_specversion": "1.0",
            "ce_id": f"{self.topic}/{record.partition}/{record.offset}/{sequence}",
            "ce_type": verdict.type,
            "ce_source": f"/crowdresolve/{self.group}",
            "ce_time": timestamp(self._time),
            "content-type": "application/json",
        }
        self._out.append(
            Message(
                self.resolved,
                f"{encoded(project.name)}/{encoded(task.name)}".encode(),
                tuple((name, text.encode()) for name, text in headers.items()),
                value,
            )
        )

    def _dead_letter(self, rejected: Rejected) -> Message:
        record = self._record
        why = {
            "error-code": rejected.code,
            "error-message": str(rejected),
            "origin-topic": self.topic,
            "origin-partition": str(record.partition),
            "origin-offset": str(record.offset),
        }
        headers = tuple((name, text.encode(errors="replace")) for name, text in why.items())
        return Message(self.dead, record.key, record.headers + headers, record.value)

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
            {"topic": self.topic, "partition": partition} | {name: counter[name] for name in names}
            for partition, counter in sorted(self.counters.items())
        ]

    def calibration(self) -> list[Row]:
        return [views.calibration_row(project) for project in self.projects.values()]
