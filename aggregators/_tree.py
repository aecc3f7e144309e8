"""Sorted SBIC, compiled: leave-one-task-out in full, or by halving the set of tasks.

`tree`: to see each task last, split the tasks in A and B; count B's votes and go on within A; take
them back, count A's votes and go on within B. At a leaf every vote but the leaf's own has been
counted. Each level counts every vote once: O(log M) a vote instead of O(M).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _steps
from ._jit import jit
from ._types import FloatArray, IntArray

DEPTH = 64
"""More levels than a set of tasks can have."""


@jit
def tree(
    form: int,
    path: int,
    levels: int,
    task: IntArray,
    code: IntArray,
    start: IntArray,
    prior: FloatArray,
    workers: int,
    alpha: float,
    beta: float,
    p_of: FloatArray,
    truth: IntArray,
) -> bool:
    """The p of every vote as if its task came last.

    Args:
        form: one of those in `_steps`.
        path: which of the 2**levels subtrees to work on: bit l says the half at level l.
        levels: 0 for the whole tree; more, to share the work between threads.
        task: length V, in order of arrival; halves are cut by number, so number tasks at random.
        code: length V, worker * K + label.
        start: length M + 1, where each task's votes begin when they are sorted by task.
        prior: length K.
        workers: N.
        alpha: of the workers' Beta prior.
        beta: of the workers' Beta prior.
        p_of: length V, the result, in order of arrival.
        truth: length M, the known class of gold tasks and -1; length 0 where none is gold.

    Returns:
        False if a weight has left the floating-point range.
    """
    V = len(task)
    M = len(start) - 1
    K = len(prior)
    task = task.astype(np.int32)
    code = code.copy()
    row: Any = np.arange(V).astype(np.int32)
    spare_task = np.empty_like(task)
    spare_code = np.empty_like(code)
    spare_row: Any = np.empty_like(row)

    W = np.empty((M, 1 if form == _steps.ODDS else K))
    mu = np.empty((M, K))
    fill = np.empty(M, np.int64)
    past = np.empty_like(code)
    S = np.zeros(workers)
    n = np.zeros(workers)
    unused = np.empty(V)
    _steps.clear(form, 0, M, prior, W, mu, start, fill)

    # What the counted stretches have overwritten in S and n. Those on one path are disjoint.
    S_before = np.empty(V)
    n_before = np.empty(V)
    saved = 0

    # a, b (tasks), lo, hi (votes), cut (votes), phase, whether to leave the votes in order
    frame = np.zeros((DEPTH, 7), np.int64)
    frame[0, 1] = M
    frame[0, 3] = V
    d = 0
    while d >= 0:
        a, b, lo, hi, cut, phase, tidy = frame[d]
        mid = (a + b) // 2
        only = (path >> d) & 1 if d < levels else 2  # 0: only A, 1: only B, 2: both
        if b - a == 1:
            for v in range(lo, hi):
                j = code[v] // K
                p = (S[j] + alpha) / (n[j] + alpha + beta)
                p_of[row[v]] = min(max(p, _steps.P_MIN), 1.0 - _steps.P_MIN)
            d -= 1
            continue
        if phase == 0:
            # A's votes to the front, both parts in order of arrival.
            cut = lo
            kept = 0
            for v in range(lo, hi):
                if task[v] < mid:
                    task[cut] = task[v]
                    code[cut] = code[v]
                    row[cut] = row[v]
                    cut += 1
                else:
                    spare_task[kept] = task[v]
                    spare_code[kept] = code[v]
                    spare_row[kept] = row[v]
                    kept += 1
            for v in range(kept):
                task[cut + v] = spare_task[v]
                code[cut + v] = spare_code[v]
                row[cut + v] = spare_row[v]
            frame[d, 4] = cut
            if only == 1:
                phase = 1
        if phase == 0:
            first, last = cut, hi
        elif phase == 1:
            first, last = lo, cut
            if only != 1:
                saved = _undo(cut, hi, code, K, S, n, S_before, n_before, saved)
                _steps.clear(form, mid, b, prior, W, mu, start, fill)
            if only == 0:
                d -= 1
                continue
        else:
            saved = _undo(lo, cut, code, K, S, n, S_before, n_before, saved)
            _steps.clear(form, a, mid, prior, W, mu, start, fill)
            if tidy:
                _merge(lo, cut, hi, task, code, row, spare_task, spare_code, spare_row)
            d -= 1
            continue
        for v in range(first, last):
            j = code[v] // K
            S_before[saved] = S[j]
            n_before[saved] = n[j]
            saved += 1
        if not _steps.apply(
            form,
            first,
            last,
            task,
            code,
            start,
            W,
            mu,
            fill,
            past,
            S,
            n,
            unused,
            alpha,
            beta,
            truth,
        ):
            return False
        frame[d, 5] = phase + 1
        d += 1
        if phase == 0:
            b, hi, tidy = mid, cut, 1  # A's votes are still to be counted, in order
        else:
            a, lo = mid, cut
        frame[d, 0] = a
        frame[d, 1] = b
        frame[d, 2] = lo
        frame[d, 3] = hi
        frame[d, 5] = 0
        frame[d, 6] = tidy
    return True


@jit
def _merge(
    lo: int,
    cut: int,
    hi: int,
    task: IntArray,
    code: IntArray,
    row: IntArray,
    spare_task: IntArray,
    spare_code: IntArray,
    spare_row: IntArray,
) -> None:
    """Bring two neighbouring stretches, each in order of arrival, into one."""
    kept = cut - lo
    for v in range(kept):
        spare_task[v] = task[lo + v]
        spare_code[v] = code[lo + v]
        spare_row[v] = row[lo + v]
    u = 0
    v = cut
    w = lo
    while u < kept:
        if v < hi and row[v] < spare_row[u]:
            task[w] = task[v]
            code[w] = code[v]
            row[w] = row[v]
            v += 1
        else:
            task[w] = spare_task[u]
            code[w] = spare_code[u]
            row[w] = spare_row[u]
            u += 1
        w += 1


@jit
def _undo(
    first: int,
    last: int,
    code: IntArray,
    K: int,
    S: FloatArray,
    n: FloatArray,
    S_before: FloatArray,
    n_before: FloatArray,
    saved: int,
) -> int:
    """Put back the S and n of the workers of a counted stretch; returns the new end of the log.

    Every entry of a worker holds what was before the stretch, so repeats do no harm.
    """
    saved -= last - first
    for v in range(first, last):
        j = code[v] // K
        S[j] = S_before[saved + v - first]
        n[j] = n_before[saved + v - first]
    return saved


@jit
def naive(
    form: int,
    task: IntArray,
    code: IntArray,
    start: IntArray,
    prior: FloatArray,
    workers: int,
    alpha: float,
    beta: float,
    first: int,
    last: int,
    p_of: FloatArray,
    truth: IntArray,
) -> bool:
    """Algorithm 2 as written, for tasks first..last-1: all other votes in order, then the task's.

    Arguments as in `tree`.
    """
    V = len(task)
    M = len(start) - 1
    K = len(prior)
    W = np.empty((M, 1 if form == _steps.ODDS else K))
    mu = np.empty((M, K))
    fill = np.empty(M, np.int64)
    past = np.empty_like(code)
    S = np.empty(workers)
    n = np.empty(workers)
    unused = np.empty(V)
    for k in range(first, last):
        _steps.clear(form, 0, M, prior, W, mu, start, fill)
        S[:] = 0.0
        n[:] = 0.0
        lo = 0
        while lo < V:
            hi = lo
            while hi < V and task[hi] != k:
                hi += 1
            if not _steps.apply(
                form, lo, hi, task, code, start, W, mu, fill, past, S, n, unused, alpha, beta, truth
            ):
                return False
            lo = hi + 1
        for v in range(V):
            if task[v] == k:
                j = code[v] // K
                p = (S[j] + alpha) / (n[j] + alpha + beta)
                p_of[v] = min(max(p, _steps.P_MIN), 1.0 - _steps.P_MIN)
    return True
