"""What is chosen is what looking at every task would choose, and finding it is no walk."""

from __future__ import annotations

import random
from math import log
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connector.engine.choosing import (
    ALL_SEEN,
    NO_OPEN_TASK,
    Choice,
    Chooser,
    Facts,
    Rules,
    Standing,
    margin,
    ranking,
)
from tests.engine.plain_chooser import PlainChooser, PlainTask

SEED = 0x5EED_1234_5678_9ABC


def facts_of(t: PlainTask) -> Facts:
    standing = Standing[t.standing.upper()]
    return Facts(standing, t.margin, t.votes, t.priority, t.limit, t.withdrawn)


def mixed(seed: int, policy: str, probes: str | int, skilled_after: int | None) -> None:
    """A random life of a project, each choice held against the plain chooser's."""
    rng = random.Random(seed)
    weight = log(2.0) if rng.random() < 0.8 else -0.3
    gold_rate = rng.choice([0.0, 0.3])
    rules = Rules(SEED, policy, weight, probes if policy != "uniform" else 0, gold_rate)
    rules = rules._replace(skilled_after=skilled_after)
    plain = PlainChooser(SEED, policy, weight, probes, gold_rate, skilled_after)
    chooser = Chooser(rules)
    workers = range(1, 6)
    given_out = dict.fromkeys(workers, 0)
    held: list[tuple[int, int]] = []
    # Few values, some nearly equal: ties and near ties of every kind.
    margins = [0.0, 0.0, 4e-10, 0.9e-9, 1.5e-9, 0.5, 0.5 + 3e-16, 1.25, 7.0]

    def put(task: int) -> None:
        t = plain.tasks.get(task) or PlainTask(task, "open", 0.0)
        t.standing = rng.choice(["open"] * 6 + ["resolved", "ambiguous", "gold"])
        t.margin = rng.choice(margins)
        t.votes = rng.randrange(4)
        t.priority = rng.choice([0.0, 0.0, 0.0, 1.5, -2.0])
        t.limit = rng.choice([None, None, 3])
        t.withdrawn = rng.random() < 0.1
        plain.tasks[task] = t
        chooser.put(task, facts_of(t))

    def lease(task: int, worker: int, by: int) -> None:
        plain.tasks[task].leases += by
        chooser.leased(task, by)
        (plain.seen.add if by > 0 else plain.seen.discard)((task, worker))
        (chooser.saw if by > 0 else chooser.unsaw)(task, worker)

    for step in range(150):
        action = rng.random()
        if action < 0.3 or not plain.tasks:
            put(rng.randrange(1, 40))
        elif action < 0.4:
            task, worker = rng.choice(list(plain.tasks)), rng.choice(workers)
            if (task, worker) not in held:
                plain.seen.add((task, worker))
                chooser.saw(task, worker)
        elif action < 0.5 and held:
            lease(*held.pop(rng.randrange(len(held))), -1)
        elif action < 0.55:
            chooser = rebuilt(plain, rules)
        else:
            worker = rng.choice(workers)
            if not chooser.knows(worker):
                chooser.meet(worker, {t for t, w in plain.seen if w == worker})
            k = given_out[worker] + 1
            skilled, expert = rng.random() < 0.5, rng.random() < 0.3
            want = plain.choose(worker, k, skilled, expert)
            assert chooser.choose(worker, k, skilled=skilled, expert=expert) == want, step
            if not isinstance(want, str):
                given_out[worker] = k
                held.append((want[0], worker))
                lease(want[0], worker, 1)


def rebuilt(plain: PlainChooser, rules: Rules) -> Chooser:
    """As after a restart."""
    chooser = Chooser(rules)
    chooser.fill(
        [(t.id, facts_of(t)) for t in plain.tasks.values()],
        {t.id: t.leases for t in plain.tasks.values() if t.leases},
    )
    return chooser


@pytest.mark.parametrize("policy", ["uncertainty", "uniform"])
@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    probes=st.sampled_from(["auto", 0, 3]),
    skilled_after=st.sampled_from([None, 0, 2]),
)
def test_an_index_chooses_what_looking_at_every_task_would(
    policy: str, seed: int, probes: str | int, skilled_after: int | None
) -> None:
    # A worker's own list is made after so many looks: with 1, nearly always.
    with patch.object(ranking, "LOOK", seed % 2 * 7 + 1):
        mixed(seed, policy, probes, skilled_after)


def steps_of(chooser: Chooser) -> int:
    return sum(ranking.steps for ranking in chooser._all)


