"""One chain of the collapsed Gibbs sampler, compiled."""

from __future__ import annotations

from math import exp, log

import numpy as np

from ._jit import jit
from ._types import FloatArray, IntArray


@jit
def chain(
    start: IntArray,
    worker: IntArray,
    label: IntArray,
    y: IntArray,
    log_prior: FloatArray,
    workers: int,
    alpha: float,
    beta: float,
    burn_in: int,
    samples: int,
    seed: int,
) -> tuple[FloatArray, FloatArray]:
    """Sweep over the tasks in order.

    Args:
        start: length M + 1; the votes on task i are those from start[i] to start[i + 1].
        worker: length V, sorted by task.
        label: length V, sorted by task.
        y: length M, the classes to start from; overwritten.
        log_prior: length K.
        workers: N.
        alpha: of the workers' Beta prior.
        beta: of the workers' Beta prior.
        burn_in: sweeps that do not count.
        samples: sweeps that do.
        seed: of this chain.

    Returns:
        M x K mean conditional chances, and length N the mean number of right answers.
    """
    np.random.seed(seed)  # noqa: NPY002 -- numba's generator, one per thread
    M = len(start) - 1
    K = len(log_prior)
    right = np.zeros(workers)
    n = np.zeros(workers)
    for i in range(M):
        for v in range(start[i], start[i + 1]):
            n[worker[v]] += 1.0
            if label[v] == y[i]:
                right[worker[v]] += 1.0
    probas = np.zeros((M, K))
    total_right = np.zeros(workers)
    logs = np.empty(K)
    for sweep in range(burn_in + samples):
        for i in range(M):
            for c in range(K):
                logs[c] = log_prior[c]
            for v in range(start[i], start[i + 1]):
                j = worker[v]
                if label[v] == y[i]:
                    right[j] -= 1.0
                good = right[j] + alpha
                bad = n[j] - 1.0 - right[j] + beta
                logs[label[v]] += log(good * (K - 1) / bad)
            top = logs[0]
            for c in range(1, K):
                top = max(top, logs[c])
            total = 0.0
            for c in range(K):
                logs[c] = exp(logs[c] - top)
                total += logs[c]
            draw = np.random.random() * total  # noqa: NPY002
            new = 0
            while new < K - 1 and draw >= logs[new]:
                draw -= logs[new]
                new += 1
            y[i] = new
            for v in range(start[i], start[i + 1]):
                if label[v] == new:
                    right[worker[v]] += 1.0
            if sweep >= burn_in:
                for c in range(K):
                    probas[i, c] += logs[c] / total
        if sweep >= burn_in:
            total_right += right
    return probas / samples, total_right / samples
