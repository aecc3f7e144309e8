"""Clients of workers who ask, answer, skip and vanish, on a real broker."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from kafka import KafkaConsumer, TopicPartition

from .crowd import encoded
from .deployment import PATIENCE_S, Deployment


class Askers:
    """So many clients; each asks, waits for the answer, and does something with it or nothing.

    Attributes:
        fates: what the clients did with their tasks.
    """

    def __init__(self, d: Deployment, project: str, clients: int, seed: int, idle_s: float) -> None:
        self._d = d
        self._project = project
        self._rng = random.Random(seed)
        self._idle_s = idle_s
        # When each asks (again), whatever has become of the last answer.
        self._asks_at = {f"w{i}": 0.0 for i in range(clients)}
        self.fates: Counter[str] = Counter()

    def work(self, done: Callable[[], bool]) -> None:
        """Until `done` says so, which is asked now and then."""
        topic = self._d.assigned
        consumer = KafkaConsumer(
            bootstrap_servers=self._d.bootstrap,
            isolation_level="read_committed",
            auto_offset_reset="earliest",
            enable_auto_commit=False,
        )
        try:
            consumer.assign([TopicPartition(topic, 0)])
            until = time.monotonic() + 2 * PATIENCE_S
            while not done():
                assert time.monotonic() < until, f"not done: {self._d.rows('project_progress')}"
                out = self._asking()
                for records in consumer.poll(200).values():
                    for record in records:
                        out += self._answered(json.loads(record.value))
                self._d.send(out)
        finally:
            consumer.close()

    def _asking(self) -> list[bytes]:
        now = time.monotonic()
        due = [worker for worker, at in self._asks_at.items() if at <= now]
        for worker in due:
            self._asks_at[worker] = now + self._idle_s  # nobody waits for ever
        return [
            self._event("worker.available", worker=worker, want=self._rng.choice((1, 1, 2)))
            for worker in due
        ]

    def _answered(self, message: dict[str, Any]) -> list[bytes]:
        worker = message["worker"]
        if message["type"] == "assignment.none":
            self._asks_at[worker] = time.monotonic() + 0.3
            return []
        if message["type"] != "task.assigned":
            return []
        about = {"task": message["task"], "worker": worker}
        fate = self._rng.choices(["answers", "skips", "vanishes"], [80, 8, 12])[0]
        if datetime.fromisoformat(message["expires_at"]) < datetime.now(UTC):
            fate = "comes too late"
        self.fates[fate] += 1
        if fate == "answers":
            self._asks_at[worker] = time.monotonic()
            right = int(message["task"][1:]) % 2
            label = right if self._rng.random() < 0.85 else 1 - right
            return [self._event("annotation.submitted", label=str(label), **about)]
        if fate == "skips":
            self._asks_at[worker] = time.monotonic()
            return [self._event("annotation.skipped", **about)]
        return []

    def _event(self, kind: str, **fields: Any) -> bytes:
        return encoded(type=kind, project=self._project, **fields)
