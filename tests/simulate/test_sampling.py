"""Uncertainty sampling, against the plainest way to do it."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

from aggregators import FastSBIC, SortedSBIC
from aggregators.streaming import TaskState
from connector.simulate.crowd import Setting, draw
from connector.simulate.estimates import Fast, Majority, Refitted, estimate
from connector.simulate.methods import make
from connector.simulate.sampling import sample

SMALL = Setting(tasks=30, labels_per_worker=6)


def margins(method: str, votes: list[tuple[int, int, int]]) -> list[float]:
    """How decided each task is after these votes, from the start."""
    if method == "majority":
        lead = [0.0] * 30
        for task, _, x in votes:
            lead[task] += 2 * x - 1
        return [abs(v) for v in lead]
    live = FastSBIC(alpha=4.0, beta=3.0, classes=[0, 1])
    for vote in votes:
        live.update(*vote)
    p = np.array([live.posterior(i) for i in range(30)])
    return [abs(v) for v in np.log(p[:, 1] / p[:, 0]).tolist()]


@pytest.mark.parametrize("method", ["majority", "fast_sbic"])
def test_every_choice_is_the_least_decided_task_that_is_new_to_the_worker(method: str) -> None:
    crowd = draw(SMALL, 5, "interleaved", 4)
    chosen = sample(crowd, SMALL, method, 0, 15, 4).task.tolist()
    votes: list[tuple[int, int, int]] = []
    for number, (task, worker) in enumerate(zip(chosen, crowd.arrivals.tolist(), strict=True)):
        had = {t for t, w, _ in votes if w == worker}
        assert task not in had
        margin = margins(method, votes)
        least = min(margin[t] for t in range(30) if t not in had)
        assert margin[task] <= least + 1e-7
        votes.append((task, worker, crowd.answer(number, task)))


def test_ties_are_broken_by_the_seed() -> None:
    crowd = draw(SMALL, 3, "interleaved", 0)
    one, same, other = (sample(crowd, SMALL, "majority", 0, 15, s).task for s in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)
    # At first all are equal: not one after the other, but in an order of their own.
    assert one[:30].tolist() != sorted(one[:30])


@pytest.mark.parametrize("probes", ["auto", 1])
def test_a_probe_is_the_most_decided_task(probes: Literal["auto"] | int) -> None:
    crowd = draw(SMALL, 6, "sessions", 2)
    chosen = sample(crowd, SMALL, "majority", probes, 15, 2).task.tolist()
    plain = sample(crowd, SMALL, "majority", 0, 15, 2).task.tolist()
    votes: list[tuple[int, int, int]] = []
    for number, (task, worker) in enumerate(zip(chosen, crowd.arrivals.tolist(), strict=True)):
        margin = margins("majority", votes)
        if number % 6 == 0:  # a worker's first
            assert margin[task] == max(margin)
        votes.append((task, worker, crowd.answer(number, task)))
    assert chosen != plain


def base() -> list[TaskState]:
    return [TaskState([0.0, 0.0]) for _ in range(30)]


@pytest.mark.parametrize("name", ["sorted_sbic", "one_coin_dawid_skene", "amf", "kos"])
def test_a_method_that_looks_at_all_votes_is_fitted_every_so_often(name: str) -> None:
    crowd = draw(SMALL, 5, "interleaved", 1)
    task = np.random.default_rng(0).permutation(np.repeat(np.arange(30), 5))
    x = crowd.answers(task)
    believed = estimate(name, base(), len(crowd.accuracy), SMALL, 50, 3)
    moved = [
        believed.vote(*vote)
        for vote in zip(task.tolist(), crowd.arrivals.tolist(), x.tolist(), strict=True)
    ]
    assert [n for n, m in enumerate(moved, 1) if len(m) == 30] == [50, 100, 150]
    model = make(name, SMALL, 3).fit(task, crowd.arrivals, x)
    for number, row in zip(model.tasks_, model.probas_, strict=True):
        m = np.array(believed.tasks[number].m)
        assert np.exp(m - np.logaddexp(*m)) == pytest.approx(row, abs=1e-9)


def test_between_two_fits_a_vote_weighs_by_what_is_believed_of_its_worker() -> None:
    tasks = base()
    believed = Refitted(tasks, 4, SMALL, lambda: SortedSBIC(classes=[0, 1]), 4)
    for worker in range(4):
        believed.vote(0, worker, 1)
    before = tasks[1].m[1] - tasks[1].m[0]
    believed.vote(1, 0, 1)
    p = (4.0 + tasks[0].mu[1]) / (7.0 + 1.0)
    assert before == 0.0
    assert tasks[1].m[1] - tasks[1].m[0] == pytest.approx(np.log(p / (1.0 - p)))


def test_each_method_has_its_own_kind_of_estimate() -> None:
    kinds = {n: type(estimate(n, base(), 5, SMALL, 9, 0)) for n in ("majority", "fast_sbic", "mc")}
    assert kinds == {"majority": Majority, "fast_sbic": Fast, "mc": Refitted}
