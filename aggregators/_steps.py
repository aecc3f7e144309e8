"""The update of `streaming`, compiled, for a stretch of votes: what Fast and Sorted SBIC run.

Three forms of one update, equal to rounding. Two multiply weights where `streaming` adds their
logarithms: a vote then costs two or three divisions and no exp or log. When a weight comes near the
end of the floating-point range (thousands of votes on one task) they give up, and the caller starts
again with the third, which adds logarithms.

State, all changed in place. What one vote needs lies side by side, since on votes in random order
nearly all of the time goes into waiting for the memory:

- ``W`` (M x `width`): the odds of the second class and its posterior; or the inverse of the sum of
  the weights, then the weights; or the posterior, then the log-weights.
- ``past`` (V): the votes that each task has had so far, as ``code`` (`_fast.pack`), from
  ``span[i, 0]`` to ``span[i, 1]``.
- ``skill`` (N x 2): S and n of each worker.

Where ``truth`` (length M, or 0 where no task is gold) is not negative, it is the task's known
class: votes on it teach about their workers and leave its state alone.
"""

from __future__ import annotations

from math import exp, log

import numpy as np

from ._jit import jit
from ._prefetch import prefetch
from ._types import FloatArray, IntArray

P_MIN = 1e-6  # as streaming.P_MIN; a test compares them
ODDS_MAX = (1.0 - P_MIN) / P_MIN
LIMIT = 1e200
ODDS, WEIGHTS, LOGARITHMS = 0, 1, 2
AHEAD = 24
"""So many votes ahead the memory of a vote's task is asked for."""
MANY = 20_000
"""Where a stretch has fewer votes its tasks are in the cache anyway."""


def width(form: int, K: int) -> int:
    """Columns of ``W``."""
    return (2, K + 1, 2 * K)[form]


@jit
def label_bits(K: int) -> int:
    """Bits for a label in ``code`` and ``past``."""
    bits = 1
    while (1 << bits) < K:
        bits += 1
    return bits


@jit
def clear(form: int, a: int, b: int, prior: FloatArray, W: FloatArray, span: IntArray) -> None:
    """Tasks a..b-1 as if they had no votes."""
    K = len(prior)
    for i in range(a, b):
        span[i, 1] = span[i, 0]
        if form == ODDS:
            W[i, 0] = prior[1] / prior[0]
            W[i, 1] = prior[1]
        elif form == WEIGHTS:
            W[i, 0] = 1.0
            for y in range(K):
                W[i, y + 1] = prior[y]
        else:
            for y in range(K):
                W[i, y] = prior[y]
                W[i, K + y] = log(prior[y])


@jit
def accuracy(skill: FloatArray, j: int, alpha: float, beta: float) -> float:
    """The p with which the next vote of worker ``j`` weighs."""
    p: float = (skill[j, 0] + alpha) / (skill[j, 1] + (alpha + beta))
    return min(max(p, P_MIN), 1.0 - P_MIN)


@jit
def apply(
    form: int,
    lo: int,
    hi: int,
    task: IntArray,
    code: IntArray,
    W: FloatArray,
    span: IntArray,
    past: IntArray,
    skill: FloatArray,
    p_of: FloatArray,
    K: int,
    alpha: float,
    beta: float,
    truth: IntArray,
) -> bool:
    """Count the votes lo..hi-1 in order; False: out of range, start again in another form.

    ``p_of`` gets each one's p, unless its length is 0.
    """
    if form == ODDS:
        return _odds(lo, hi, task, code, W, span, past, skill, p_of, alpha, beta, truth)
    if form == WEIGHTS:
        return _weights(lo, hi, task, code, W, span, past, skill, p_of, K, alpha, beta, truth)
    return _logarithms(lo, hi, task, code, W, span, past, skill, p_of, K, alpha, beta, truth)


