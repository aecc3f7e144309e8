"""Tasks whose truth is known: certain for their workers and in the result, told apart by votes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from aggregators import METHODS, DawidSkene, FastSBIC, MajorityVote, SortedSBIC

from .plain import PlainFastSBIC, softmax, weight
from .synthetic import one_coin

TAKE_GOLD = ["cola", "dawid_skene", "fast_sbic", "one_coin_dawid_skene", "sorted_sbic"]


def crowd(K: int, seed: int = 0) -> tuple[Any, Any, Any, dict[int, int]]:
    task, worker, label, truth = one_coin(K, tasks=25, workers=8, per_task=4, seed=seed)
    gold = {int(i): int(truth[i]) for i in range(0, 25, 3)}
    return task, worker, label, gold


def adversarial(seed: int = 0) -> tuple[Any, Any, Any, Any]:
    """Four workers of seven turn every answer round."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, 2, 60)
    task, worker = np.divmod(np.arange(60 * 7), 7)
    right = np.where(worker < 3, random.random(420) < 0.9, random.random(420) < 0.1)
    return task, worker, np.where(right, truth[task], 1 - truth[task]), truth


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("doubt", [0.0, 0.1])
def test_fast_with_gold_is_the_plain_form_with_gold(K: int, doubt: float) -> None:
    task, worker, label, gold = crowd(K)
    model = FastSBIC(classes=list(range(K)), doubt=doubt).fit(task, worker, label, gold=gold)
    plain = PlainFastSBIC(K)
    plain.gold = {str(i): x for i, x in gold.items()}
    for i, j, x in zip(task, worker, label, strict=True):
        plain.update(str(i), str(j), int(x))
    for row, i in enumerate(model.tasks_):
        if doubt == 0.0:
            np.testing.assert_allclose(model.probas_[row], plain.mu(str(i)), atol=1e-9)
            free = softmax(plain.log_weights(str(i)))
            np.testing.assert_allclose(model.free_probas_[row], free, atol=1e-9)
        if i in gold:
            assert model.probas_[row, gold[i]] == 1.0
    for row, j in enumerate(model.workers_):
        assert model.skills_[row] == pytest.approx(plain.skill(str(j)), abs=1e-9)
    # one vote more, now live
    before = model.free_probas_
    plain.update("1", "99", 1)
    model.update(1, 99, 1)
    np.testing.assert_allclose(model.skill(0), plain.skill("0"), atol=1e-9)
    rows = [r for r, i in enumerate(model.tasks_) if i != 1]
    np.testing.assert_allclose(model.free_probas_[rows], before[rows], atol=1e-9)


@pytest.mark.parametrize("K", [2, 3])
def test_naive_sorted_with_gold_is_the_plain_form_with_gold(K: int) -> None:
    task, worker, label, gold = crowd(K)
    model = SortedSBIC(method="naive", classes=list(range(K)))
    model.fit(task, worker, label, gold=gold)
    for row, k in enumerate(model.tasks_):
        plain = PlainFastSBIC(K)
        plain.gold = {str(i): x for i, x in gold.items() if i != k}
        for i, j, x in zip(task, worker, label, strict=True):
            if i != k:
                plain.update(str(i), str(j), int(x))
        m = [np.log(1 / K)] * K
        for i, j, x in zip(task, worker, label, strict=True):
            if i == k:
                weight(m, int(x), plain.skill(str(j)))
        np.testing.assert_allclose(model.log_weights_[row], m, atol=1e-9)
        np.testing.assert_allclose(model.free_probas_[row], softmax(m), atol=1e-9)


@pytest.mark.parametrize("K", [2, 3])
def test_where_all_tasks_are_gold_order_cannot_matter_and_the_tree_is_the_naive_form(
    K: int,
) -> None:
    task, worker, label, _ = crowd(K)
    gold = {i: i % K for i in range(25)}
    one, two = (
        SortedSBIC(method=method, classes=list(range(K))).fit(task, worker, label, gold=gold)
        for method in ("naive", "tree")
    )
    np.testing.assert_allclose(one.log_weights_, two.log_weights_, atol=1e-12)


