"""Fast SBIC over a whole dataset in one compiled pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _steps
from ._jit import jit
from ._types import FloatArray, IntArray


def fast_pass(
    task: IntArray,
    worker: IntArray,
    label: IntArray,
    prior: FloatArray,
    tasks: int,
    workers: int,
    alpha: float,
    beta: float,
    truth: IntArray,
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
        truth: length M, the known class of gold tasks and -1; length 0 where none is gold.

    Returns:
        mu (M x K; a gold task's is the prior), S (N) and the p of each vote (V).
    """
    code = pack(worker, label, workers, len(prior))
    start = starts(task, tasks)
    mu = S = p = np.empty(0)
    for form in forms(len(prior)):
        good, mu, S, p = _pass(form, task, code, start, prior, workers, alpha, beta, truth)
        if good:
            break
    return mu, S, p


def forms(K: int) -> tuple[int, int]:
    """The forms of the update to try, in order."""
    return (_steps.ODDS if K == 2 else _steps.WEIGHTS), _steps.LOGARITHMS


def pack(worker: IntArray, label: IntArray, workers: int, K: int) -> Any:
    """Worker and label as one number, 32 bits where they suffice (the cache holds more of them)."""
    code = worker * K + label
    return code.astype(np.int32) if workers * K < 2**31 else code


def starts(task: IntArray, tasks: int) -> IntArray:
    """Length M + 1: where each task's votes begin when they are sorted by task."""
    start = np.zeros(tasks + 1, np.int64)
    np.cumsum(np.bincount(task, minlength=tasks), out=start[1:])
    return start


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
def _pass(
    form: int,
    task: IntArray,
    code: IntArray,
    start: IntArray,
    prior: FloatArray,
    workers: int,
    alpha: float,
    beta: float,
    truth: IntArray,
) -> tuple[bool, FloatArray, FloatArray, FloatArray]:
    M = len(start) - 1
    K = len(prior)
    W = np.empty((M, 1 if form == _steps.ODDS else K))
    mu = np.empty((M, K))
    fill = np.empty(M, np.int64)
    past = np.empty_like(code)
    S = np.zeros(workers)
    n = np.zeros(workers)
    p_of = np.empty(len(task))
    _steps.clear(form, 0, M, prior, W, mu, start, fill)
    good = _steps.apply(
        form, 0, len(task), task, code, start, W, mu, fill, past, S, n, p_of, alpha, beta, truth
    )
    for i in range(M):
        if form == _steps.ODDS:
            mu[i, 1] = W[i, 0] / (1.0 + W[i, 0])
            mu[i, 0] = 1.0 / (1.0 + W[i, 0])
        elif form == _steps.WEIGHTS:
            mu[i] = W[i] / W[i].sum()
    return good, mu, S, p_of
