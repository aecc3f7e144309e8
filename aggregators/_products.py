"""Matrix products in slices.

A linear-algebra library splits a large product between threads, in a number that depends on the
machine: sums then end in other bits, and threads of several fits fight for the cores (seen: COLA
four times slower on two shared cores). Slices below its threshold stay in one thread.
"""

from __future__ import annotations

import numpy as np

from ._types import FloatArray

FLOPS = 200_000
"""Multiplications in a slice; OpenBLAS stays in one thread up to 262,144."""

SLICES = 64
"""So many slices are summed at a time, which bounds the memory."""


def times(A: FloatArray, B: FloatArray) -> FloatArray:
    """``A @ B`` for a tall A (M x p, p x q)."""
    M, p = A.shape
    q = B.shape[1]
    rows = max(1, FLOPS // (p * q))
    whole = M // rows * rows
    out = np.empty((M, q))
    if whole:
        np.matmul(A[:whole].reshape(-1, rows, p), B, out=out[:whole].reshape(-1, rows, q))
    if whole < M:
        np.matmul(A[whole:], B, out=out[whole:])
    return out


def transposed_times(A: FloatArray, B: FloatArray) -> FloatArray:
    """``A.T @ B`` for tall A and B (M x p, M x q)."""
    M, p = A.shape
    q = B.shape[1]
    rows = max(1, FLOPS // (p * q))
    out = np.zeros((p, q))
    block = rows * SLICES
    for first in range(0, M, block):
        a, b = A[first : first + block], B[first : first + block]
        whole = len(a) // rows * rows
        if whole:
            slices = a[:whole].reshape(-1, rows, p).transpose(0, 2, 1)
            out += np.matmul(slices, b[:whole].reshape(-1, rows, q)).sum(axis=0)
        if whole < len(a):
            out += a[whole:].T @ b[whole:]
    return out
