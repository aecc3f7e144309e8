"""Where votes come from and results go to: pandas, polars or plain arrays, the same kind out as in.

pandas and polars are never imported unless the caller has handed in one of theirs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from ._types import FloatArray, Ids

Kind: TypeAlias = Literal["pandas", "polars", "arrays"]
COLUMNS = ("task", "worker", "label")


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
