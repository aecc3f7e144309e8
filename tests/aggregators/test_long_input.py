"""Long columns take other ways through the code: the same codes, ids and errors as short ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from aggregators._factorize import LONG, factorize
from aggregators.votes import last_of_each_pair, read_votes

ROWS = LONG + 1000


def numbers(high: int, low: int = 0) -> Any:
    return np.random.default_rng(3).integers(low, high, ROWS)


def words(high: int, form: str) -> list[str]:
    return [form.format(x) for x in numbers(high)]


def distinct(high: int) -> Any:
    """Equal strings, each an object of its own."""
    values = np.empty(ROWS, object)
    values[:] = ["".join(["id", str(x)]) for x in numbers(high)]
    return values


MADE: dict[str, Callable[[], Any]] = {
    "integers of a small range": lambda: numbers(500, low=-100),
    "integers of a large range": lambda: numbers(3000) * 10**14 - 10**17,
    "more integers than the hash table begins with": lambda: (
        np.random.default_rng(0).permutation(60_000) * 10**10
    ),
    "small integers": lambda: numbers(127, low=-128).astype(np.int8),
    "large unsigned integers": lambda: (
        numbers(99).astype(np.uint64) + np.uint64(2**64 - 200)
    ),
    "integers of the other byte order": lambda: numbers(500).astype(">i4"),
    "floats": lambda: numbers(500) / 4,
    "booleans": lambda: numbers(2).astype(bool),
    "shared objects": lambda: np.array([f"w{i}" for i in range(300)], object)[numbers(300)],
    "distinct objects": lambda: distinct(300),
    "shared objects that are equal": lambda: np.array(["".join("ab") for _ in range(9)] + [1, 2.5],
                                                      object)[numbers(11)],
    "short strings": lambda: pd.Series(words(3000, "w{}"), dtype="str"),
    "longer strings": lambda: pd.Series(words(300, "worker-{}-x"), dtype="str"),
    "strings of every length": lambda: pd.Series(
        ["ab" * (x % 11) + str(x) for x in numbers(600)], dtype="str"
    ),
    "very long strings": lambda: pd.Series(words(300, "https://example.org/tasks/{}"), dtype="str"),
    "zero bytes": lambda: pd.Series(["\0" * int(x) for x in numbers(9)], dtype="str"),
    "arrow strings": lambda: pd.Series(words(300, "w{}"), dtype="string[pyarrow]"),
    "categories": lambda: pd.Series(words(300, "w{}"), dtype="category"),
    "a part of a column": lambda: pd.Series(
        words(300, "ü{}") + ["x"] * 9, dtype="str"
    ).iloc[500:],
    "polars integers": lambda: pl.Series(numbers(500)),
    "polars strings": lambda: pl.Series(words(300, "w{}")),
}  # fmt: skip


@pytest.mark.parametrize("kind", list(MADE))
@pytest.mark.parametrize("frame", [False, True])
def test_codes_follow_first_appearance_and_name_their_ids(kind: str, frame: bool) -> None:
    column = MADE[kind]()
    if frame and isinstance(column, np.ndarray) and column.dtype.isnative:  # as pandas wants it
        column = pd.Series(column)
    codes, ids = factorize(column, "task")
    values = list(column.tolist() if hasattr(column, "tolist") else column)
    expected: dict[Any, int] = {}
    plain = [expected.setdefault(x, len(expected)) for x in values]
    assert codes.tolist() == plain
    assert codes.dtype == np.int64
    assert list(ids.tolist() if hasattr(ids, "tolist") else ids) == list(expected)
    if isinstance(column, pd.Series):
        _, as_pandas = column.factorize()
        assert isinstance(ids, pd.Index)
        assert ids.dtype == as_pandas.dtype


@pytest.mark.parametrize("gap", [None, float("nan")])
@pytest.mark.parametrize(
    "make",
    [
        lambda v: pd.Series(v, dtype=object),
        lambda v: pd.Series(v, dtype="str"),
        lambda v: np.array([*v], dtype=object),
        lambda v: pl.Series([None if x != x else x for x in v]),
    ],
)
def test_a_gap_far_down_is_named_by_its_row(gap: Any, make: Callable[[list[Any]], Any]) -> None:
    values: list[Any] = words(300, "w{}")
    values[ROWS - 7] = gap
    with pytest.raises(ValueError, match=f"worker of row {ROWS - 7} is missing"):
        factorize(make(values), "worker")


@pytest.mark.parametrize("make", [list, lambda v: pd.Series(v, dtype=object)])
def test_ids_that_cannot_be_hashed_are_refused(make: Callable[[list[Any]], Any]) -> None:
    values: list[Any] = [*words(3, "t{}")[1:], ["a", "list"]]
    labels = [0, 1] * (len(values) // 2)
    with pytest.raises(ValueError, match="not a usable id"):
        read_votes({"task": make(values), "worker": list(range(len(values))), "label": labels})


@pytest.mark.parametrize("tasks", [4000, 100])
def test_of_repeated_pairs_the_last_row_counts(tasks: int) -> None:
    random = np.random.default_rng(1)
    task, worker = random.integers(0, tasks, ROWS), random.integers(0, 60, ROWS)
    last = {(i, j): v for v, (i, j) in enumerate(zip(task, worker, strict=True))}
    found = last_of_each_pair(task, worker, tasks, 60)
    assert found is not None
    assert found.tolist() == sorted(last.values())
    rows = found[:LONG]
    assert last_of_each_pair(task[found], worker[found], tasks, 60) is None
    assert last_of_each_pair(task[rows], worker[rows], tasks, 60) is None


def test_a_class_that_only_replaced_votes_named_is_none_in_long_input_too() -> None:
    task = np.append(np.repeat(np.arange(ROWS // 5), 5), [0, 0])
    worker = np.append(np.tile(np.arange(5), ROWS // 5), [1, 3])
    label = np.array(["b", "a"], object)[worker % 2]
    label[0], label[1], label[-2] = "c", "only replaced", "a"
    votes = read_votes(task, worker, label)
    assert votes.classes == ["a", "b", "c"]
    assert votes.V == ROWS // 5 * 5
    assert [votes.classes[x] for x in votes.label[:4]] == ["c", "b", "b", "b"]
    assert [votes.classes[x] for x in votes.label[-2:]] == ["a", "a"]
