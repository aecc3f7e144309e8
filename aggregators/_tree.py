"""Sorted SBIC, compiled: leave-one-task-out in full, or by halving the set of tasks.

`tree`: to see each task last, split the tasks in A and B; count B's votes and go on within A; take
them back, count A's votes and go on within B. At a leaf every vote but the leaf's own has been
counted. Each level counts every vote once: O(log M) a vote instead of O(M).
"""

from __future__ import annotations

import numpy as np

from . import _steps
from ._jit import jit
from ._types import FloatArray, IntArray

DEPTH = 64
"""More levels than a set of tasks can have."""


def room(span: IntArray, votes: int) -> int:
    """Votes that `tree` holds at a time: those of every set on the way down to a leaf.

    Args:
        span: M x 2, as `_fast.spans` gives it.
        votes: V.
    """
    begin = np.append(span[:, 0].astype(np.int64), votes)
    cuts = np.array([0, len(span)])
    total = votes
    while True:
        split = np.diff(cuts) > 1
        if not split.any():
            return total
        total += int(np.diff(begin[cuts])[split].max())
        halves = np.empty(2 * len(cuts) - 1, np.int64)
        halves[::2] = cuts
        halves[1::2] = (cuts[:-1] + cuts[1:]) // 2
        cuts = halves