@pytest.mark.parametrize("name", TAKE_GOLD)
def test_gold_turns_a_crowd_of_liars_round(name: str) -> None:
    task, worker, label, truth = adversarial()
    gold = {i: int(truth[i]) for i in range(20)}
    other = np.arange(60) >= 20
    without = METHODS[name]().fit(task, worker, label)
    model: Any = METHODS[name]().fit(task, worker, label, gold=gold)
    assert (without.labels_ != truth)[other].mean() > 0.5
    assert (model.labels_ != truth)[other].mean() < 0.1
    assert (model.labels_[:20] == truth[:20]).all()
    assert (model.skills_[:3] > 0.6).all()
    assert (model.skills_[3:] < 0.4).all()


@pytest.mark.parametrize("name", TAKE_GOLD)
def test_what_the_votes_say_of_a_gold_task_is_kept(name: str) -> None:
    """All on task 7 say 1; gold says 0: certain in the result, 1 by the votes."""
    task, worker, label, truth = adversarial()
    label = np.where(worker < 3, truth[task], label)
    label[task == 7] = 1
    gold = {i: int(truth[i]) for i in range(20)} | {7: 0}
    model: Any = METHODS[name]().fit(task[worker < 3], worker[worker < 3], label[worker < 3])
    assert (model.free_probas_ == model.probas_).all()
    model.fit(task[worker < 3], worker[worker < 3], label[worker < 3], gold=gold)
    assert model.probas_[7].tolist() == [1.0, 0.0]
    assert model.free_probas_[7, 1] > 0.8
    rest = np.array([i for i in range(60) if i not in gold])
    np.testing.assert_array_equal(model.free_probas_[rest], model.probas_[rest])


@pytest.mark.parametrize("name", ["dawid_skene", "one_coin_dawid_skene"])
def test_the_likelihood_does_not_fall_with_gold_either(name: str) -> None:
    task, worker, label, gold = crowd(3, seed=5)
    make: Any = METHODS[name]
    model = make(tol=-1.0).fit(task, worker, label, gold=gold)
    assert (np.diff(model.history_) >= -1e-9 * np.abs(model.history_[1:])).all()


def test_colas_bound_does_not_fall_with_gold_either() -> None:
    from aggregators import COLA

    task, worker, label, gold = crowd(3, seed=5)
    model = COLA(converge=True, restarts=1).fit(task, worker, label, gold=gold)
    history = model.elbo_history_
    assert (np.diff(history) >= -1e-9 * np.abs(history[1:])).all()


@pytest.mark.parametrize("name", sorted(set(METHODS) - set(TAKE_GOLD)))
def test_methods_that_cannot_use_gold_say_so(name: str) -> None:
    with pytest.raises(ValueError, match="takes no gold"):
        METHODS[name]().fit([1, 1], [1, 2], [0, 1], gold={1: 0})


def test_gold_may_be_a_mapping_a_series_or_a_table() -> None:
    votes = pd.DataFrame({"task": ["a", "a", "b"], "worker": ["u", "v", "u"], "label": list("xyx")})
    known = {"a": "y", "no votes": "x"}
    table = {"task": list(known), "label": list(known.values())}
    kinds = (known, pd.Series(known), pd.DataFrame(table), pl.DataFrame(table))
    for gold in kinds:
        model = DawidSkene().fit(votes, gold=gold)
        assert model.labels_.to_dict()["a"] == "y"
        assert list(model.free_probas_.columns) == ["x", "y"]
    assert MajorityVote().fit(votes, gold=None).labels_["b"] == "x"


def test_gold_names_classes_that_nobody_voted() -> None:
    model = SortedSBIC().fit(["a", "b"], ["u", "u"], ["x", "x"], gold={"a": "y"})
    assert model.classes_ == ["x", "y"]
    assert model.labels_.tolist() == ["y", "x"]


def test_unusable_gold_is_refused_by_name() -> None:
    votes = (["a", "b"], ["u", "u"], ["x", "y"])
    with pytest.raises(ValueError, match="gold label 'z' of task 'a' is not one of the classes"):
        SortedSBIC(classes=["x", "y"]).fit(*votes, gold={"a": "z"})
    with pytest.raises(ValueError, match="gold label of task 'a' is missing"):
        SortedSBIC().fit(*votes, gold={"a": float("nan")})
    with pytest.raises(ValueError, match="gold must map tasks to classes"):
        SortedSBIC().fit(*votes, gold=[("a", "x")])
    with pytest.raises(ValueError, match="columns task and label"):
        SortedSBIC().fit(*votes, gold=pd.DataFrame({"task": ["a"]}))
