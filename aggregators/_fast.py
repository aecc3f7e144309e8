"""Fast SBIC over a whole dataset in one compiled pass (the algorithm of `streaming`).

The pass multiplies weights where `streaming` adds their logarithms: a vote then costs two
divisions and no exp or log, at the same numbers to rounding. Should a weight come near the end of
the floating-point range (thousands of votes on one task), the pass is run again with logarithms.
"""

from __future__ import annotations

from math import exp, log
from typing import Any

import numpy as np

from ._jit import jit
from ._types import FloatArray, IntArray

P_MIN = 1e-6  # as streaming.P_MIN; a test compares them
LIMIT = 1e200


def fast_pass(
    task: IntArray,
    worker: IntArray,
    label: IntArray,
    prior: FloatArray,
    tasks: int,
    workers: int,
    alpha: float,
    beta: float,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Every vote once, in order.

    Args:
        task: length V, codes 0..M-1.
        worker: length V, codes 0..N-1.
        label: length V, codes 0..K-1.
        prior: length K, sums to 1.
        tasks: M.
        workers: N.
        alpha: of the workers' Beta prior.
        beta: of the workers' Beta prior.

    Returns:
        mu (M x K), S (N) and the p of each vote (V).
    """
    K = len(prior)
    code: Any = worker * K + label
    if workers * K < 2**31:
        code = code.astype(np.int32)
    start = np.zeros(tasks + 1, np.int64)
    np.cumsum(np.bincount(task, minlength=tasks), out=start[1:])
    if K == 2:
        good, mu, S, p = _binary(task, code, start, prior, workers, alpha, beta)
    else:
        good, mu, S, p = _product(task, code, start, prior, workers, alpha, beta)
    if not good:
        mu, S, p = _logarithmic(task, code, start, prior, workers, alpha, beta)
    return mu, S, p


def log_weights(
    task: IntArray, label: IntArray, p: FloatArray, log_prior: FloatArray, tasks: int
) -> FloatArray:
    """M x K, un-normalised: log prior plus the weights of all votes, each with its p."""
    K = len(log_prior)
    wrong = np.log((1.0 - p) / (K - 1))
    gain = np.log(p) - wrong
    m = np.bincount(task * K + label, gain, tasks * K).astype(np.float64).reshape(tasks, K)
    m += log_prior
    m += np.bincount(task, wrong, tasks)[:, None]
    return m


@jit
def _binary(
    task: IntArray,
    code: IntArray,
    start: IntArray,
    prior: FloatArray,
    workers: int,
    alpha: float,
    beta: float,
) -> tuple[bool, FloatArray, FloatArray, FloatArray]:
    V = len(task)
    M = len(start) - 1
    odds = np.full(M, prior[1] / prior[0])  # of class 1 against class 0
    fill = start[:M].copy()
    past = np.empty_like(code)  # the votes that each task has had so far, side by side
    S = np.zeros(workers)
    n = np.zeros(workers)
    p_of = np.empty(V)
    good = True
    for v in range(V):
        i = task[v]
        c = code[v]
        j = c >> 1
        p = (S[j] + alpha) / (n[j] + alpha + beta)
        p = min(max(p, P_MIN), 1.0 - P_MIN)
        p_of[v] = p
        before = odds[i]
        after = before * (p / (1.0 - p)) if c & 1 else before * ((1.0 - p) / p)
        odds[i] = after
        if not 1.0 / LIMIT < after < LIMIT:
            good = False
            break
        mu = after / (1.0 + after)
        change = mu - before / (1.0 + before)
        end = fill[i]
        for h in range(start[i], end):
            d = past[h]
            S[d >> 1] += change if d & 1 else -change
        past[end] = c
        fill[i] = end + 1
        n[j] += 1.0
        S[j] += mu if c & 1 else 1.0 - mu
    mus = np.empty((M, 2))
    for i in range(M):
        mus[i, 1] = odds[i] / (1.0 + odds[i])
        mus[i, 0] = 1.0 / (1.0 + odds[i])
    return good, mus, S, p_of


@jit
def _product(
    task: IntArray,
    code: IntArray,
    start: IntArray,
    prior: FloatArray,
    workers: int,
    alpha: float,
    beta: float,
) -> tuple[bool, FloatArray, FloatArray, FloatArray]:
    V = len(task)
    M = len(start) - 1
    K = len(prior)
    W = np.empty((M, K))
    for i in range(M):
        W[i] = prior
    total = np.ones(M)
    fill = start[:M].copy()
    past = np.empty_like(code)
    S = np.zeros(workers)
    n = np.zeros(workers)
    p_of = np.empty(V)
    good = True
    for v in range(V):
        i = task[v]
        c = code[v]
        j = c // K
        x = c - j * K
        p = (S[j] + alpha) / (n[j] + alpha + beta)
        p = min(max(p, P_MIN), 1.0 - P_MIN)
        p_of[v] = p
        # All classes but x keep their weight, x gains what a right answer is likelier.
        old = W[i, x]
        new = old * (p * (K - 1) / (1.0 - p))
        before = 1.0 / total[i]
        sum_of = 0.0
        W[i, x] = new
        for y in range(K):
            sum_of += W[i, y]
        total[i] = sum_of
        if not (1.0 / LIMIT < new < LIMIT and sum_of < LIMIT):
            good = False
            break
        after = 1.0 / sum_of
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
    for i in range(M):
        W[i] /= total[i]
    return good, W, S, p_of


@jit
def _logarithmic(
    task: IntArray,
    code: IntArray,
    start: IntArray,
    prior: FloatArray,
    workers: int,
    alpha: float,
    beta: float,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    V = len(task)
    M = len(start) - 1
    K = len(prior)
    m = np.empty((M, K))
    mu = np.empty((M, K))
    for i in range(M):
        m[i] = np.log(prior)
        mu[i] = prior
    fill = start[:M].copy()
    past = np.empty_like(code)
    S = np.zeros(workers)
    n = np.zeros(workers)
    p_of = np.empty(V)
    change = np.empty(K)
    for v in range(V):
        i = task[v]
        c = code[v]
        j = c // K
        x = c - j * K
        p = (S[j] + alpha) / (n[j] + alpha + beta)
        p = min(max(p, P_MIN), 1.0 - P_MIN)
        p_of[v] = p
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
    return mu, S, p_of
