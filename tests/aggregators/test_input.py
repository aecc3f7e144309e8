"""What goes in and what comes out: kinds, ids, errors."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from aggregators import FastSBIC, MajorityVote, NotFittedError
from aggregators.votes import read_votes

COLUMNS: dict[str, list[Any]] = {
    "task": ["b", "b", "a", "a", "a"],
    "worker": [1, 2, 1, 2, 3],
    "label": ["yes", "no", "yes", "yes", "no"],
}
TRIPLE = (COLUMNS["task"], COLUMNS["worker"], COLUMNS["label"])


def test_pandas_gives_pandas_back_with_the_ids_as_they_were() -> None:
    model = FastSBIC().fit(pd.DataFrame(COLUMNS))
    assert set(model.labels_.index) == {"a", "b"}
    assert list(model.probas_.index) == ["b", "a"]
    assert list(model.probas_.columns) == ["no", "yes"]
    assert list(model.skills_.index) == [1, 2, 3]
    assert model.labels_.index.name == "task"
    assert model.skills_.index.name == "worker"


def test_polars_gives_polars_back() -> None:
    model = FastSBIC().fit(pl.DataFrame(COLUMNS))
    assert model.labels_.columns == ["task", "label"]
    assert model.probas_.columns == ["task", "no", "yes"]
    assert model.skills_["worker"].to_list() == [1, 2, 3]


def test_arrays_give_arrays_back_in_the_order_of_tasks_and_workers() -> None:
    model = FastSBIC().fit(*TRIPLE)
    assert isinstance(model.probas_, np.ndarray)
    assert model.tasks_ == ["b", "a"]
    assert model.workers_ == [1, 2, 3]
    assert model.classes_ == ["no", "yes"]
    assert model.probas_.shape == (2, 2)


def test_every_kind_of_input_gives_the_same_numbers() -> None:
    expected = FastSBIC().fit(TRIPLE).probas_
    rows = np.array(list(zip(*TRIPLE, strict=True)), dtype="U3,i8,U3")
    rows.dtype.names = ("task", "worker", "label")
    for given in (
        COLUMNS,
        rows,
        pd.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS).astype(object),
        pd.DataFrame(COLUMNS).astype("category"),
        pl.DataFrame(COLUMNS),
        tuple(np.array(c, dtype=object) for c in TRIPLE),
        tuple(pd.Series(c) for c in TRIPLE),
    ):
        probas = FastSBIC().fit(given).probas_
        if isinstance(probas, pl.DataFrame):
            probas = probas.drop("task")
        np.testing.assert_array_equal(np.asarray(probas), expected)


def test_many_rows_are_read_side_by_side_with_the_same_result() -> None:
    rng = np.random.default_rng(0)
    task, worker = np.divmod(rng.permutation(900 * 300)[:260_000], 300)
    label = rng.integers(0, 3, len(task))
    expected = read_votes(task, worker, label)
    strings = pd.DataFrame({"task": task.astype(str), "worker": worker, "label": label})
    for given in (strings, pl.from_pandas(strings)):
        votes = read_votes(given)
        np.testing.assert_array_equal(votes.task, expected.task)
        np.testing.assert_array_equal(votes.worker, expected.worker)
        np.testing.assert_array_equal(votes.label, expected.label)


def test_of_a_repeated_pair_the_last_row_counts_at_its_place() -> None:
    votes = read_votes(["t", "t", "t", "s"], ["a", "b", "a", "a"], ["x", "y", "z", "x"])
    assert votes.task.tolist() == [0, 0, 1]
    assert votes.worker.tolist() == [1, 0, 0]
    assert [votes.classes[x] for x in votes.label] == ["y", "z", "x"]
    only = read_votes(["t", "t"], ["a", "a"], ["x", "y"])
    assert only.classes == ["y"]


def test_integers_and_strings_stay_apart() -> None:
    model = MajorityVote().fit([1, "1", 1], ["a", "a", "b"], [0, 1, 0])
    assert model.tasks_ == [1, "1"]
    assert model.labels_.tolist() == [0, 1]


def test_mixed_and_compound_ids_are_kept() -> None:
    model = MajorityVote().fit([("x", 1), ("x", 2)], [1, "w"], ["p", "q"])
    assert model.tasks_ == [("x", 1), ("x", 2)]


def test_declared_classes_order_the_columns_and_break_ties() -> None:
    model = MajorityVote(classes=["yes", "no", "maybe"]).fit(COLUMNS)
    assert model.classes_ == ["yes", "no", "maybe"]
    assert model.labels_[0] == "yes"
    assert model.probas_[0].tolist() == [0.5, 0.5, 0.0]


BAD: list[tuple[Any, dict[str, Any], str]] = [
    (([], [], []), {}, "empty"),
    (pd.DataFrame({"task": [], "worker": [], "label": []}), {}, "empty"),
    ((["t"], ["w", "v"], ["x"]), {}, "unequal lengths"),
    ((["t"], ["w"], [None]), {}, "label of row 0 is missing"),
    ((["t", "t"], ["w", "v"], [1.0, float("nan")]), {}, "label of row 1 is missing"),
    ((["t", None], ["w", "v"], ["x", "y"]), {}, "task of row 1 is missing"),
    ((np.array([1.0, np.nan]), ["w", "v"], ["x", "y"]), {}, "task of row 1 is missing"),
    (pd.DataFrame({"task": ["t", None], "worker": [1, 2], "label": [1, 2]}), {}, "task of row 1"),
    (pd.DataFrame({"task": ["t", "t"], "worker": [1, 2], "label": [1, np.nan]}), {}, "label of"),
    (pl.DataFrame({"task": ["t", "t"], "worker": [1, None], "label": [1, 2]}), {}, "worker of row"),
    ((["t"], ["w"], ["x"]), {"classes": ["y", "z"]}, "'x' is not one of the classes"),
    ((["t"], ["w"], ["1"]), {"classes": [0, 1]}, "'1' is not one of the classes"),
    ((["t"], ["w"], ["x"]), {"classes": ["x"]}, "at least two classes"),
    ((["t"], ["w"], ["x"]), {"classes": ["x", "x"]}, "repeated"),
    ((["t"], ["w"], ["x"]), {"classes": ["x", None]}, "None or NaN"),
    ((["t"], ["w"], ["x"]), {"classes": "xy"}, "sequence of classes"),
    (([["t"]], ["w"], ["x"]), {}, "not a usable id"),
    ((np.zeros((1, 1)), ["w"], ["x"]), {}, "one-dimensional"),
    ({"task": ["t"], "worker": ["w"]}, {}, "no column label"),
    (7, {}, "not int"),
    ((["t"], ["w"], ["x"]), {"classes": ["x", "y"], "prior": [1.0]}, "one entry for each"),
    ((["t"], ["w"], ["x"]), {"classes": ["x", "y"], "prior": [1.0, 0.0]}, "positive"),
    ((["t"], ["w"], ["x"]), {"classes": ["x", "y"], "prior": "odd"}, "'odd'"),
]


@pytest.mark.parametrize(("given", "params", "message"), BAD)
def test_bad_input_is_a_value_error_that_says_what(
    given: Any, params: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        FastSBIC(**params).fit(given)


def test_three_columns_must_be_three() -> None:
    with pytest.raises(ValueError, match="all three"):
        FastSBIC().fit(["t"], ["w"])


def test_asking_before_fitting_is_an_error_of_its_own() -> None:
    with pytest.raises(NotFittedError, match="call fit first"):
        _ = FastSBIC().labels_
    assert not hasattr(FastSBIC(), "probas_")


def test_a_live_model_survives_pickling() -> None:
    live = FastSBIC(classes=[0, 1])
    live.update("t", "w", 1)
    again = pickle.loads(pickle.dumps(live))
    np.testing.assert_array_equal(again.update("t", "v", 1), live.update("t", "v", 1))


def test_importing_pulls_in_neither_compiler_nor_tables() -> None:
    code = (
        "import sys, aggregators, aggregators.streaming, aggregators.confidence;"
        "aggregators.FastSBIC(classes=[0, 1]).update('t', 'w', 1);"
        "print([m for m in ('numba', 'scipy', 'pandas', 'polars') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