@pytest.mark.parametrize("seen_first", ["equal", "lowest", "all"])
def test_a_long_past_costs_a_worker_a_few_comparisons(seen_first: str) -> None:
    """A hundred thousand seen tasks that lie before the answer, in every way they can."""
    n, past = 100_200, 100_000
    chooser = Chooser(Rules(SEED, probes=0))
    equal = seen_first == "equal"
    chooser.fill(
        [(i, Facts(Standing.OPEN, 1.0 if equal else i * 1e-3)) for i in range(1, n + 1)], {}
    )
    rules = chooser.rules
    if equal:
        # In the worker's own order: all that come first.
        begin = rules.worker_hash(1)
        order = sorted(range(1, n + 1), key=lambda t: (rules.task_hash(t) - begin) % 2**64)
        seen, unseen = order[:past], order[past:]
    else:
        last = n if seen_first == "all" else past
        seen, unseen = list(range(1, last + 1)), list(range(last + 1, n + 1))
    chooser.meet(1, seen)
    for place, want in enumerate(unseen[:100]):
        before = steps_of(chooser)
        choice = chooser.choose(1, place + 2)
        assert isinstance(choice, Choice)
        assert choice.task == want
        assert steps_of(chooser) - before < 200  # log2(100,000) is 17, and it is asked 3 times
        chooser.saw(want, 1)
        # Others go on labelling what this worker has seen.
        chooser.put(seen[place], Facts(Standing.OPEN, 0.5 if equal else 0.0001, votes=1))
    if seen_first == "all":
        before = steps_of(chooser)
        assert chooser.choose(1, 2) == ALL_SEEN
        assert steps_of(chooser) - before < 100


def test_a_crowd_that_takes_all_gets_each_task_once_and_in_an_order_of_its_own() -> None:
    chooser = Chooser(Rules(SEED, probes=0))
    chooser.fill([(i, Facts(Standing.OPEN, 0.0)) for i in range(1, 51)], {})
    orders = []
    for worker in (1, 2):
        chooser.meet(worker, ())
        taken = []
        while not isinstance(choice := chooser.choose(worker, 2), str):
            taken.append(choice.task)
            chooser.saw(choice.task, worker)
        assert choice == ALL_SEEN
        assert sorted(taken) == list(range(1, 51))
        orders.append(taken)
    assert orders[0] != orders[1]


def test_a_burst_of_workers_spreads_over_the_tasks() -> None:
    chooser = Chooser(Rules(SEED, probes=0))
    chooser.fill([(i, Facts(Standing.OPEN, 0.1 * i)) for i in range(1, 11)], {})
    tasks = []
    for worker in range(1, 8):
        chooser.meet(worker, ())
        choice = chooser.choose(worker, 2)
        assert isinstance(choice, Choice)
        chooser.saw(choice.task, worker)
        chooser.leased(choice.task)
        tasks.append(choice.task)
    # 0.1, ..., 0.7; the first with a lease stands at 0.1 + log 2 = 0.79.
    assert tasks == [1, 2, 3, 4, 5, 6, 7]


def test_without_tasks_there_is_no_open_task() -> None:
    chooser = Chooser(Rules(SEED))
    chooser.meet(1, ())
    assert chooser.choose(1, 1) == NO_OPEN_TASK
    chooser.put(1, Facts(Standing.GOLD, 0.0))
    assert chooser.choose(1, 1) == NO_OPEN_TASK  # gold only where there is something to do


def test_probes_come_early_and_then_ever_more_seldom() -> None:
    rules = Rules(SEED)
    assert [k for k in range(1, 400) if rules.is_probe(k)] == [1, 6, 11, 21, 41, 81, 161, 321]
    few = rules._replace(probes=3)
    assert [k for k in range(1, 400) if few.is_probe(k)] == [1, 2, 3]


def test_the_share_of_gold_is_that_of_the_rate() -> None:
    rules = Rules(SEED, gold_rate=0.05)
    drawn = sum(rules.is_gold(w, k) for w in range(1, 101) for k in range(1, 201))
    assert 850 < drawn < 1150  # of 20,000: 1,000, sd 31


def test_a_margin_is_the_gap_of_the_two_best_or_minus_the_expected_loss() -> None:
    assert margin("binary", [-0.5, 1.0]) == 1.5
    assert margin("categorical", [3.0, -1.0, 2.5, 0.0]) == 0.5
    assert margin("categorical", [2.0, 2.0, 0.0]) == 0.0
    # Best answer: the middle one, half a class away from the truth on average.
    assert margin("ordinal", [0.0] * 3, [0.25, 0.5, 0.25]) == -0.5
    assert margin("ordinal", [0.0] * 4, [0.5, 0.0, 0.0, 0.5]) == -1.5
    assert margin("ordinal", [0.0] * 3, [0.0, 0.0, 1.0]) == 0.0
