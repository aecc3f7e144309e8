"""Leases end on a quiet partition too, and a replay of the log sees it the same way."""

from __future__ import annotations

import itertools
import json
import threading
import time
from typing import Any

from connector.domain.errors import DependencyError
from connector.domain.records import TopicPartition
from connector.pipeline.consumer import Consumer
from connector.pipeline.timekeeper import VALUE, Timekeeper

from .world import ASSIGNED, TOPIC, World

P0 = TopicPartition(TOPIC, 0)
HOUR_US = 3_600_000_000

ASKED: list[Any] = [
    {"type": "project.declared", "project": "p", "kind": "binary", "classes": ["0", "1"]}
    | {"assign": {"lease_seconds": 60}},
    {"type": "task.added", "project": "p", "task": "t1"},
    {"type": "task.added", "project": "p", "task": "t2"},
    {"type": "worker.available", "project": "p", "worker": "w", "want": 2},
]


class Quiet:
    """A world in which somebody asked and vanished, and hours go by."""

    def __init__(self) -> None:
        self.world = World()
        self.sent = 0
        self.failures = 0
        self.now = 1_767_323_045_000_000

    def keeper(self) -> Timekeeper:
        return Timekeeper(self.send, lambda: self.now, self.world.clock.monotonic)

    def send(self, partition: TopicPartition) -> None:
        if self.failures:
            self.failures -= 1
            raise DependencyError("no broker")
        self.sent += 1
        self.world.broker.produce(TOPIC, VALUE, partition=partition.partition)

    def pass_(self, us: int) -> None:
        """On every clock there is."""
        self.now += us
        self.world.ticks = itertools.count(self.now, 1_000)
        self.world.clock.now += us / 1e6

    def turn(self, consumer: Consumer, turns: int = 4) -> None:
        for _ in range(turns):
            consumer.step(0.005)
            time.sleep(0.01)  # for the thread that sends
            self.world.clock.now += 0.5
        self.world.run(consumer)

    def said(self) -> list[tuple[str, str]]:
        values = [json.loads(r.value or b"") for r in self.world.broker.read(ASSIGNED)]
        return [(v["type"], v.get("reason", "")) for v in values]


EXPIRED = [("task.assigned", "")] * 2 + [("assignment.expired", "expired")] * 2


def test_leases_end_where_nothing_arrives() -> None:
    quiet = Quiet()
    quiet.world.send(ASKED)
    consumer = quiet.world.consumer(timekeeper=quiet.keeper())
    quiet.turn(consumer)
    assert quiet.sent == 0
    quiet.pass_(HOUR_US)
    quiet.turn(consumer, 8)
    assert quiet.said() == EXPIRED
    quiet.pass_(HOUR_US)
    quiet.turn(consumer, 8)
    assert quiet.sent == 1  # nothing is due any more
    quiet.world.assert_exact()
    consumer.close()


def test_a_service_that_was_away_meanwhile_ends_them_too() -> None:
    quiet = Quiet()
    quiet.world.send(ASKED)
    first = quiet.world.consumer(timekeeper=quiet.keeper())
    quiet.turn(first)
    first.finish()
    first.close()
    quiet.pass_(HOUR_US)
    second = quiet.world.consumer(timekeeper=quiet.keeper())
    quiet.turn(second, 12)
    assert quiet.said() == EXPIRED
    quiet.world.assert_exact()
    second.close()


def test_a_time_that_could_not_be_sent_is_sent_later() -> None:
    quiet = Quiet()
    quiet.world.send(ASKED)
    quiet.failures = 2
    consumer = quiet.world.consumer(timekeeper=quiet.keeper())
    quiet.turn(consumer)
    quiet.pass_(HOUR_US)
    quiet.turn(consumer, 20)
    assert quiet.failures == 0
    assert quiet.said() == EXPIRED
    consumer.close()


def test_a_broker_that_does_not_answer_has_one_time_waiting_for_it() -> None:
    quiet, answers, asked = Quiet(), threading.Event(), []

    def slow(partition: TopicPartition) -> None:
        asked.append(partition)
        answers.wait(10)

    keeper = Timekeeper(slow, lambda: quiet.now, quiet.world.clock.monotonic)
    for _ in range(20):
        keeper.tell({P0: quiet.now - 1})
    answers.set()
    time.sleep(0.3)  # any that waited would be sent now
    keeper.close()
    assert len(asked) == 1


def test_a_machine_whose_clock_runs_ahead_changes_nothing() -> None:
    """The record's time counts, and it is told again until that has come."""
    quiet = Quiet()
    quiet.world.send(ASKED)
    consumer = quiet.world.consumer(timekeeper=quiet.keeper())
    quiet.turn(consumer)
    quiet.now += HOUR_US
    quiet.turn(consumer, 8)
    assert quiet.sent > 1
    assert quiet.said() == EXPIRED[:2]
    quiet.world.assert_exact()
    consumer.close()


def test_the_same_time_twice_is_harmless() -> None:
    quiet = Quiet()
    quiet.world.send(ASKED)
    consumer = quiet.world.consumer()
    quiet.world.run(consumer)
    quiet.pass_(HOUR_US)
    quiet.send(P0)
    quiet.send(P0)
    quiet.world.run(consumer)
    assert quiet.said() == EXPIRED
    quiet.world.assert_exact()
    consumer.close()
