"""How often each worker gave which answer to which class, as far as is known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from aggregators._types import FloatArray, IntArray

from .beliefs import blocks


class Confusions(NamedTuple):
    """Expected counts of all workers, sparse: columns of one length, by worker, true, given.

    Attributes:
        worker: index of the worker.
        true: index of the true class.
        given: index of the class given.
        expected: expected number of such votes, > 0.
    """

    worker: IntArray
    true: IntArray
    given: IntArray
    expected: FloatArray


def expected_confusions(
    task: IntArray,
    worker: IntArray,
    label: IntArray,
    posteriors: FloatArray,
    truth: IntArray | None = None,
    *,
    least: float = 1e-6,
) -> Confusions:
    """The sum over a worker's votes of the task's posterior, by the class given.

    Args:
        task: length V, index of each vote's task.
        worker: length V, index of its worker.
        label: length V, index of the class given.
        posteriors: M x K, rows sum to 1.
        truth: length M, the class of each gold task, -1 elsewhere: it counts as certain.
        least: smaller counts are left out.

    Returns:
        Counts in order of worker, true class, given class.
    """
    K = posteriors.shape[1]
    pair, at = np.unique(worker * K + label, return_inverse=True)
    counts = np.zeros((len(pair), K))
    order = np.argsort(at, kind="stable")
    for part in blocks(len(order), K):
        rows = order[part]
        belief = _believed(posteriors, truth, task[rows])
        starts = np.flatnonzero(np.diff(at[rows], prepend=-1))
        counts[at[rows][starts]] += np.add.reduceat(belief, starts, axis=0)
    row, true = np.nonzero(counts > least)
    who, given = pair[row] // K, pair[row] % K
    sort = np.lexsort((given, true, who))
    return Confusions(who[sort], true[sort], given[sort], counts[row, true][sort])


def _believed(posteriors: FloatArray, truth: IntArray | None, task: IntArray) -> FloatArray:
    """The rows of those tasks, a copy; gold is certain."""
    rows: FloatArray = posteriors[task]
    if truth is not None:
        gold = np.flatnonzero(truth[task] >= 0)
        rows[gold] = 0.0
        rows[gold, truth[task[gold]]] = 1.0
    return rows
