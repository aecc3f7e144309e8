"""SortedSBIC: the naive form against the plain one, the tree against its definition."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aggregators import SortedSBIC
from aggregators.base import top_classes

from . import plain
from .data import error, load
from .test_fast_sbic import Data, datasets


@settings(max_examples=100, deadline=None)
@given(datasets())
def test_naive_is_leave_one_task_out(data: Data) -> None:
    K, votes, prior = data
    task, worker, label = zip(*votes, strict=True)
    z = plain.sorted_naive(votes, K, prior=prior)
    model = SortedSBIC(method="naive", classes=range(K), prior=prior)
    model.fit((task, worker, label))
    np.testing.assert_allclose(model.probas_, [plain.softmax(z[i]) for i in z], atol=1e-9)
    np.testing.assert_allclose(model.log_weights_, list(z.values()), atol=1e-9)


def halving(votes: list[plain.Vote], K: int, seed: int) -> dict[str, list[float]]:
    """The tree as its definition says: counted halves, one after the other, each in order."""
    tasks = list(dict.fromkeys(i for i, _, _ in votes))
    number = np.random.default_rng(seed).permutation(len(tasks))
    names = [tasks[i] for i in np.argsort(number)]
    z: dict[str, list[float]] = {}

    def visit(a: int, b: int, counted: list[plain.Vote]) -> None:
        if b - a == 1:
            k = names[a]
            _, skills = plain.fast(counted, K)
            z[k] = [-np.log(K)] * K
            for i, j, x in votes:
                if i == k:
                    plain.weight(z[k], x, skills.get(j, 2 / 3))
            return
        mid = (a + b) // 2
        left, right = set(names[a:mid]), set(names[mid:b])
        visit(a, mid, counted + [v for v in votes if v[0] in right])
        visit(mid, b, counted + [v for v in votes if v[0] in left])

    visit(0, len(tasks), [])
    return z


@settings(max_examples=100, deadline=None)
@given(datasets(), st.integers(0, 5), st.integers(1, 5))
def test_the_tree_is_the_halving_it_says_it_is(data: Data, seed: int, n_jobs: int) -> None:
    K, votes, _ = data
    task, worker, label = zip(*votes, strict=True)
    z = halving(votes, K, seed)
    model = SortedSBIC(classes=range(K), seed=seed, n_jobs=n_jobs).fit((task, worker, label))
    np.testing.assert_allclose(
        model.probas_, [plain.softmax(z[i]) for i in model.tasks_], atol=1e-9
    )


def test_threads_change_no_bit() -> None:
    rng = np.random.default_rng(1)
    task, worker = np.divmod(rng.permutation(300 * 40)[:3000], 40)
    votes = (task, worker, rng.integers(0, 3, 3000))
    one = SortedSBIC().fit(votes)
    for n_jobs in (2, 3, 8):
        np.testing.assert_array_equal(SortedSBIC(n_jobs=n_jobs).fit(votes).probas_, one.probas_)
    slow = SortedSBIC(method="naive").fit(votes)
    fast = SortedSBIC(method="naive", n_jobs=3).fit(votes)
    np.testing.assert_array_equal(slow.probas_, fast.probas_)


def test_stated_confidence_keeps_the_labels() -> None:
    rng = np.random.default_rng(2)
    task, worker = np.divmod(rng.permutation(50 * 20)[:500], 20)
    votes = (task, worker, rng.integers(0, 3, 500))
    paper, careful = (SortedSBIC(doubt=d).fit(votes).probas_ for d in (0.0, 0.1))
    np.testing.assert_array_equal(top_classes(paper), top_classes(careful))
    assert careful.max() < paper.max()


def test_unanimity_beyond_the_floating_range_falls_back_to_logarithms() -> None:
    task = np.repeat([0, 1, 2], 3000)
    worker = np.tile(np.arange(3000), 3)
    for K in (2, 3):
        model = SortedSBIC(alpha=8, classes=range(K)).fit((task, worker, np.ones(9000, int)))
        np.testing.assert_allclose(model.probas_[:, 1], 1.0)


@pytest.mark.parametrize("name", ["rte", "weather"])
def test_naive_equals_the_plain_form_on_real_data(data_dir: Path, name: str) -> None:
    votes, _ = load(data_dir, name)
    kept = set(list(dict.fromkeys(votes["task"]))[::40][:20])
    classes = sorted(set(votes["label"]))
    rows = {
        (i, j): (i, j, classes.index(x))
        for i, j, x in zip(votes["task"], votes["worker"], votes["label"], strict=True)
        if i in kept
    }
    z = plain.sorted_naive(list(rows.values()), len(classes))
    task, worker, label = zip(*rows.values(), strict=True)
    model = SortedSBIC(method="naive", classes=range(len(classes))).fit((task, worker, label))
    np.testing.assert_allclose(model.probas_, [plain.softmax(z[i]) for i in z], atol=1e-9)


FIGURES = {"birds": (0.270, 0.03), "ducks": (0.406, 0.015), "rte": (0.073, 0.005)}


@pytest.mark.parametrize("name", FIGURES)
def test_random_orders_give_the_papers_errors(data_dir: Path, name: str) -> None:
    votes, gold = load(data_dir, name)
    table = {c: np.array(column) for c, column in votes.items()}
    errors = []
    for seed in range(10):
        order = np.random.default_rng(seed).permutation(len(votes["task"]))
        model = SortedSBIC(seed=seed).fit({c: v[order] for c, v in table.items()})
        errors.append(error(model, gold))
    expected, within = FIGURES[name]
    assert abs(np.mean(errors) - expected) < within


def test_a_file_that_is_grouped_by_task_does_not_turn_the_labels_round(data_dir: Path) -> None:
    votes, gold = load(data_dir, "birds")
    assert max(error(SortedSBIC(seed=s).fit(votes), gold) for s in range(10)) < 0.5
