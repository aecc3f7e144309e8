"""DawidSkene and OneCoinDawidSkene against plain EM, and their figures on real data."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aggregators import DawidSkene, OneCoinDawidSkene

from .data import error, load
from .plain import Vote, softmax
from .test_fast_sbic import Data, datasets


def plain_em(
    votes: list[Vote], K: int, rounds: int, coin: bool, smoothing: float
) -> dict[str, list[float]]:
    """Dawid and Skene's equations with loops; ``coin``: one accuracy instead of a confusion."""
    tasks = list(dict.fromkeys(i for i, _, _ in votes))
    workers = list(dict.fromkeys(j for _, j, _ in votes))
    q: dict[str, list[float]] = {}
    for i in tasks:
        on = [x for h, _, x in votes if h == i]
        q[i] = [on.count(y) / len(on) for y in range(K)]
    for _ in range(rounds):
        rate: dict[tuple[str, int, int], float] = {}
        for j in workers:
            mine = [(i, x) for i, h, x in votes if h == j]
            right = math.fsum(q[i][x] for i, x in mine) / len(mine)
            right = min(max(right, 1e-6), 1 - 1e-6)
            for c in range(K):
                cell = [math.fsum(q[i][c] for i, x in mine if x == k) + smoothing for k in range(K)]
                for k in range(K):
                    full = cell[k] / sum(cell)
                    one = right if k == c else (1 - right) / (K - 1)
                    rate[j, c, k] = one if coin else full
        floor = 1e-6 / K if coin else 0.0
        extra = 0.0 if coin else smoothing
        shares = [max((sum(q[i][c] for i in tasks) + extra) / len(tasks), floor) for c in range(K)]
        prior = [v / sum(shares) for v in shares]
        q = {
            i: softmax(
                [
                    math.log(prior[c]) + sum(math.log(rate[j, c, x]) for h, j, x in votes if h == i)
                    for c in range(K)
                ]
            )
            for i in tasks
        }
    return q


@settings(max_examples=60, deadline=None)
@given(datasets(), st.booleans(), st.integers(1, 4))
def test_rounds_are_those_of_the_equations(data: Data, coin: bool, rounds: int) -> None:
    K, votes, _ = data
    task, worker, label = zip(*votes, strict=True)
    params: dict[str, Any] = {"n_iter": rounds, "tol": -1, "classes": range(K)}
    model = OneCoinDawidSkene(**params) if coin else DawidSkene(smoothing=0.01, **params)
    model.fit((task, worker, label))
    q = plain_em(votes, K, rounds, coin, 0.01)
    np.testing.assert_allclose(model.probas_, [q[i] for i in model.tasks_], atol=1e-8)


@settings(max_examples=60, deadline=None)
@given(datasets(), st.booleans(), st.sampled_from([None, "uniform"]))
def test_the_likelihood_never_falls(data: Data, coin: bool, prior: Any) -> None:
    K, votes, _ = data
    task, worker, label = zip(*votes, strict=True)
    params: dict[str, Any] = {"n_iter": 30, "tol": -1, "classes": range(K), "prior": prior}
    model = (
        OneCoinDawidSkene(alpha=2, beta=1.5, **params)
        if coin
        else DawidSkene(smoothing=1, **params)
    )
    history = model.fit((task, worker, label)).history_
    assert (np.diff(history) >= -1e-6 * (1 + abs(history[0]))).all()


def test_confusions_and_skills_agree() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 200)
    task, worker = np.divmod(np.arange(2000), 10)
    said = np.where(rng.random(2000) < 0.7, truth[task], rng.integers(0, 3, 2000))
    model = DawidSkene().fit(task, worker, said)
    assert model.confusions_.shape == (10, 3, 3)
    np.testing.assert_allclose(model.confusions_.sum(axis=2), 1.0)
    assert abs(model.skills_.mean() - 0.8) < 0.03
    assert model.converged_
    assert (model.labels_ == truth).mean() > 0.95


FIGURES: list[tuple[str, Any, float]] = [
    ("birds", DawidSkene(tol=-1), 0.111),
    ("product", DawidSkene(tol=-1), 0.061),
    ("sentiment", DawidSkene(tol=-1), 0.042),
    ("trec_task2_test", DawidSkene(tol=-1), 0.302),
    ("web", OneCoinDawidSkene(prior="uniform"), 0.165),
    ("birds", OneCoinDawidSkene(prior="uniform"), 0.279),
    ("rte", OneCoinDawidSkene(), 0.076),
    ("ducks", OneCoinDawidSkene(), 0.413),
    ("temp", OneCoinDawidSkene(), 0.062),
]


@pytest.mark.parametrize(("name", "model", "most"), FIGURES)
def test_errors_on_real_data_are_at_most_those_known(
    data_dir: Path, name: str, model: Any, most: float
) -> None:
    votes, gold = load(data_dir, name)
    assert error(model.fit(votes), gold) <= most