@jit
def _odds(
    lo: int,
    hi: int,
    task: IntArray,
    code: IntArray,
    W: FloatArray,
    span: IntArray,
    past: IntArray,
    skill: FloatArray,
    p_of: FloatArray,
    alpha: float,
    beta: float,
    truth: IntArray,
) -> bool:
    gold = len(truth) > 0
    noted = len(p_of) > 0
    far = hi - AHEAD if hi - lo >= MANY else lo
    for v in range(lo, hi):
        i = task[v]
        if v < far:
            prefetch(W, task[v + AHEAD])
            prefetch(span, task[v + AHEAD])
            prefetch(past, span[task[v + AHEAD // 2], 0])
        c = code[v]
        j = c >> 1
        yes = (c & 1) == 1
        S = skill[j, 0]
        n = skill[j, 1]
        if noted:
            p_of[v] = min(max((S + alpha) / (n + (alpha + beta)), P_MIN), 1.0 - P_MIN)
        skill[j, 1] = n + 1.0
        if gold and truth[i] >= 0:
            skill[j, 0] = S + (1.0 if (c & 1) == truth[i] else 0.0)
            continue
        # p / (1 - p) or its inverse, in one division
        right = max(S, 0.0) + alpha  # rounding may leave S just outside of [0, n]
        wrong = max(n - S, 0.0) + beta
        factor = (right if yes else wrong) / (wrong if yes else right)
        factor = min(max(factor, 1.0 / ODDS_MAX), ODDS_MAX)
        after = W[i, 0] * factor
        if not 1.0 / LIMIT < after < LIMIT:
            return False
        now = after / (1.0 + after)
        change = now - W[i, 1]
        W[i, 0] = after
        W[i, 1] = now
        end = span[i, 1]
        for h in range(span[i, 0], end):
            d = past[h]
            skill[d >> 1, 0] += change if d & 1 else -change
        past[end] = c
        span[i, 1] = end + 1
        skill[j, 0] += now if yes else 1.0 - now
    return True


@jit
def _weights(
    lo: int,
    hi: int,
    task: IntArray,
    code: IntArray,
    W: FloatArray,
    span: IntArray,
    past: IntArray,
    skill: FloatArray,
    p_of: FloatArray,
    K: int,
    alpha: float,
    beta: float,
    truth: IntArray,
) -> bool:
    gold = len(truth) > 0
    noted = len(p_of) > 0
    bits = label_bits(K)
    mask = (1 << bits) - 1
    far = hi - AHEAD if hi - lo >= MANY else lo
    for v in range(lo, hi):
        i = task[v]
        if v < far:
            prefetch(W, task[v + AHEAD])
            prefetch(span, task[v + AHEAD])
            prefetch(past, span[task[v + AHEAD // 2], 0])
        c = code[v]
        j = c >> bits
        x = c & mask
        p = accuracy(skill, j, alpha, beta)
        if noted:
            p_of[v] = p
        skill[j, 1] += 1.0
        if gold and truth[i] >= 0:
            skill[j, 0] += 1.0 if x == truth[i] else 0.0
            continue
        # The other classes keep their weight, x gains by how much likelier a right answer is.
        old = W[i, x + 1]
        new = old * (p * (K - 1) / (1.0 - p))
        before = W[i, 0]
        W[i, x + 1] = new
        total = 0.0
        for y in range(K):
            total += W[i, y + 1]
        if not (new > 1.0 / LIMIT and total < LIMIT):
            return False
        after = 1.0 / total
        W[i, 0] = after
        end = span[i, 1]
        for h in range(span[i, 0], end):
            d = past[h]
            k = d >> bits
            y = d & mask
            gain = new * after - old * before if y == x else W[i, y + 1] * (after - before)
            skill[k, 0] += gain
        past[end] = c
        span[i, 1] = end + 1
        skill[j, 0] += new * after
    return True


@jit
def _logarithms(
    lo: int,
    hi: int,
    task: IntArray,
    code: IntArray,
    W: FloatArray,
    span: IntArray,
    past: IntArray,
    skill: FloatArray,
    p_of: FloatArray,
    K: int,
    alpha: float,
    beta: float,
    truth: IntArray,
) -> bool:
    gold = len(truth) > 0
    noted = len(p_of) > 0
    bits = label_bits(K)
    mask = (1 << bits) - 1
    change = np.empty(K)
    for v in range(lo, hi):
        i = task[v]
        c = code[v]
        j = c >> bits
        x = c & mask
        p = accuracy(skill, j, alpha, beta)
        if noted:
            p_of[v] = p
        skill[j, 1] += 1.0
        if gold and truth[i] >= 0:
            skill[j, 0] += 1.0 if x == truth[i] else 0.0
            continue
        wrong = log((1.0 - p) / (K - 1))
        right = W[i, K + x] + log(p)
        top = right
        for y in range(K):
            W[i, K + y] += wrong
            if y != x and W[i, K + y] > top:
                top = W[i, K + y]
        W[i, K + x] = right
        total = 0.0
        for y in range(K):
            change[y] = exp(W[i, K + y] - top)
            total += change[y]
        for y in range(K):
            now = change[y] / total
            change[y] = now - W[i, y]
            W[i, y] = now
        end = span[i, 1]
        for h in range(span[i, 0], end):
            d = past[h]
            skill[d >> bits, 0] += change[d & mask]
        past[end] = c
        span[i, 1] = end + 1
        skill[j, 0] += W[i, x]
    return True
