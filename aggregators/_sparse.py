"""Votes as a sparse matrix: sums over tasks and over workers become matrix products."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._types import FloatArray
from .votes import Votes


def indicator(votes: Votes) -> Any:
    """M x (N K) sparse, 1 where a worker gave a label to a task: column = worker * K + label.

    With ``log_rows`` (N K x K, by true class), ``indicator @ log_rows`` sums each task's evidence;
    with ``probas`` (M x K), ``indicator.T @ probas`` counts each worker's answers by true class.
    """
    from scipy.sparse import csr_array

    column = votes.worker * votes.K + votes.label
    shape = (votes.M, votes.N * votes.K)
    return csr_array((np.ones(votes.V), (votes.task, column)), shape=shape)


def shares(votes: Votes) -> FloatArray:
    """M x K, the share of each task's votes: where iterations begin."""
    counts = votes.per_task().astype(np.float64)
    rows: FloatArray = counts / counts.sum(axis=1, keepdims=True)
    return rows


def normalise_logs(logs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Row-wise softmax, and each row's log-sum-exp."""
    top = logs.max(axis=1, keepdims=True)
    e = np.exp(logs - top)
    total = e.sum(axis=1, keepdims=True)
    return e / total, (top + np.log(total))[:, 0]


def posterior(logs: FloatArray, votes: Votes) -> tuple[FloatArray, FloatArray]:
    """Posteriors by the votes alone (M x K), and the log evidence of each task's votes (M).

    The evidence of a gold task is that of its votes together with its truth.
    """
    free, evidence = normalise_logs(logs)
    if votes.gold:
        known = np.flatnonzero(votes.truth >= 0)
        evidence[known] = logs[known, votes.truth[known]]
    return free, evidence
