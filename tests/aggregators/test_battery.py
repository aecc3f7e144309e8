"""One battery of checks that runs over every method."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import aggregators
from aggregators import METHODS, Aggregator
from aggregators.base import top_classes

from .synthetic import one_coin

ALL = sorted(METHODS)
ORDER_MATTERS = {"fast_sbic", "sorted_sbic"}
RANDOM_BY_ROW = {"cola", "kos", "mc"}
"""Their random numbers are drawn row by row: other rows, other numbers."""
FIRST_OF_EQUALS = {"triangular"}
"""Of pairs of workers that agree alike it takes the first."""
TIES_ALONE = {"kos", "triangular"}
"""A lone vote tells them nothing: nobody vouches for the worker."""
QUICK: dict[str, dict[str, Any]] = {
    "cola": {"restarts": 1},
    "mc": {"n_samples": 20, "burn_in": 5, "n_chains": 2},
    "glad": {"n_iter": 10},
    "ome": {"n_iter": 5},
    "ordmix": {"n_iter": 10},
}
LARGE: dict[str, dict[str, Any]] = {
    "cola": {"restarts": 1, "worker_clusters": 5, "task_clusters": 2},
    "mc": {"n_samples": 3, "burn_in": 1, "n_chains": 1},
    "glad": {"n_iter": 2},
    "ome": {"n_iter": 1, "steps": 2},
    "ordmix": {"n_iter": 2},
    "dawid_skene": {"n_iter": 5},
    "one_coin_dawid_skene": {"n_iter": 5},
    "amf": {"n_iter": 5},
}


def make(name: str, **params: Any) -> Any:
    return METHODS[name](**{**QUICK.get(name, {}), **params})


def table(K: int = 3, seed: int = 0, **sizes: int) -> pd.DataFrame:
    sizes = {"tasks": 40, "workers": 12, "per_task": 5, **sizes}
    task, worker, label, _ = one_coin(K, seed=seed, **sizes)
    names = [f"c{x}" for x in range(K)]
    return pd.DataFrame(
        {
            "task": [f"t{i}" for i in task],
            "worker": [f"w{j}" for j in worker],
            "label": [names[x] for x in label],
        }
    )


def assert_sound(model: Aggregator) -> None:
    probas = np.asarray(model._result().probas)
    assert np.isfinite(probas).all()
    assert (probas >= 0).all()
    np.testing.assert_allclose(probas.sum(axis=1), 1.0, atol=1e-9)
    skills = model._result().skills
    assert np.isfinite(skills).all()
    assert ((skills >= 0) & (skills <= 1)).all()


def test_the_registry_is_complete() -> None:
    assert set(METHODS) == {
        "fast_sbic", "sorted_sbic", "cola", "majority", "one_coin_dawid_skene", "dawid_skene",
        "amf", "kos", "mc", "triangular", "ordmix", "ome", "glad", "wawa",
    }  # fmt: skip
    assert all(issubclass(cls, Aggregator) for cls in METHODS.values())
    assert {cls.__name__ for cls in METHODS.values()} <= set(aggregators.__all__)
    assert set(aggregators.__all__) <= set(dir(aggregators))
    with pytest.raises(AttributeError, match="nothing"):
        _ = aggregators.nothing


@pytest.mark.parametrize("name", ALL)
def test_the_example_in_the_docstring_is_true(name: str) -> None:
    import doctest

    finder = doctest.DocTestFinder(recurse=False)
    cls = METHODS[name]
    (example,) = finder.find(cls, globs={cls.__name__: cls})
    assert example.examples
    assert doctest.DocTestRunner().run(example).failed == 0


@pytest.mark.parametrize("K", [2, 4])
@pytest.mark.parametrize("name", ALL)
def test_results_are_distributions_and_labels_are_their_tops(name: str, K: int) -> None:
    data = table(K)
    model = make(name).fit(data)
    assert_sound(model)
    probas = model.probas_
    assert list(probas.columns) == [f"c{x}" for x in range(K)]
    assert list(probas.index) == list(data["task"].unique())
    assert list(model.skills_.index) == list(data["worker"].unique())
    tops = [probas.columns[x] for x in top_classes(probas.to_numpy())]
    assert model.labels_.to_list() == tops


@pytest.mark.parametrize("name", ALL)
def test_fit_predict_is_fit_then_predict_and_input_is_left_alone(name: str) -> None:
    data = table()
    before = data.copy(deep=True)
    model = make(name).fit(data)
    pd.testing.assert_frame_equal(data, before)
    pd.testing.assert_series_equal(make(name).fit_predict(data), model.labels_)
    pd.testing.assert_frame_equal(make(name).fit_predict_proba(data), model.probas_)


@pytest.mark.parametrize("name", ALL)
def test_a_second_fit_forgets_the_first_and_seeds_repeat(name: str) -> None:
    data, other = table(), table(K=2, seed=9)
    once = make(name, seed=3).fit(data)
    twice = make(name, seed=3).fit(other).fit(data)
    pd.testing.assert_frame_equal(once.probas_, twice.probas_, check_exact=True)
    pd.testing.assert_series_equal(once.skills_, twice.skills_, check_exact=True)


@pytest.mark.parametrize("name", ALL)
def test_every_kind_of_input_gives_the_same_numbers_in_its_own_kind(name: str) -> None:
    data = table()
    expected = make(name).fit(data).probas_.to_numpy()
    frame = make(name).fit(pl.from_pandas(data))
    assert isinstance(frame.labels_, pl.DataFrame)
    np.testing.assert_array_equal(frame.probas_.drop("task").to_numpy(), expected)
    arrays = make(name).fit(*(data[c].to_numpy() for c in ("task", "worker", "label")))
    assert isinstance(arrays.labels_, np.ndarray)
    np.testing.assert_array_equal(arrays.probas_, expected)


@pytest.mark.parametrize("name", sorted(set(ALL) - ORDER_MATTERS - RANDOM_BY_ROW - FIRST_OF_EQUALS))
def test_the_order_of_rows_is_irrelevant(name: str) -> None:
    data = table(seed=1)
    one = make(name).fit(data).probas_
    two = make(name).fit(data.sample(frac=1, random_state=4)).probas_
    # L-BFGS amplifies the rounding of sums in another order
    within = 2e-2 if name in {"glad", "ome"} else 1e-7
    np.testing.assert_allclose(two.loc[one.index].to_numpy(), one.to_numpy(), atol=within)


@pytest.mark.parametrize("name", ALL)
def test_new_names_for_workers_and_tasks_change_no_bit(name: str) -> None:
    data = table(seed=2)
    renamed = data.assign(
        task=[int(i[1:]) * -7 for i in data["task"]],
        worker=[f"{'zyxwvu'[int(j[1:]) % 6]}{j}" for j in data["worker"]],
    )
    one, two = make(name).fit(data), make(name).fit(renamed)
    np.testing.assert_array_equal(two.probas_.to_numpy(), one.probas_.to_numpy())
    np.testing.assert_array_equal(two.skills_.to_numpy(), one.skills_.to_numpy())
    assert two.probas_.index.dtype == np.int64


@pytest.mark.parametrize("name", ALL)
def test_new_names_for_classes_in_the_same_order_change_no_bit(name: str) -> None:
    data = table(seed=2)
    one = make(name).fit(data).probas_.to_numpy()
    numbers = data.assign(label=[int(x[1:]) * 10 - 10 for x in data["label"]])
    np.testing.assert_array_equal(make(name).fit(numbers).probas_.to_numpy(), one)


@pytest.mark.parametrize("name", sorted(set(ALL) - RANDOM_BY_ROW))
def test_classes_in_reverse_turn_the_columns_round(name: str) -> None:
    data = table(seed=2)
    order = ["c0", "c1", "c2"]
    one = make(name, classes=order).fit(data).probas_
    two = make(name, classes=order[::-1]).fit(data).probas_
    within = 2e-2 if name in {"glad", "ome"} else 1e-7
    np.testing.assert_allclose(two[order].to_numpy(), one.to_numpy(), atol=within)


@pytest.mark.parametrize("name", ALL)
def test_parameters_can_be_read_set_shown_and_pickled(name: str) -> None:
    cls = METHODS[name]
    model = make(name, seed=5, classes=["c0", "c1", "c2"])
    again = cls(**model.get_params())
    assert again.get_params() == model.get_params()
    assert eval(repr(model), {cls.__name__: cls}).get_params() == model.get_params()
    assert repr(cls()) == f"{cls.__name__}()"
    assert {"classes", "prior", "seed", "n_jobs"} <= set(model.get_params())
    assert model.set_params(seed=6) is model
    assert model.seed == 6
    with pytest.raises(ValueError, match="has no parameter 'nonsense'"):
        model.set_params(nonsense=1)
    fitted = model.fit(table())
    loaded = pickle.loads(pickle.dumps(fitted))
    pd.testing.assert_frame_equal(loaded.probas_, fitted.probas_, check_exact=True)
    assert loaded.get_params() == fitted.get_params()


@pytest.mark.parametrize("name", ALL)
def test_progress_is_told(name: str) -> None:
    seen: list[tuple[int, int]] = []
    make(name).fit(table(), progress=lambda done, total: seen.append((done, total)))
    assert seen
    assert all(0 < done <= total for done, total in seen)
    assert seen == sorted(seen)


@pytest.mark.parametrize("name", ALL)
def test_bad_input_is_refused_alike(name: str) -> None:
    cases: list[tuple[Any, dict[str, Any], str]] = [
        (([], [], []), {}, "empty"),
        ((["t"], ["w", "v"], ["x"]), {}, "unequal lengths"),
        ((["t", "t"], ["w", "v"], ["x", None]), {}, "missing"),
        ((["t"], ["w"], ["x"]), {"classes": ["y", "z"]}, "not one of the classes"),
        ((["t"], ["w"], ["x"]), {"classes": ["x"]}, "at least two classes"),
        ((["t"], ["w"], ["x"]), {"classes": ["x", "y"], "prior": [1, 2, 3]}, "prior"),
        ((["t"], ["w"], ["x"]), {"classes": ["x", "y"], "prior": [1, -1]}, "prior"),
    ]
    for given, params, message in cases:
        with pytest.raises(ValueError, match=message):
            make(name, **params).fit(given)


@pytest.mark.parametrize("name", ALL)
def test_one_vote_one_class_and_unused_classes_are_no_trouble(name: str) -> None:
    model = make(name).fit(["t"], ["w"], ["x"])
    assert model.labels_.tolist() == ["x"]
    assert model.probas_.tolist() == [[1.0]]
    model = make(name, classes=["x", "y", "z"]).fit(["t"], ["w"], ["y"])
    assert_sound(model)
    if name not in TIES_ALONE:
        assert model.labels_.tolist() == ["y"]
    data = table()
    one = make(name).fit(data.assign(label="same"))
    assert (one.probas_.to_numpy() == 1.0).all()
    some = make(name, classes=["a", "c0", "c1", "c2", "z"]).fit(data)
    assert_sound(some)
    assert list(some.probas_.columns) == ["a", "c0", "c1", "c2", "z"]


@pytest.mark.parametrize("name", ALL)
def test_a_prior_leans_the_result_its_way(name: str) -> None:
    # Two workers who always contradict each other: only the prior can tell.
    task, worker, label = [1, 1, 2, 2], ["a", "b", "a", "b"], ["x", "y", "y", "x"]
    model = make(name, prior=[0.2, 0.8]).fit(task, worker, label)
    assert_sound(model)
    assert model._result().probas[:, 1].sum() > model._result().probas[:, 0].sum()


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("name", ALL)
def test_extreme_unanimity_stays_finite(name: str, K: int) -> None:
    task, worker = np.divmod(np.arange(60 * 50), 50)
    label = np.zeros(len(task), dtype=int)
    label[0] = 1
    model = make(name, classes=range(K)).fit(task, worker, label)
    assert_sound(model)
    assert (model.labels_[1:] == 0).all()


@pytest.mark.parametrize("name", ALL)
def test_a_worker_with_100_000_votes_is_no_trouble(name: str) -> None:
    random = np.random.default_rng(0)
    tasks = 100_000
    task = np.concatenate([np.arange(tasks), np.arange(0, tasks, 10)])
    worker = np.concatenate([np.zeros(tasks, int), 1 + random.integers(0, 40, tasks // 10)])
    label = random.integers(0, 2, len(task))
    model = METHODS[name](**LARGE.get(name, {})).fit(task, worker, label)
    assert_sound(model)
    assert model.probas_.shape == (tasks, 2)


@pytest.mark.parametrize("name", ALL)
def test_a_task_with_10_000_votes_is_no_trouble(name: str) -> None:
    random = np.random.default_rng(0)
    task = np.concatenate([np.zeros(10_000, int), 1 + random.integers(0, 50, 2_000)])
    worker = np.concatenate([np.arange(10_000), random.permutation(10_000)[:2_000]])
    label = np.where(random.random(len(task)) < 0.7, 1, 0)
    model = METHODS[name](**LARGE.get(name, {})).fit(task, worker, label)
    assert_sound(model)
    if name != "triangular":  # pairs share one task: its reliabilities are all but random
        assert model.labels_[0] == 1
