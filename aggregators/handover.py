"""What a fit of a whole dataset hands to the live rules: bases, accuracies, confusions.

The live rules weigh every vote by its worker's accuracy p (`streaming`).  So that they can go on
from another method's result, that is split for each task in the weights of its votes with the
workers' p and in what remains, the task's ``base``: later votes add their weights to it, and a
vote that goes takes its own with it.

Codes as in `Votes`: ``task``, ``worker`` and ``label`` have length V, in order of arrival.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ._types import FloatArray, IntArray
from .quality.confusion import Confusions
from .streaming import P_MIN

FLOOR = 700.0
"""Entries of log-weights end so far below the largest: exp(-700) is still a double, and a class
that a method has ruled out can come back."""

CELLS = 4_000_000
"""So many cells of workers' confusions are held at a time (32 MB)."""


def accuracies(
    task: IntArray,
    worker: IntArray,
    label: IntArray,
    probas: FloatArray,
    workers: int,
    alpha: float,
    beta: float,
) -> FloatArray:
    """Length N: (S + alpha) / (n + alpha + beta), S summed over ``probas``, clipped as a vote's p.

    Args:
        task: length V.
        worker: length V.
        label: length V.
        probas: M x K, the posteriors; one-hot where the truth is known.
        workers: N.
        alpha: of the Beta prior of a worker's accuracy.
        beta: likewise.
    """
    right = np.bincount(worker, probas[task, label], workers)
    votes = np.bincount(worker, minlength=workers)
    p: FloatArray = np.clip((right + alpha) / (votes + alpha + beta), P_MIN, 1.0 - P_MIN)
    return p


def one_coin_weights(
    task: IntArray, worker: IntArray, label: IntArray, p: FloatArray, tasks: int, classes: int
) -> FloatArray:
    """M x K: the log-weights that each task's votes add, each with its worker's ``p`` (N)."""
    wrong = np.log((1.0 - p) / (classes - 1))
    gain = np.log(p) - wrong
    flat = np.bincount(task * classes + label, gain[worker], tasks * classes)
    m: FloatArray = flat.astype(np.float64).reshape(tasks, classes)
    m += np.bincount(task, wrong[worker], tasks)[:, None]
    return m


def anchored(probas: FloatArray, log_prior: FloatArray, weights: FloatArray) -> FloatArray:
    """M x K: the log of posteriors, shifted by task so that their evidence is the one-coin model's.

    `confidence.stated` reads log sum exp(m) as the evidence that workers are as good as we think;
    a normalised posterior has none.  Here it is that of ``log_prior`` plus ``weights``.

    Args:
        probas: M x K, rows sum to 1.
        log_prior: length K, or M x K.
        weights: M x K, from `one_coin_weights`.
    """
    logs = np.log(np.maximum(probas, 1e-320))
    return floored(logs - _log_sum(logs) + _log_sum(log_prior + weights))


def floored(m: FloatArray) -> FloatArray:
    """Each row's entries lifted to at least its largest less `FLOOR`."""
    lifted: FloatArray = np.maximum(m, m.max(axis=1, keepdims=True) - FLOOR)
    return lifted


def _log_sum(m: FloatArray) -> FloatArray:
    top = m.max(axis=1, keepdims=True)
    total: FloatArray = top + np.log(np.exp(m - top).sum(axis=1, keepdims=True))
    return total


def largest_confusions(
    task: IntArray, worker: IntArray, label: IntArray, probas: FloatArray, most: int
) -> Iterator[Confusions]:
    """How often each worker is expected to have answered so, by true class; some workers at a time.

    Args:
        task: length V.
        worker: length V.
        label: length V.
        probas: M x K, the posteriors.
        most: cells of one worker, the largest ones.

    Yields:
        Counts by worker, the largest first.
    """
    from .quality import expected_confusions

    order = np.argsort(worker, kind="stable")
    begins = np.flatnonzero(np.diff(worker[order], prepend=-1))
    room = max(1, CELLS // probas.shape[1])  # a worker's votes name at most so many answers
    first = 0
    while first < len(begins):
        fitting = int(np.searchsorted(begins, begins[first] + room, side="right")) - 1
        last = max(first + 1, fitting) if fitting < len(begins) - 1 else len(begins)
        end = begins[last] if last < len(begins) else len(order)
        rows = order[begins[first] : end]
        yield _largest(expected_confusions(task[rows], worker[rows], label[rows], probas), most)
        first = last


def _largest(found: Confusions, most: int) -> Confusions:
    order = np.lexsort((found.given, found.true, -found.expected, found.worker))
    worker = found.worker[order]
    begins = np.flatnonzero(np.diff(worker, prepend=-1))
    sizes = np.diff(np.append(begins, len(worker)))
    kept = order[np.arange(len(worker)) - np.repeat(begins, sizes) < most]
    return Confusions(found.worker[kept], found.true[kept], found.given[kept], found.expected[kept])


def cluster_counts(
    task: IntArray,
    worker: IntArray,
    label: IntArray,
    probas: FloatArray,
    membership: FloatArray,
) -> FloatArray:
    """L x true x given: expected votes of each cluster of workers.

    Args:
        task: length V.
        worker: length V.
        label: length V.
        probas: M x K, the posteriors.
        membership: N x L, rows sum to 1.
    """
    from ._products import transposed_times

    K = probas.shape[1]
    counts = np.zeros((membership.shape[1], K, K))
    for x in range(K):
        rows = np.flatnonzero(label == x)
        for block in range(0, len(rows), 100_000):
            some = rows[block : block + 100_000]
            counts[:, :, x] += transposed_times(membership[worker[some]], probas[task[some]])
    return counts
