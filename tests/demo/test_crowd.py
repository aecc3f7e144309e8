"""The simulated crowd, and what the usual way would cost with it."""

from __future__ import annotations

import json
from math import comb

import pytest

from connector.demo.crowd import CLASSES, Crowd
from connector.demo.majority import labels_needed, majority_accuracy
from connector.demo.platform import AT_A_TIME, Platform


def test_the_seed_decides_everything() -> None:
    one, same, other = Crowd(50, 40, 7), Crowd(50, 40, 7), Crowd(50, 40, 8)
    assert one.people == same.people
    assert one.truth == same.truth
    answers = [[c.answer(p, t) for p in range(40) for t in range(50)] for c in (one, same, other)]
    assert answers[0] == answers[1] != answers[2]
    assert one.truth != other.truth


def test_a_crowd_of_forty_has_a_few_spammers_and_one_adversary() -> None:
    kinds = [p.kind for p in Crowd(10, 40, 0).people]
    assert (kinds.count("spammer"), kinds.count("adversary")) == (3, 1)
    assert len({p.name for p in Crowd(10, 40, 0).people}) == 40
    assert [p.kind for p in Crowd(10, 2, 0).people] == ["worker", "worker"]


def test_people_are_right_as_often_as_their_skill_says() -> None:
    crowd = Crowd(4000, 40, 3)
    for i, person in enumerate(crowd.people):
        right = sum(crowd.answer(i, t) == crowd.truth[name] for t, name in enumerate(crowd.tasks))
        assert right / 4000 == pytest.approx(person.skill, abs=0.03)


def test_majority_s_accuracy_is_the_binomial_where_all_are_equal() -> None:
    p, people = 0.7, 9
    found = majority_accuracy([p] * people, seed=1, tasks=100_000)
    for n in range(1, people + 1):
        chance = [comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]
        exact = sum(c for k, c in enumerate(chance) if 2 * k > n)
        exact += 0.5 * sum(c for k, c in enumerate(chance) if 2 * k == n)
        assert found[n - 1] == pytest.approx(exact, abs=0.006)


def test_the_labels_needed_are_the_fewest_that_are_accurate_enough() -> None:
    assert labels_needed(0.9, [0.7, 0.7, 0.91, 0.9]) == 3
    assert labels_needed(0.95, [0.7, 0.9]) is None


def resolution(task: str, kind: str = "resolved") -> bytes:
    fields = {"type": f"label.{kind}", "task": task, "label": CLASSES[0], "confidence": 0.97}
    return json.dumps(fields | {"votes": 3, "status": "confident"}).encode()


def test_the_platform_asks_for_labels_of_undecided_tasks_alone() -> None:
    platform = Platform(Crowd(3, 5, 0), 0)
    platform.hear(resolution("t1"))
    given = [json.loads(v) for v in iter(platform.next_vote, None)]
    assert {v["task"] for v in given} == {"t2", "t3"}
    assert len(given) == platform.sent == 2 * 5  # nobody twice on one task
    platform.hear(resolution("t1", "reopened"))
    assert platform.resolved == 0
    assert json.loads(platform.next_vote() or b"")["task"] == "t1"
    for task in ("t1", "t2", "t3"):
        platform.hear(resolution(task))
    assert platform.finished
    assert platform.next_vote() is None


def test_the_platform_works_on_some_tasks_at_once() -> None:
    platform = Platform(Crowd(500, 40, 0), 0)
    tasks = {json.loads(platform.next_vote() or b"")["task"] for _ in range(10 * AT_A_TIME)}
    assert len(tasks) == AT_A_TIME
