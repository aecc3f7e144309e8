"""Long columns of ids to codes, compiled.

Turning a million ids into codes takes longer than Fast SBIC itself. General libraries pay for what
ids seldom need; these loops ask for memory before they need it, and know three cheap cases:
integers of a small range, 64-bit keys, short strings in Arrow's layout.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._jit import jit
from ._prefetch import prefetch
from ._types import Ids, IntArray

Coded = tuple[IntArray, IntArray]
"""Codes 0, 1, ... by first appearance (length V), and the row where each code first appears."""

RANGE = 4
"""A table instead of a hash where integers span at most so many times the rows."""
AHEAD = 16
"""So many rows ahead the place in the hash table is asked for."""
SHORT = 7
"""Bytes of a string that fit into a key beside their number."""
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
LONGER = np.uint64(0xFF << 56)


def code_integers(column: Ids) -> Coded:
    """Codes of integers."""
    low, high = int(column.min()), int(column.max())
    if high - low >= RANGE * len(column):
        found = code_keys(column.astype(np.int64, copy=False).view(np.uint64), len(column))
        assert found is not None
        return found
    codes = np.empty(len(column), np.int64)
    table = np.zeros(high - low + 1, _small(len(column)))
    first = np.empty(min(len(column), high - low + 1), np.int64)
    ids = _by_table(column, column.dtype.type(low), table, codes, first)
    return codes, first[:ids]


def code_keys(keys: Any, most: int) -> Coded | None:
    """Codes of 64-bit keys, or None where there are more than ``most`` different ones."""
    codes, first = np.empty(len(keys), np.int64), np.empty(most, np.int64)
    ids = _by_hash(keys, _EMPTY, _EMPTY, codes, first)
    return None if ids < 0 else (codes, first[:ids])


def code_strings(data: Any, offsets: Any) -> Coded:
    """Codes of strings in Arrow's layout.

    Args:
        data: the bytes of all of them.
        offsets: length V + 1, where each begins.
    """
    V = len(offsets) - 1
    codes, first = np.empty(V, np.int64), np.empty(V, np.int64)
    ids = _by_hash(_keys(data, offsets), data, offsets, codes, first)
    return codes, first[:ids]


def last_rows(task: IntArray, worker: IntArray, tasks: int, workers: int) -> IntArray | None:
    """Rows that no later row of the same task and worker replaces, ascending; None: all of them.

    At most 2**31 rows.
    """
    begin: Any = np.zeros(tasks + 1, np.int32)
    np.cumsum(np.bincount(task, minlength=tasks), out=begin[1:])
    by_task = np.empty(len(task), np.int64)
    latest: Any = np.full((workers, 2), -1, np.int32)
    counts = np.ones(len(task), np.bool_)
    if _replaced(task, worker, begin, by_task, latest, counts):
        return np.flatnonzero(counts)
    return None


def _small(rows: int) -> Any:
    return np.int32 if rows < 2**31 - 1 else np.int64


_EMPTY: Any = np.empty(0, np.uint8)


@jit
def _by_table(column: Ids, low: Any, table: IntArray, codes: IntArray, first: IntArray) -> int:
    ids = 0
    for v in range(len(column)):
        at = column[v] - low
        code = table[at]
        if code == 0:
            first[ids] = v
            ids += 1
            code = ids
            table[at] = code
        codes[v] = code - 1
    return ids


@jit
def _by_hash(keys: Any, data: Any, offsets: Any, codes: IntArray, first: IntArray) -> int:
    """Linear probing in a table at most half full; the number of ids, -1 if above ``first``'s."""
    bits = 16
    table = np.zeros((1 << bits, 2), np.uint64)  # key, code + 1
    ids = 0
    V = len(keys)
    for v in range(V):
        shift = np.uint64(64 - bits)
        last = (1 << bits) - 1
        if v + AHEAD < V:
            prefetch(table, np.int64((keys[v + AHEAD] * GOLDEN) >> shift))
        key = keys[v]
        at = np.int64((key * GOLDEN) >> shift)
        while table[at, 1] != 0:
            if table[at, 0] == key and (
                key < LONGER
                or len(offsets) == 0
                or _same(data, offsets, first[np.int64(table[at, 1]) - 1], v)
            ):
                break
            at = (at + 1) & last
        if table[at, 1] == 0:
            if ids == len(first):
                return -1
            first[ids] = v
            ids += 1
            table[at, 0] = key
            table[at, 1] = np.uint64(ids)
            codes[v] = ids - 1
            if 2 * ids > last:
                bits += 1
                table = _larger(table, bits)
        else:
            codes[v] = np.int64(table[at, 1]) - 1
    return ids


@jit
def _larger(old: Any, bits: int) -> Any:
    table = np.zeros((1 << bits, 2), np.uint64)
    shift = np.uint64(64 - bits)
    last = (1 << bits) - 1
    for s in range(len(old)):
        if old[s, 1] != 0:
            at = np.int64((old[s, 0] * GOLDEN) >> shift)
            while table[at, 1] != 0:
                at = (at + 1) & last
            table[at, 0] = old[s, 0]
            table[at, 1] = old[s, 1]
    return table


@jit
def _keys(data: Any, offsets: Any) -> Any:
    """A short string's bytes and length, which tell it apart; a hash of a longer one's bytes."""
    keys = np.empty(len(offsets) - 1, np.uint64)
    for v in range(len(keys)):
        begin = offsets[v]
        size = offsets[v + 1] - begin
        key = np.uint64(0)
        if size <= SHORT:
            for b in range(size):
                key |= np.uint64(data[begin + b]) << np.uint64(8 * b)
            key |= np.uint64(size) << np.uint64(56)
        else:
            for b in range(size):
                key = (key ^ np.uint64(data[begin + b])) * np.uint64(0x100000001B3)
                key ^= key >> np.uint64(29)
            key |= LONGER
        keys[v] = key
    return keys


@jit
def _same(data: Any, offsets: Any, one: int, two: int) -> bool:
    size = offsets[one + 1] - offsets[one]
    if size != offsets[two + 1] - offsets[two]:
        return False
    for b in range(size):  # noqa: SIM110 -- the compiler knows no generators
        if data[offsets[one] + b] != data[offsets[two] + b]:
            return False
    return True


@jit
def _replaced(
    task: IntArray,
    worker: IntArray,
    begin: IntArray,
    by_task: IntArray,
    latest: IntArray,
    counts: Any,
) -> bool:
    fill = begin.copy()
    for v in range(len(task)):
        i = task[v]
        by_task[fill[i]] = worker[v] << 32 | v
        fill[i] += 1
    found = False
    for i in range(len(begin) - 1):
        for e in range(begin[i], begin[i + 1]):
            j = by_task[e] >> 32
            v = by_task[e] & 0xFFFFFFFF
            if latest[j, 0] == i:
                counts[latest[j, 1]] = False
                found = True
            latest[j, 0] = i
            latest[j, 1] = v
    return found
