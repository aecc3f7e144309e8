"""A crowd that answers, and one that asks."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from connector.domain.decode import decode
from connector.simulate.asking import Asking
from connector.simulate.errors import Misused
from connector.simulate.people import People


def crowd(tasks: int = 20, workers: int = 8, seed: int = 0) -> People:
    return People("sim", tasks, workers, 4.0, 2.0, seed)


def test_an_answer_does_not_depend_on_when_it_is_asked_for() -> None:
    one, other = crowd(), crowd()
    pairs = [(t, w) for t in one.tasks for w in one.workers]
    said = {pair: one.answer(*pair) for pair in pairs}
    assert {pair: other.answer(*pair) for pair in reversed(pairs)} == said
    assert {pair: crowd(seed=1).answer(*pair) for pair in pairs} != said


def test_people_are_right_as_often_as_their_accuracy_says() -> None:
    people = crowd(2000, 4, 5)
    for worker in people.workers:
        right = sum(people.answer(t, worker) == people.truth[t] for t in people.tasks)
        assert right / 2000 == pytest.approx(people.accuracy[worker], abs=0.04)


def test_every_task_gets_as_many_votes_by_different_workers() -> None:
    votes = [json.loads(v) for v in crowd().votes(5, 1)]
    assert Counter(v["task"] for v in votes) == dict.fromkeys(crowd().tasks, 5)
    assert len({(v["task"], v["worker"]) for v in votes}) == 100
    with pytest.raises(Misused, match="need as many workers"):
        list(crowd().votes(9, 1))


class Service:
    """Assigns each worker every task once, in order; then there is none."""

    def __init__(self, people: People) -> None:
        self.people = people
        self.given: Counter[str] = Counter()
        self.heard: Counter[str] = Counter()

    def answer(self, event: bytes) -> list[bytes]:
        decode(event)  # it is an event of the contract
        e: dict[str, Any] = json.loads(event)
        self.heard[e["type"]] += 1
        if e["type"] != "worker.available":
            return []
        worker, number = e["worker"], self.given[e["worker"]]
        self.given[worker] += 1
        message = {"project": "sim", "worker": worker}
        if number == len(self.people.tasks):
            return [
                json.dumps(message | {"type": "assignment.none", "reason": "all_seen"}).encode()
            ]
        task = self.people.tasks[number]
        message |= {"type": "task.assigned", "task": task, "lease": f"{worker}/{number}"}
        sent = json.dumps(message).encode()
        return [sent, sent]  # a message may come twice


def conversation(people: People, skips: float) -> tuple[Asking, Service]:
    asking, service = Asking(people, skips, 0), Service(people)
    waiting = list(asking.begin())
    while waiting:
        for message in service.answer(waiting.pop(0)):
            waiting += asking.hear(message)
    return asking, service


def test_everybody_asks_until_there_is_nothing_left() -> None:
    asking, service = conversation(crowd(), 0.0)
    assert not asking.left
    assert asking.ended == {"all_seen": 8}
    assert (asking.assigned, asking.votes, asking.skipped) == (160, 160, 0)
    assert asking.repeated == []
    assert service.heard == {
        "task.added": 20,
        "annotation.submitted": 160,
        "worker.available": 8 + 160,
    }


def test_some_assignments_are_skipped() -> None:
    asking, service = conversation(crowd(), 0.3)
    assert asking.votes + asking.skipped == asking.assigned == 160
    assert 25 < asking.skipped < 75
    assert service.heard["annotation.skipped"] == asking.skipped


def test_a_task_given_twice_is_noted_and_other_projects_are_not_heard() -> None:
    asking = Asking(crowd(), 0.0, 0)
    given = {"type": "task.assigned", "project": "sim", "worker": "w1", "task": "t01"}
    for lease in ("a", "b"):
        assert len(list(asking.hear(json.dumps(given | {"lease": lease}).encode()))) == 2
    assert asking.repeated == [("t01", "w1")]
    other = given | {"project": "other", "lease": "c"}
    assert list(asking.hear(json.dumps(other).encode())) == []
    expired = {"type": "assignment.expired", "project": "sim", "worker": "w1", "task": "t01"}
    assert list(asking.hear(json.dumps(expired | {"lease": "a"}).encode())) == []