def tree(
    form: int,
    path: int,
    levels: int,
    task: IntArray,
    code: IntArray,
    span: IntArray,
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
        code: length V, as `_fast.pack` gives it.
        span: M x 2, as `_fast.spans` gives it.
        prior: length K.
        workers: N.
        alpha: of the workers' Beta prior.
        beta: of the workers' Beta prior.
        p_of: length V, the result, in order of arrival.
        truth: length M, the known class of gold tasks and -1; length 0 where none is gold.

    Returns:
        False if a weight has left the floating-point range.
    """
    V, M, K = len(task), len(span), len(prior)
    size = room(span, V)
    small = span.dtype  # 32 bits where they suffice: the cache holds more of them
    W = np.empty((M, _steps.width(form, K)))
    stack = (np.empty(size, small), np.empty(size, code.dtype), np.empty(size, small))
    undo = (np.empty((V + workers, 2)), np.empty(V + workers, small))
    return bool(
        _tree(form, path, levels, task, code, span.copy(), prior, W, np.empty_like(code),
              np.zeros((workers, 2)), alpha, beta, p_of, truth, *stack, *undo)
    )  # fmt: skip


@jit
def _tree(
    form: int,
    path: int,
    levels: int,
    all_task: IntArray,
    all_code: IntArray,
    span: IntArray,
    prior: FloatArray,
    W: FloatArray,
    past: IntArray,
    skill: FloatArray,
    alpha: float,
    beta: float,
    p_of: FloatArray,
    truth: IntArray,
    task: IntArray,
    code: IntArray,
    row: IntArray,
    before: FloatArray,
    whose: IntArray,
) -> bool:
    V = len(all_task)
    K = len(prior)
    bits = _steps.label_bits(K)
    unused = np.empty(0)
    for v in range(V):
        task[v] = all_task[v]
        code[v] = all_code[v]
        row[v] = v
    saved = 0

    # a, b (tasks), lo, hi (votes), top (where the halves' votes go), cut (between them), phase
    frame = np.zeros((DEPTH, 7), np.int64)
    frame[0, 1] = len(span)
    frame[0, 3] = frame[0, 4] = V
    d = 0
    while d >= 0:
        a, b, lo, hi, top, cut, phase = frame[d]
        if b - a == 1:
            for v in range(lo, hi):
                p_of[row[v]] = _steps.accuracy(skill, code[v] >> bits, alpha, beta)
            d -= 1
            continue
        mid = (a + b) // 2
        end = top + hi - lo
        only = (path >> d) & 1 if d < levels else 2  # 0: only A, 1: only B, 2: both
        if phase == 0:
            # Both halves' votes, each in order of arrival, without a branch that chance decides.
            cut = top + span[mid, 0] - span[a, 0]
            to_a = top
            to_b = cut
            for v in range(lo, hi):
                i = task[v]
                left = i < mid
                w = to_a if left else to_b
                task[w] = i
                code[w] = code[v]
                row[w] = row[v]
                to_a += left
                to_b += not left
            frame[d, 5] = cut
        else:
            saved = _undo(cut if phase == 1 else top, end if phase == 1 else cut,
                          skill, before, whose, saved)  # fmt: skip
        if phase == 0 and only == 1:
            phase = 1
        if phase == 2 or (phase == 1 and only == 0):
            d -= 1
            continue
        frame[d, 6] = phase + 1
        if phase == 0:  # B's votes are counted, on to A
            first, last, x, y = cut, end, mid, b
            b, lo, hi = mid, top, cut
        else:
            first, last, x, y = top, cut, a, mid
            a, lo, hi = mid, cut, end
        saved = _save(first, last, code, bits, skill, before, whose, saved)
        _steps.clear(form, x, y, prior, W, span)
        if not _steps.apply(
            form, first, last, task, code, W, span, past, skill, unused, K, alpha, beta, truth
        ):
            return False
        d += 1
        frame[d, 0] = a
        frame[d, 1] = b
        frame[d, 2] = lo
        frame[d, 3] = hi
        frame[d, 4] = end
        frame[d, 6] = 0
    return True


@jit
def _save(
    first: int,
    last: int,
    code: IntArray,
    bits: int,
    skill: FloatArray,
    before: FloatArray,
    whose: IntArray,
    saved: int,
) -> int:
    """Note S and n of the workers of a stretch to be counted; returns the new end of the notes.

    Of all workers, where the stretch has more votes than there are workers.
    """
    N = len(skill)
    if last - first >= N:
        for j in range(N):
            before[saved + j, 0] = skill[j, 0]
            before[saved + j, 1] = skill[j, 1]
        return saved + N
    for v in range(first, last):
        j = code[v] >> bits
        whose[saved] = j
        before[saved, 0] = skill[j, 0]
        before[saved, 1] = skill[j, 1]
        saved += 1
    return saved


@jit
def _undo(
    first: int, last: int, skill: FloatArray, before: FloatArray, whose: IntArray, saved: int
) -> int:
    """Put back what `_save` noted of a stretch; returns the new end of the notes.

    Every note of a worker holds what was before the stretch, so repeats do no harm.
    """
    N = len(skill)
    if last - first >= N:
        saved -= N
        for j in range(N):
            skill[j, 0] = before[saved + j, 0]
            skill[j, 1] = before[saved + j, 1]
        return saved
    for u in range(saved - (last - first), saved):
        skill[whose[u], 0] = before[u, 0]
        skill[whose[u], 1] = before[u, 1]
    return saved - (last - first)


def naive(
    form: int,
    task: IntArray,
    code: IntArray,
    span: IntArray,
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
    W = np.empty((len(span), _steps.width(form, len(prior))))
    past, skill = np.empty_like(code), np.empty((workers, 2))
    return bool(
        _naive(form, task, code, span.copy(), prior, W, past, skill, alpha, beta, first, last,
               p_of, truth)
    )  # fmt: skip


@jit
def _naive(
    form: int,
    task: IntArray,
    code: IntArray,
    span: IntArray,
    prior: FloatArray,
    W: FloatArray,
    past: IntArray,
    skill: FloatArray,
    alpha: float,
    beta: float,
    first: int,
    last: int,
    p_of: FloatArray,
    truth: IntArray,
) -> bool:
    V = len(task)
    K = len(prior)
    bits = _steps.label_bits(K)
    unused = np.empty(0)
    for k in range(first, last):
        _steps.clear(form, 0, len(span), prior, W, span)
        skill[:] = 0.0
        lo = 0
        while lo < V:
            hi = lo
            while hi < V and task[hi] != k:
                hi += 1
            if not _steps.apply(
                form, lo, hi, task, code, W, span, past, skill, unused, K, alpha, beta, truth
            ):
                return False
            lo = hi + 1
        for v in range(V):
            if task[v] == k:
                p_of[v] = _steps.accuracy(skill, code[v] >> bits, alpha, beta)
    return True
