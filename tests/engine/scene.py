"""A project whose log is written record by record, with runs made by hand."""

from __future__ import annotations

import json
from typing import Any

from connector.adapters.memory.store import MemoryStore
from connector.domain.records import Outgoing, Record, TopicPartition
from connector.domain.rows import DeadRow, PairRow, RunRow, TaskRow, WorkerRow
from connector.engine.messages import Topics
from connector.engine.shard import Shard
from connector.pipeline.batch import process

P0 = TopicPartition("annotations", 0)
MINUTE_US = 60_000_000


class Scene:
    """One partition; a record a minute unless it is told otherwise.

    Attributes:
        anew: read everything anew from the store before each record.
    """

    def __init__(self, anew: bool = False, **declared: Any) -> None:
        self.store = MemoryStore()
        self.anew = anew
        self.now = 1_767_323_045_000_000
        self.offset = 0
        self.messages: list[Outgoing] = []
        self.shard = Shard(P0, None, Topics())
        self.declared = {
            "kind": "binary",
            "classes": ["0", "1"],
            "resolve": {"confidence": 0.9, "min_labels": 1},
            **declared,
        }
        self.send("project.declared", **self.declared)

    def send(self, kind: str, /, **fields: Any) -> list[dict[str, Any]]:
        """One record; the messages on labels that it causes."""
        self.now += MINUTE_US
        value = json.dumps({"type": kind, "project": "p", **fields}).encode()
        if self.anew:
            self.shard = Shard(P0, self.store.progress(P0), Topics())
        made = process(self.store, self.shard, [Record(*P0, self.offset, self.now, None, value)])
        if made is None:
            made = [m for m in self.store.outbox(P0, (0, 0), 10**6) if m.offset == self.offset]  # type: ignore[arg-type]
        self.messages += made
        self.offset += 1
        return [json.loads(m.value or b"") for m in made if m.topic == "labels.resolved"]

    def vote(self, task: str, worker: str, label: str, **fields: Any) -> list[dict[str, Any]]:
        return self.send("annotation.submitted", task=task, worker=worker, label=label, **fields)

    def run(
        self,
        name: str,
        bases: dict[str, list[float]],
        p: dict[str, float],
        *,
        upto: int | None = None,
        **fields: Any,
    ) -> list[dict[str, Any]]:
        """A whole run, tasks in two parts; the messages that its end causes."""
        upto = self.offset if upto is None else upto
        tasks = [{"task": t, "base": b} for t, b in bases.items()]
        workers = [{"worker": w, "p": v} for w, v in p.items()]
        parts: list[dict[str, Any]] = [
            {"tasks": tasks[::2]},
            {"tasks": tasks[1::2]},
            {"workers": workers},
        ]
        for number, part in enumerate(parts):
            self.send("reconciliation.part", run=name, part=number, **part)
        end = {"algorithm": "sorted_sbic", "version": "1", "seed": 0, "parameters": {}}
        return self.send(
            "reconciliation.completed",
            run=name,
            **{"upto": upto, "parts": len(parts), "summary": {}, **end, **fields},
        )

    def task(self, name: str) -> TaskRow:
        found: list[TaskRow] = self.store.table(TaskRow)
        return next(row for row in found if row.name == name)

    def worker(self, name: str) -> WorkerRow:
        found: list[WorkerRow] = self.store.table(WorkerRow)
        return next(row for row in found if row.name == name)

    def pairs(self, task: str) -> list[PairRow]:
        id_ = self.task(task).id
        return [row for row in self.store.table(PairRow) if row.task_id == id_]

    def runs(self) -> dict[str, RunRow]:
        return {row.run: row for row in self.store.table(RunRow)}

    def dead(self) -> list[str]:
        return [row.code for row in self.store.table(DeadRow)]

    def shown(self, task: str) -> tuple[Any, ...]:
        """Label, confidence, status, algorithm, votes of the view."""
        row = next(r for r in self.store.view("task_labels") if r["task"] == task)
        return tuple(row[c] for c in ("label", "confidence", "status", "algorithm", "votes"))
