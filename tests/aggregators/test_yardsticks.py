"""The methods that the papers compare with, against plain forms and exact posteriors."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.special import betaln

from aggregators import AMF, GLAD, KOS, MC, OME, ORDMIX, MajorityVote, TriangularEstimation, Wawa
from aggregators.kos import messages
from aggregators.ordmix import log_answers
from aggregators.triangular import Agreements, reliabilities
from aggregators.votes import read_votes

from .data import classes, error, load
from .plain import softmax
from .synthetic import one_coin, ordinal
from .test_fast_sbic import Data, datasets


@settings(max_examples=60, deadline=None)
@given(datasets())
def test_amf_is_the_em_update_with_the_posterior_mean(data: Data) -> None:
    K, votes, prior = data
    task, worker, label = zip(*votes, strict=True)
    model = AMF(classes=range(K), prior=prior, n_iter=3, tol=-1).fit((task, worker, label))
    names = list(dict.fromkeys(task))
    q = {}
    for i in names:
        on = [x for h, _, x in votes if h == i]
        q[i] = [on.count(y) / len(on) for y in range(K)]
    for _ in range(3):
        p = {}
        for j in set(worker):
            mine = [q[i][x] for i, h, x in votes if h == j]
            p[j] = (sum(mine) + 2) / (len(mine) + 3)
        new = {}
        for i in names:
            logs = [math.log((prior or [1 / K] * K)[c]) for c in range(K)]
            for h, j, x in votes:
                if h == i:
                    for c in range(K):
                        logs[c] += math.log(p[j] if c == x else (1 - p[j]) / (K - 1))
            new[i] = softmax(logs)
        q = new
    np.testing.assert_allclose(model.probas_, [q[i] for i in model.tasks_], atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(datasets())
def test_kos_passes_the_messages_of_the_algorithm(data: Data) -> None:
    _, votes, _ = data
    rows = [(i, j, x % 2) for i, j, x in votes]
    read = read_votes(tuple(zip(*rows, strict=True)), classes=[0, 1])
    first = np.asarray(np.random.default_rng(0).normal(1, 1, len(rows)))
    sign = {(i, j): 2 * x - 1 for i, j, x in rows}
    y = {(i, j): first[v] for v, (i, j, _) in enumerate(rows)}
    for _ in range(2):
        x = {
            (i, j): sum(sign[i, k] * y[i, k] for h, k in sign if h == i and k != j) for i, j in sign
        }
        y = {
            (i, j): sum(sign[h, j] * x[h, j] for h, k in sign if k == j and h != i) for i, j in sign
        }
    expected = np.array([sum(sign[i, j] * y[i, j] for h, j in sign if h == i) for i in read.tasks])
    found = messages(read, np.asarray(2.0 * read.label - 1.0, dtype=np.float64), first, 2)
    # equal up to the positive factor that keeps messages from growing
    size = np.abs(expected).max()
    if size > 1e-6:
        np.testing.assert_allclose(found / np.abs(found).max(), expected / size, atol=1e-6)
    else:
        np.testing.assert_allclose(found, 0.0, atol=1e-6)


def test_kos_without_any_message_is_a_tie_not_an_error() -> None:
    model = KOS().fit([1, 2], ["a", "b"], [0, 1])
    np.testing.assert_allclose(model.probas_, 0.5)


def test_mc_finds_the_exact_posterior() -> None:
    """By enumeration of all classes of six tasks, accuracies integrated out."""
    K, alpha, beta = 3, 2.0, 1.0
    task, worker, label, _ = one_coin(K, tasks=6, workers=5, per_task=3, seed=4)
    read = read_votes(task, worker, label, classes=range(K))
    prior = np.array([0.5, 0.3, 0.2])
    exact = np.zeros((6, K))
    for y in itertools.product(range(K), repeat=6):
        right = np.zeros(read.N)
        np.add.at(right, read.worker, read.label == np.array(y)[read.task])
        wrong = read.per_worker() - right
        log_p = np.log(prior[list(y)]).sum() - wrong.sum() * math.log(K - 1)
        log_p += (betaln(right + alpha, wrong + beta) - betaln(alpha, beta)).sum()
        exact[np.arange(6), list(y)] += math.exp(log_p)
    exact /= exact.sum(axis=1, keepdims=True)
    model = MC(classes=range(K), prior=prior, n_samples=20_000, n_jobs=2)
    np.testing.assert_allclose(model.fit(task, worker, label).probas_, exact, atol=0.01)


@pytest.mark.parametrize("theta", [[0.9, 0.6, 0.3, -0.4], [0.2, 0.2, 0.8, 0.8, 0.5]])
def test_triangles_recover_reliabilities_from_exact_agreements(theta: list[float]) -> None:
    C = np.outer(theta, theta)
    np.fill_diagonal(C, 0.0)

    class Exact(Agreements):
        def __init__(self) -> None:
            self.N = len(theta)

        def rows(self, first: int, last: int) -> Any:
            return C[first:last].copy()

    np.testing.assert_allclose(reliabilities(Exact()), theta)


@pytest.mark.parametrize("K", [2, 4])
def test_agreements_estimate_products_of_reliabilities(K: int) -> None:
    random = np.random.default_rng(0)
    p = np.array([0.9, 0.7, 0.65])
    truth = random.integers(0, K, 40_000)
    task, worker = np.repeat(np.arange(40_000), 3), np.tile(np.arange(3), 40_000)
    wrong = (truth[task] + random.integers(1, K, len(task))) % K
    label = np.where(random.random(len(task)) < p[worker], truth[task], wrong)
    theta = (K * p - 1) / (K - 1)
    C = Agreements(read_votes(task, worker, label, classes=range(K)), 1).rows(0, 3)
    expected = np.outer(theta, theta)
    np.fill_diagonal(expected, 0.0)
    np.testing.assert_allclose(C, expected, atol=0.02)
    model = TriangularEstimation(classes=range(K)).fit(task, worker, label)
    np.testing.assert_allclose(model.skills_, p, atol=0.03)


def test_wawa_by_hand() -> None:
    task = [1, 1, 1, 2, 2, 3, 3]
    worker = ["a", "b", "c", "a", "b", "b", "c"]
    label = ["x", "x", "y", "x", "y", "y", "y"]
    model = Wawa().fit(task, worker, label)
    # majority: 1 -> x, 2 -> a tie (half to each), 3 -> y
    np.testing.assert_allclose(model.skills_, [(1 + 0.5) / 2, (1 + 0.5 + 1) / 3, (0 + 1) / 2])
    a, b, c = model.skills_
    np.testing.assert_allclose(model.probas_[0], [(a + b) / (a + b + c), c / (a + b + c)])
    np.testing.assert_allclose(model.probas_[1], [a / (a + b), b / (a + b)])


def test_the_gradient_of_glad_is_that_of_its_objective() -> None:
    votes = read_votes(*one_coin(3, tasks=10, workers=6, per_task=4, seed=1)[:3])
    random = np.random.default_rng(0)
    probas = random.dirichlet(np.ones(3), votes.M)
    value = GLAD()._objective(votes, probas)
    at = random.normal(1, 1, votes.N + votes.M)
    _, gradient = value(at)
    for d in range(len(at)):
        step = np.eye(len(at))[d] * 1e-6
        numeric = (value(at + step)[0] - value(at - step)[0]) / 2e-6
        assert gradient[d] == pytest.approx(numeric, abs=1e-4)


@pytest.mark.parametrize("prior", ["uniform", "learned"])
@pytest.mark.parametrize("cls", [GLAD, OME, ORDMIX])
def test_the_objective_never_falls(cls: Any, prior: str) -> None:
    votes = ordinal(4, tasks=80, workers=30, per_task=5, seed=3)[:3]
    model = cls(n_iter=25, tol=-1, prior=prior, classes=range(4)).fit(*votes)
    history = model.elbo_history_ if cls is ORDMIX else model.history_
    assert len(history) == 25
    assert (np.diff(history) >= -1e-7 * abs(history[0])).all()


@pytest.mark.parametrize("m", [2, 5])
def test_ordmix_answers_are_distributions_peaked_at_the_truth(m: int) -> None:
    p = np.exp(log_answers(m))
    np.testing.assert_allclose(p.sum(axis=3), 1.0)
    assert (np.einsum("adcc->adc", p) >= p.max(axis=3) - 1e-12).all() or m > 2


@pytest.mark.parametrize("cls", [AMF, KOS, MC, TriangularEstimation, GLAD, OME, ORDMIX, Wawa])
def test_a_crowd_of_good_workers_is_read_as_well_as_by_the_majority(cls: Any) -> None:
    task, worker, label, truth = one_coin(2, tasks=400, workers=30, per_task=9, seed=5)
    wrong = [
        (model.fit(task, worker, label).labels_ != truth[np.array(model.tasks_)]).mean()
        for model in (cls(), MajorityVote())
    ]
    assert wrong[0] <= wrong[1] + 0.005


def test_abilities_and_difficulties_follow_what_made_the_votes() -> None:
    random = np.random.default_rng(2)
    ability, ease = random.normal(1, 0.7, 40), random.normal(1, 0.7, 500)
    truth = random.integers(0, 2, 500)
    task = np.repeat(np.arange(500), 20)
    worker = np.concatenate([random.choice(40, 20, replace=False) for _ in range(500)])
    right = random.random(len(task)) < 1 / (1 + np.exp(-ability[worker] * np.exp(ease[task])))
    model = GLAD().fit(task, worker, np.where(right, truth[task], 1 - truth[task]))
    found = dict(zip(model.workers_, model.abilities_, strict=True))
    assert np.corrcoef([found[j] for j in range(40)], ability)[0, 1] > 0.9
    assert np.corrcoef(model.ease_, ease)[0, 1] > 0.4


# SBIC paper, Table 2 (AMF; triangular estimation; KOS where its spammer-hammer prior holds), the
# published figure of OME on web, and what algorithms.md measured for GLAD.
FIGURES: list[tuple[str, Any, float, float]] = [
    ("birds", AMF(), 0.278, 0.002),
    ("ducks", AMF(), 0.412, 0.002),
    ("rte", AMF(), 0.075, 0.002),
    ("temp", AMF(), 0.061, 0.002),
    ("birds", KOS(), 0.278, 0.015),
    ("ducks", KOS(), 0.396, 0.015),
    ("ducks", MC(), 0.412, 0.005),
    ("birds", TriangularEstimation(), 0.194, 0.02),
    ("ducks", TriangularEstimation(), 0.408, 0.01),
    ("rte", TriangularEstimation(), 0.257, 0.01),
    ("temp", TriangularEstimation(), 0.115, 0.01),
    ("web", OME(), 0.104, 0.006),
    ("birds", GLAD(), 0.278, 0.01),
    ("rte", GLAD(), 0.074, 0.002),
    ("product", GLAD(), 0.072, 0.003),
]


@pytest.mark.parametrize(("name", "model", "expected", "within"), FIGURES)
def test_errors_on_real_data_are_those_published(
    data_dir: Path, name: str, model: Any, expected: float, within: float
) -> None:
    votes, gold = load(data_dir, name)
    model.set_params(classes=classes(data_dir, name))
    assert abs(error(model.fit(votes), gold) - expected) <= within
