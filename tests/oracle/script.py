"""A short way to write a log by hand and to ask the plain fold what came of it."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

from .assign import DEFAULT, Choices
from .fold import Message, PlainFold, Record

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Said:
    """The part of an outgoing label message that most tests look at."""

    type: str
    label: str
    status: str
    version: int


class Script:
    """One project `p` on partition 0, a record every second; fresh workers weigh 2/3 each."""

    def __init__(
        self,
        classes: str = "01",
        kind: str = "",
        choices: Choices | None = None,
        **sections: object,
    ) -> None:
        self.fold = PlainFold(choices=choices or DEFAULT)
        self.offset = 0
        self.outcome = ""  # how the last record was counted
        if classes:
            self.declare(classes, kind, **sections)

    # --- what happens; each returns the messages that it caused -------------------------------

    def send(
        self,
        value: object,
        *,
        partition: int = 0,
        seconds: float | None = None,
        headers: tuple[tuple[str, bytes | None], ...] = (),
        key: bytes | None = None,
    ) -> list[Message]:
        data = value if isinstance(value, bytes) or value is None else json.dumps(value).encode()
        at_ms = int(1000 * (self.offset if seconds is None else seconds))
        record = Record(partition, self.offset, at_ms, data, key, headers)
        self.offset += 1
        before = sum(self.fold.counters.values(), Counter[str]())
        messages = self.fold.feed(record)
        counted = sum(self.fold.counters.values(), Counter[str]()) - before
        (self.outcome,) = set(counted) - {"received"}
        return messages

    def event(self, type_: str, **fields: object) -> list[Said]:
        said = []
        for message in self.send({"type": type_, "project": "p"} | fields):
            if message.topic == "labels.resolved":
                value: Any = message.value
                names = ("type", "label", "status", "version")
                said.append(Said(*(value[name] for name in names)))
        return said

    def declare(self, classes: str = "01", kind: str = "", **sections: object) -> list[Said]:
        """A letter per class; without doubt, so that it can be computed by hand."""
        kind = kind or ("binary" if len(classes) == 2 else "categorical")
        resolve = sections.pop("resolve", {})
        assert isinstance(resolve, dict)
        sections["resolve"] = {"doubt": 0} | resolve
        return self.event("project.declared", kind=kind, classes=list(classes), **sections)

    def vote(self, task: str, worker: str, label: str, **fields: object) -> list[Said]:
        return self.event("annotation.submitted", task=task, worker=worker, label=label, **fields)

    def votes(self, task: str, labels: str, start: int = 1) -> list[Said]:
        """A vote per letter, each by a worker who has no other."""
        said: list[Said] = []
        for number, label in enumerate(labels, start):
            said += self.vote(task, f"{task}-w{number}", label)
        return said

    def retract(self, task: str, worker: str, **fields: object) -> list[Said]:
        return self.event("annotation.retracted", task=task, worker=worker, **fields)

    def retract_id(self, annotation_id: str, **fields: object) -> list[Said]:
        return self.event("annotation.retracted", annotation_id=annotation_id, **fields)

    def skip(self, task: str, worker: str, **fields: object) -> list[Said]:
        return self.event("annotation.skipped", task=task, worker=worker, **fields)

    def gold(self, task: str, label: str | None) -> list[Said]:
        return self.event("task.gold", task=task, label=label)

    def block(self, worker: str) -> list[Said]:
        return self.event("worker.blocked", worker=worker)

    def unblock(self, worker: str) -> list[Said]:
        return self.event("worker.unblocked", worker=worker)

    # --- assignment ---------------------------------------------------------------------------

    def add(self, *tasks: str, **fields: object) -> None:
        for task in tasks:
            self.event("task.added", task=task, **fields)

    def ask(self, worker: str, want: int | None = None, seconds: float | None = None) -> list[str]:
        """The tasks that the worker gets, or the reason why there is none."""
        fields = {"type": "worker.available", "project": "p", "worker": worker}
        messages = self.send(fields if want is None else fields | {"want": want}, seconds=seconds)
        values: list[Any] = [m.value for m in messages if m.topic == "tasks.assigned"]
        return [
            value["task"] if value["type"] == "task.assigned" else f"none: {value['reason']}"
            for value in values
            if value["type"] != "assignment.expired"
        ]

    def told(self) -> list[tuple[str, str, str]]:
        """All that went out to workers so far: worker, task or "", type or reason."""
        values: list[Any] = [m.value for m in self.fold.messages if m.topic == "tasks.assigned"]
        return [
            (value["worker"], value.get("task", ""), value.get("reason", "assigned"))
            for value in values
        ]

    def held(self) -> set[tuple[str, str]]:
        """Task and worker of the open leases."""
        return set(self.fold.projects["p"].leases)

    # --- reconciliation -----------------------------------------------------------------------

    def part(self, run: str, number: int = 0, **found: object) -> list[Said]:
        return self.event("reconciliation.part", run=run, part=number, **found)

    def completed(self, run: str, upto: int, parts: int = 1, **fields: object) -> list[Said]:
        fields = {"algorithm": "sorted_sbic", "version": "1", "seed": 0} | fields
        return self.event("reconciliation.completed", run=run, upto=upto, parts=parts, **fields)

    def run(
        self,
        bases: dict[str, list[float]],
        p: dict[str, float] | None = None,
        *,
        name: str = "r",
        upto: int | None = None,
        **completed: Any,
    ) -> list[Said]:
        """A run of one part over the log so far, or over a snapshot from before `upto`."""
        upto = self.offset if upto is None else upto
        tasks = [{"task": task, "base": base} for task, base in bases.items()]
        workers = [
            {"worker": worker, "p": share, "flag": None, "flag_reason": None}
            for worker, share in (p or {}).items()
        ]
        self.part(name, 0, tasks=tasks)
        self.part(name, 1, workers=workers)
        return self.completed(name, upto, 2, **completed)

    # --- what came of it ----------------------------------------------------------------------

    def task(self, name: str) -> dict[str, Any]:
        return next(row for row in self.fold.task_labels() if row["task"] == name)

    def run_row(self, name: str = "r") -> dict[str, Any]:
        return next(row for row in self.fold.reconciliation_runs() if row["run"] == name)

    def worker(self, name: str) -> dict[str, Any]:
        return next(row for row in self.fold.worker_quality() if row["worker"] == name)

    def votes_on(self, task: str) -> dict[str, str]:
        """Present votes, in order of arrival."""
        votes = self.fold.projects["p"].tasks[task].votes
        return {vote.worker: vote.label for vote in votes}

    def code(self) -> str:
        """The code of the last dead letter."""
        message = self.fold.messages[-1]
        assert message.topic == "annotations.dead"
        return (dict(message.headers)["error-code"] or b"").decode()
