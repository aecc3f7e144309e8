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
        mu (M x K; a gold task's is the prior), S and n (N x 2) and the p of each vote (V).
    """
    K = len(prior)
    code = pack(worker, label, workers, K)
    span = spans(task, tasks)
    past = np.empty_like(code)
    p = np.empty(len(task))
    mu = skill = np.empty(0)
    for form in forms(K):
        W = np.empty((tasks, _steps.width(form, K)))
        mu, skill = np.empty((tasks, K)), np.zeros((workers, 2))
        if _pass(form, task, code, prior, W, span, past, skill, p, mu, alpha, beta, truth):
            break
    return mu, skill, p


def forms(K: int) -> tuple[int, int]:
    """The forms of the update to try, in order."""
    return (_steps.ODDS if K == 2 else _steps.WEIGHTS), _steps.LOGARITHMS


def pack(worker: IntArray, label: IntArray, workers: int, K: int) -> Any:
    """Worker and label as one number: ``worker << label_bits(K) | label``.

    Of 32 bits where they suffice: the cache holds more of them.
    """
    bits = int(_steps.label_bits(K))
    code: Any = np.empty(len(worker), np.int32 if workers << bits < 2**31 else np.int64)
    _pack(worker, label, bits, code)
    return code


def starts(task: IntArray, tasks: int) -> IntArray:
    """Length M + 1: where each task's votes begin when they are sorted by task."""
    start = np.zeros(tasks + 1, np.int64)
    np.cumsum(np.bincount(task, minlength=tasks), out=start[1:])
    return start


def spans(task: IntArray, tasks: int) -> Any:
    """M x 2: `starts` without its end, twice; of 32 bits where they suffice."""
    span = np.empty((tasks, 2), np.int32 if len(task) < 2**31 else np.int64)
    span[:] = starts(task, tasks)[:-1, None]
    return span


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
def _pack(worker: IntArray, label: IntArray, bits: int, code: IntArray) -> None:
    for v in range(len(worker)):
        code[v] = (worker[v] << bits) | label[v]


@jit
def _pass(
    form: int,
    task: IntArray,
    code: IntArray,
    prior: FloatArray,
    W: FloatArray,
    span: IntArray,
    past: IntArray,
    skill: FloatArray,
    p_of: FloatArray,
    mu: FloatArray,
    alpha: float,
    beta: float,
    truth: IntArray,
) -> bool:
    M = len(mu)
    K = len(prior)
    V = len(task)
    _steps.clear(form, 0, M, prior, W, span)
    if not _steps.apply(form, 0, V, task, code, W, span, past, skill, p_of, K, alpha, beta, truth):
        return False
    for i in range(M):
        if form == _steps.ODDS:
            mu[i, 1] = W[i, 1]
            mu[i, 0] = 1.0 / (1.0 + W[i, 0])
        elif form == _steps.WEIGHTS:
            mu[i] = W[i, 1:] * W[i, 0]
        else:
            mu[i] = W[i, :K]
    return True
