"""The update of `streaming`, compiled, for a stretch of votes: what Fast and Sorted SBIC run.

Three forms of one update, equal to rounding. Two multiply weights where `streaming` adds their
logarithms: a vote then costs two divisions and no exp or log. When a weight comes near the end of
the floating-point range (thousands of votes on one task) they give up, and the caller starts again
with the third, which adds logarithms.

State, all changed in place: ``W`` (M x K; the odds in column 0, the weights, or the log-weights),
``mu`` (M x K; column 0 the sum of the weights in the second form, the posterior in the third),
``past`` (the votes that each task has had so far, as worker * K + label, side by side from
``start[i]`` to ``fill[i]``), ``S`` and ``n`` of the workers. Where ``truth`` (length M, or 0 where
no task is gold) is not negative, it is the task's known class: votes on it teach about their
workers and leave its state alone.
"""

from __future__ import annotations

from math import exp, log

import numpy as np

from ._jit import jit
from ._types import FloatArray, IntArray

P_MIN = 1e-6  # as streaming.P_MIN; a test compares them
LIMIT = 1e200
ODDS, WEIGHTS, LOGARITHMS = 0, 1, 2


@jit
def clear(
    form: int,
    a: int,
    b: int,
    prior: FloatArray,
    W: FloatArray,
    mu: FloatArray,
    start: IntArray,
    fill: IntArray,
) -> None:
    """Tasks a..b-1 as if they had no votes."""
    K = len(prior)
    for i in range(a, b):
        fill[i] = start[i]
        if form == ODDS:
            W[i, 0] = prior[1] / prior[0]
        else:
            for y in range(K):
                W[i, y] = prior[y] if form == WEIGHTS else log(prior[y])
                mu[i, y] = prior[y]
            if form == WEIGHTS:
                mu[i, 0] = 1.0


@jit
def apply(
    form: int,
    lo: int,
    hi: int,
    task: IntArray,
    code: IntArray,
    start: IntArray,
    W: FloatArray,
    mu: FloatArray,
    fill: IntArray,
    past: IntArray,
    S: FloatArray,
    n: FloatArray,
    p_of: FloatArray,
    alpha: float,
    beta: float,
    truth: IntArray,
) -> bool:
    """Count the votes lo..hi-1 in order, noting each one's p; False: out of range, start again."""
    if form == ODDS:
        return _odds(lo, hi, task, code, start, W, fill, past, S, n, p_of, alpha, beta, truth)
    if form == WEIGHTS:
        return _weights(
            lo, hi, task, code, start, W, mu, fill, past, S, n, p_of, alpha, beta, truth
        )
    return _logarithms(lo, hi, task, code, start, W, mu, fill, past, S, n, p_of, alpha, beta, truth)


@jit
def _odds(
    lo: int,
    hi: int,
    task: IntArray,
    code: IntArray,
    start: IntArray,
    W: FloatArray,
    fill: IntArray,
    past: IntArray,
    S: FloatArray,
    n: FloatArray,
    p_of: FloatArray,
    alpha: float,
    beta: float,
    truth: IntArray,
) -> bool:
    gold = len(truth) > 0
    for v in range(lo, hi):
        i = task[v]
        c = code[v]
        j = c >> 1
        p = (S[j] + alpha) / (n[j] + alpha + beta)
        p = min(max(p, P_MIN), 1.0 - P_MIN)
        p_of[v] = p
        if gold and truth[i] >= 0:
            n[j] += 1.0
            S[j] += 1.0 if (c & 1) == truth[i] else 0.0
            continue
        before = W[i, 0]
        after = before * (p / (1.0 - p)) if c & 1 else before * ((1.0 - p) / p)
        W[i, 0] = after
        if not 1.0 / LIMIT < after < LIMIT:
            return False
        now = after / (1.0 + after)
        change = now - before / (1.0 + before)
        end = fill[i]
        for h in range(start[i], end):
            d = past[h]
            S[d >> 1] += change if d & 1 else -change
        past[end] = c
        fill[i] = end + 1
        n[j] += 1.0
        S[j] += now if c & 1 else 1.0 - now
    return True


@jit
def _weights(
    lo: int,
    hi: int,
    task: IntArray,
    code: IntArray,
    start: IntArray,
    W: FloatArray,
    total: FloatArray,
    fill: IntArray,
    past: IntArray,
    S: FloatArray,
    n: FloatArray,
    p_of: FloatArray,
    alpha: float,
    beta: float,
    truth: IntArray,
) -> bool:
    gold = len(truth) > 0
    K = W.shape[1]
    for v in range(lo, hi):
        i = task[v]
        c = code[v]
        j = c // K
        x = c - j * K
        p = (S[j] + alpha) / (n[j] + alpha + beta)
        p = min(max(p, P_MIN), 1.0 - P_MIN)
        p_of[v] = p
        if gold and truth[i] >= 0:
            n[j] += 1.0
            S[j] += 1.0 if x == truth[i] else 0.0
            continue
        # The other classes keep their weight, x gains by how much likelier a right answer is.
        old = W[i, x]
        new = old * (p * (K - 1) / (1.0 - p))
        before = 1.0 / total[i, 0]
        W[i, x] = new
        now = 0.0
        for y in range(K):
            now += W[i, y]
        total[i, 0] = now
        if not (new > 1.0 / LIMIT and now < LIMIT):
            return False
        after = 1.0 / now
        end = fill[i]
        for h in range(start[i], end):
            d = past[h]
            k = d // K
            y = d - k * K
            S[k] += new * after - old * before if y == x else W[i, y] * (after - before)
        past[end] = c
        fill[i] = end + 1
        n[j] += 1.0
        S[j] += new * after
    return True


@jit
def _logarithms(
    lo: int,
    hi: int,
    task: IntArray,
    code: IntArray,
    start: IntArray,
    m: FloatArray,
    mu: FloatArray,
    fill: IntArray,
    past: IntArray,
    S: FloatArray,
    n: FloatArray,
    p_of: FloatArray,
    alpha: float,
    beta: float,
    truth: IntArray,
) -> bool:
    gold = len(truth) > 0
    K = m.shape[1]
    change = np.empty(K)
    for v in range(lo, hi):
        i = task[v]
        c = code[v]
        j = c // K
        x = c - j * K
        p = (S[j] + alpha) / (n[j] + alpha + beta)
        p = min(max(p, P_MIN), 1.0 - P_MIN)
        p_of[v] = p
        if gold and truth[i] >= 0:
            n[j] += 1.0
            S[j] += 1.0 if x == truth[i] else 0.0
            continue
        wrong = log((1.0 - p) / (K - 1))
        right = m[i, x] + log(p)
        top = right
        for y in range(K):
            m[i, y] += wrong
            if y != x and m[i, y] > top:
                top = m[i, y]
        m[i, x] = right
        total = 0.0
        for y in range(K):
            change[y] = exp(m[i, y] - top)
            total += change[y]
        for y in range(K):
            now = change[y] / total
            change[y] = now - mu[i, y]
            mu[i, y] = now
        end = fill[i]
        for h in range(start[i], end):
            d = past[h]
            k = d // K
            S[k] += change[d - k * K]
        past[end] = c
        fill[i] = end + 1
        n[j] += 1.0
        S[j] += mu[i, x]
    return True
