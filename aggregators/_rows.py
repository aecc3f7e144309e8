"""Sums of rows, compiled: a sparse matrix of ones times a table, several times faster."""

from __future__ import annotations

import numpy as np

from ._jit import jit
from ._types import FloatArray, IntArray


@jit
def sum_rows(start: IntArray, index: IntArray, table: FloatArray) -> FloatArray:
    """R x q: row r is the sum of the rows ``index[start[r]:start[r + 1]]`` of ``table``."""
    R = len(start) - 1
    q = table.shape[1]
    out = np.zeros((R, q))
    for r in range(R):
        for e in range(start[r], start[r + 1]):
            i = index[e]
            for c in range(q):
                out[r, c] += table[i, c]
    return out
