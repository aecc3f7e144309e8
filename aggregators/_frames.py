"""Where votes come from and results go to: pandas, polars or plain arrays, the same kind out as in.

pandas and polars are never imported unless the caller has handed in one of theirs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal, TypeAlias

import numpy as np

from ._types import FloatArray, Ids, IntArray

Kind: TypeAlias = Literal["pandas", "polars", "arrays"]
COLUMNS = ("task", "worker", "label")
SIDE_BY_SIDE = 250_000
"""From so many rows on a thread for each column pays."""


def kind_of(value: object) -> Kind:
    """Which library a table or a column belongs to."""
    root = type(value).__module__.partition(".")[0]
    return "pandas" if root == "pandas" else "polars" if root == "polars" else "arrays"


def columns(data: Any, worker: Any, label: Any) -> tuple[list[Any], Kind]:
    """The three columns of the input, and the kind that the results shall have.

    Raises:
        ValueError: not a table with the three columns, nor three columns; unequal lengths.
    """
    if worker is not None or label is not None:
        if worker is None or label is None:
            raise ValueError("give a table, or all three of task, worker and label")
        found = [data, worker, label]
    elif isinstance(data, tuple | list) and len(data) == 3 and not np.isscalar(data[0]):
        found = list(data)
    else:
        found = _table_columns(data)
    found = [c if kind_of(c) != "arrays" else as_array(c, n) for c, n in _named(found)]
    sizes = [len(c) for c in found]
    if len(set(sizes)) > 1:
        raise ValueError(f"task, worker and label have unequal lengths: {sizes}")
    if sizes[0] == 0:
        raise ValueError("the input is empty: at least one vote is needed")
    return found, kind_of(found[0])


def _named(found: Sequence[Any]) -> list[tuple[Any, str]]:
    return list(zip(found, COLUMNS, strict=True))


def _table_columns(data: Any) -> list[Any]:
    names = data if isinstance(data, Mapping) else getattr(data, "columns", None)
    if names is None:
        names = getattr(getattr(data, "dtype", None), "names", None)
    if names is None:
        raise ValueError(
            "votes are a table with the columns task, worker and label, or three columns, "
            f"not {type(data).__name__}"
        )
    missing = [c for c in COLUMNS if c not in names]
    if missing:
        raise ValueError(f"the input has no column {', '.join(missing)}")
    return [data[c] for c in COLUMNS]


def as_array(values: Any, name: str) -> Ids:
    """A column as a one-dimensional array whose elements are what the caller gave."""
    array = values if isinstance(values, np.ndarray) else None
    if array is None:
        values = list(values)
        if len({type(v) for v in values}) == 1:
            array = np.asarray(values)
        if array is None or array.ndim != 1:  # mixed types, tuples: numpy would convert or unpack
            array = np.empty(len(values), dtype=object)
            array[:] = values
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, it has {array.ndim} dimensions")
    return array


def factorize_all(found: Sequence[Any]) -> list[tuple[IntArray, Ids]]:
    """`factorize` of each of the three columns, side by side where they are long.

    Turning ids into codes takes longer than Fast SBIC itself; Arrow and pandas do it without
    holding the interpreter's lock.
    """
    if len(found[0]) < SIDE_BY_SIDE:
        return [factorize(c, name) for c, name in _named(found)]
    with ThreadPoolExecutor(len(COLUMNS)) as pool:
        return list(pool.map(factorize, found, COLUMNS))


def factorize(column: Any, name: str) -> tuple[IntArray, Ids]:
    """Codes 0, 1, ... in order of first appearance, and the id of each code.

    Raises:
        ValueError: a missing value (None, NaN), or a value that cannot be hashed.
    """
    kind = kind_of(column)
    if kind == "pandas":
        codes, ids = column.factorize()
        if len(codes) and codes.min() < 0:
            raise _missing(name, int(np.argmin(codes)))
        return codes.astype(np.int64, copy=False), ids
    if kind == "polars":
        return _factorize_polars(column, name)
    if column.dtype.kind in "iubfUSMm":
        if (
            column.dtype.kind in "fMm"
            and (bad := np.isnat if column.dtype.kind != "f" else np.isnan)(column).any()
        ):
            raise _missing(name, int(np.argmax(bad(column))))
        _, first, inverse = np.unique(column, return_index=True, return_inverse=True)
        rank = np.argsort(np.argsort(first))
        return rank[inverse].astype(np.int64, copy=False), column[np.sort(first)]
    return _factorize_objects(column, name)


def _factorize_polars(column: Any, name: str) -> tuple[IntArray, Ids]:
    bad = column.is_null()
    if column.dtype.is_float():
        bad = bad | column.is_nan()
    if bad.any():
        raise _missing(name, int(bad.arg_max()))
    ids = column.unique(maintain_order=True)
    codes = column.replace_strict(ids, np.arange(len(ids)), return_dtype=None)
    return codes.to_numpy().astype(np.int64, copy=False), ids


def _factorize_objects(column: Ids, name: str) -> tuple[IntArray, Ids]:
    seen: dict[Any, int] = {}
    codes = np.empty(len(column), dtype=np.int64)
    for row, value in enumerate(column):
        if value is None or value != value:
            raise _missing(name, row)
        try:
            codes[row] = seen.setdefault(value, len(seen))
        except TypeError:
            raise ValueError(f"{name} of row {row} is not a usable id: {value!r}") from None
    ids = np.empty(len(seen), dtype=object)
    ids[:] = list(seen)
    return codes, ids


def _missing(name: str, row: int) -> ValueError:
    return ValueError(f"{name} of row {row} is missing (None or NaN)")


def values_of(ids: Ids) -> list[Any]:
    """Ids as plain Python objects."""
    return list(ids.tolist() if hasattr(ids, "tolist") else ids)


def series_out(kind: Kind, ids: Ids, values: Any, names: tuple[str, str]) -> Any:
    """One value per id; ``names`` are those of the id and of the value."""
    if kind == "pandas":
        import pandas as pd

        return pd.Series(values, index=pd.Index(ids, name=names[0]), name=names[1])
    if kind == "polars":
        import polars as pl

        return pl.DataFrame({names[0]: ids, names[1]: values})
    return np.asarray(values)


def table_out(kind: Kind, tasks: Ids, classes: list[Any], values: FloatArray) -> Any:
    """Tasks x classes."""
    if kind == "pandas":
        import pandas as pd

        head = pd.Index(classes, name="label")
        return pd.DataFrame(values, index=pd.Index(tasks, name="task"), columns=head)
    if kind == "polars":
        import polars as pl

        named = {str(c): values[:, x] for x, c in enumerate(classes)}
        return pl.DataFrame({"task": tasks, **named})
    return values
