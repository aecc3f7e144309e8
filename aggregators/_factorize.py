"""Ids of a column to codes in order of first appearance, whatever the column is made of."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from ._frames import Kind, kind_of
from ._types import Ids, IntArray

LONG = 20_000
"""From so many rows on loading the compiled loops pays."""
SHORT_STRINGS = 16
"""Bytes a string on average up to which the compiled loops are faster than Arrow's own."""
SHARED = 4
"""Rows to each object from which on it pays to tell objects apart before comparing them."""

Factorized: TypeAlias = "tuple[IntArray, Ids]"


def factorize(column: Any, name: str) -> Factorized:
    """Codes 0, 1, ... in order of first appearance, and the id of each code.

    Raises:
        ValueError: a missing value (None, NaN), or a value that cannot be hashed.
    """
    kind = kind_of(column)
    if len(column) >= LONG and (found := _factorize_long(column, kind, name)) is not None:
        return found
    if kind == "pandas":
        return _factorize_pandas(column, name)
    if kind == "polars":
        return _factorize_polars(column, name)
    if column.dtype.kind in "iubfUSMm":
        return _factorize_values(column, name)
    return _factorize_objects(column, name)


def _factorize_pandas(column: Any, name: str) -> Factorized:
    try:
        codes, ids = column.factorize()
    except TypeError as e:
        raise ValueError(f"{name} has a value that is not a usable id: {e}") from None
    if len(codes) and codes.min() < 0:
        raise missing(name, int(np.argmin(codes)))
    return codes.astype(np.int64, copy=False), ids


def _factorize_polars(column: Any, name: str) -> Factorized:
    bad = column.is_null()
    if column.dtype.is_float():
        bad = bad | column.is_nan()
    if bad.any():
        raise missing(name, int(bad.arg_max()))
    ids = column.unique(maintain_order=True)
    codes = column.replace_strict(ids, np.arange(len(ids)), return_dtype=None)
    return codes.to_numpy().astype(np.int64, copy=False), ids


def _factorize_values(column: Ids, name: str) -> Factorized:
    if column.dtype.kind in "fMm":
        bad = np.isnan(column) if column.dtype.kind == "f" else np.isnat(column)
        if bad.any():
            raise missing(name, int(np.argmax(bad)))
    _, first, inverse = np.unique(column, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))
    return rank[inverse].astype(np.int64, copy=False), column[np.sort(first)]


def _factorize_objects(column: Ids, name: str) -> Factorized:
    seen: dict[Any, int] = {}
    codes = np.empty(len(column), dtype=np.int64)
    for row, value in enumerate(column):
        if value is None or value != value:
            raise missing(name, row)
        try:
            codes[row] = seen.setdefault(value, len(seen))
        except TypeError:
            raise ValueError(f"{name} of row {row} is not a usable id: {value!r}") from None
    ids = np.empty(len(seen), dtype=object)
    ids[:] = list(seen)
    return codes, ids


def _factorize_long(column: Any, kind: Kind, name: str) -> Factorized | None:
    """By the compiled loops, where they know the kind of column: integers, objects, strings."""
    from ._codes import code_integers, code_strings

    dtype = column.dtype
    if kind == "polars":
        if not dtype.is_integer() or column.null_count():
            return None
        codes, first = code_integers(column.to_numpy())
        return codes, column[first]
    if not isinstance(dtype, np.dtype):
        strings = _arrow_strings(column)
        if strings is None:
            return None
        codes, first = code_strings(*strings)
    elif dtype.kind in "iu" and dtype.isnative:
        codes, first = code_integers(np.asarray(column))
    elif dtype.kind == "O":
        return _factorize_shared(column, kind, name)
    else:
        return None
    if kind == "arrays":
        return codes, column[first]
    import pandas as pd

    return codes, pd.Index(column.iloc[first])


def _factorize_shared(column: Any, kind: Kind, name: str) -> Factorized | None:
    """Of objects that many rows share, each is compared once; None where they are not shared."""
    from ._codes import code_keys

    values = np.ascontiguousarray(column)
    addresses = np.frombuffer(values.data, np.uintp).astype(np.uint64, copy=False)
    found = code_keys(addresses, len(values) // SHARED)
    if found is None:
        return None
    codes, first = found
    objects = values[first]
    try:
        if kind == "pandas":
            import pandas as pd

            of_object, ids = _factorize_pandas(pd.Series(objects, dtype=object), name)
        else:
            of_object, ids = _factorize_objects(objects, name)
    except ValueError:  # said again, with the right row
        return None
    return (codes if len(ids) == len(objects) else of_object[codes]), ids


def _arrow_strings(column: Any) -> tuple[Any, Any] | None:
    """Bytes and offsets of a pandas column of Arrow strings; None: long ones, gaps, others."""
    storage = getattr(column.dtype, "storage", None)
    if storage != "pyarrow" and not hasattr(column.dtype, "pyarrow_dtype"):
        return None
    found = column.array.__arrow_array__()
    if hasattr(found, "combine_chunks"):
        found = found.combine_chunks()
    width = {"string": np.int32, "large_string": np.int64}.get(str(found.type))
    if width is None or found.null_count:
        return None
    _, offsets, data = found.buffers()
    begin = np.frombuffer(offsets, width)[found.offset : found.offset + len(found) + 1]
    if data is None or begin[-1] - begin[0] > SHORT_STRINGS * len(found):
        return None
    return np.frombuffer(data, np.uint8), begin


def missing(name: str, row: int) -> ValueError:
    """The error of a missing value."""
    return ValueError(f"{name} of row {row} is missing (None or NaN)")
