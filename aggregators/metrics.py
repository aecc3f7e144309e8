"""How good labels and probabilities are, against a known truth; how much a crowd agrees.

``probas`` is S x K (rows sum to 1), ``truth`` length S of class indices; `align` makes both from a
fitted model and gold labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ._frames import values_of
from ._types import FloatArray, IntArray
from .agreement import Level, alpha, coincidences
from .base import TIE, Aggregator
from .votes import read_votes

FLOOR = 1e-12
"""A probability below this counts as this in `nll`."""


def align(model: Aggregator, gold: Mapping[Any, Any] | Any) -> tuple[FloatArray, IntArray]:
    """The rows of ``probas_`` of the gold tasks, and their true classes.

    Args:
        model: fitted.
        gold: task -> class, a mapping or a pandas series; tasks without votes are left out.

    Raises:
        ValueError: a class that the model does not know, or no task in common.
    """
    row = {task: i for i, task in enumerate(model.tasks_)}
    code = {c: x for x, c in enumerate(model.classes_)}
    pairs = [(row[task], label) for task, label in gold.items() if task in row]
    if not pairs:
        raise ValueError("no gold task has a vote")
    unknown = [label for _, label in pairs if label not in code]
    if unknown:
        raise ValueError(f"gold label {unknown[0]!r} is not one of {model.classes_!r}")
    rows = np.array([i for i, _ in pairs])
    truth = np.array([code[label] for _, label in pairs], dtype=np.int64)
    return model._result().probas[rows], truth


def error(probas: FloatArray, truth: IntArray) -> float:
    """Expected share of wrong labels when ties are broken at random."""
    tied = probas >= probas.max(axis=1, keepdims=True) - TIE
    right = tied[np.arange(len(truth)), truth] / tied.sum(axis=1)
    return float(1.0 - right.mean())


def nll(probas: FloatArray, truth: IntArray) -> float:
    """Mean negative log-likelihood of the truth, in nats."""
    return float(-np.log(np.maximum(_of_truth(probas, truth), FLOOR)).mean())


def brier(probas: FloatArray, truth: IntArray) -> float:
    """Mean squared distance of the probabilities from the truth, summed over classes (0 to 2)."""
    hot = np.eye(probas.shape[1])[truth]
    return float(((probas - hot) ** 2).sum(axis=1).mean())


def ece(probas: FloatArray, truth: IntArray, bins: int = 15) -> float:
    """Expected calibration error of the top class, in bins of equally many tasks.

    Equal numbers, not equal widths: most tasks of a crowd lie near 1, where widths see one bin.
    """
    confidence = probas.max(axis=1)
    tied = probas >= confidence[:, None] - TIE
    right = tied[np.arange(len(truth)), truth] / tied.sum(axis=1)
    order = np.argsort(confidence, kind="stable")
    total = 0.0
    for part in np.array_split(order, min(bins, len(order))):
        total += abs(confidence[part].sum() - right[part].sum())
    return float(total / len(truth))


def mse(probas: FloatArray, truth: IntArray) -> float:
    """Mean of (E Y - truth)^2, classes numbered in order (COLA paper, 4.1)."""
    mean = probas @ np.arange(probas.shape[1])
    return float(((mean - truth) ** 2).mean())


def l0(probas: FloatArray, truth: IntArray) -> float:
    """Expected error of a label drawn from the probabilities (COLA paper, 4.1)."""
    return float(1.0 - _of_truth(probas, truth).mean())


def l1(probas: FloatArray, truth: IntArray) -> float:
    """Expected distance |Y - truth| under the probabilities (COLA paper, 4.1)."""
    return float((probas * _distance(probas, truth)).sum(axis=1).mean())


def l2(probas: FloatArray, truth: IntArray) -> float:
    """Root of the expected (Y - truth)^2 under the probabilities (COLA paper, 4.1)."""
    return float(np.sqrt((probas * _distance(probas, truth) ** 2).sum(axis=1).mean()))


def _of_truth(probas: FloatArray, truth: IntArray) -> FloatArray:
    rows: FloatArray = probas[np.arange(len(truth)), truth]
    return rows


def _distance(probas: FloatArray, truth: IntArray) -> FloatArray:
    away = np.arange(probas.shape[1])[None, :] - truth[:, None]
    return np.asarray(np.abs(away), dtype=np.float64)


def krippendorff_alpha(
    data: Any,
    worker: Any = None,
    label: Any = None,
    *,
    level: Level = "nominal",
    classes: Sequence[Any] | None = None,
) -> float:
    """Krippendorff's alpha: 1 is full agreement, 0 what chance would give.

    Source: K. Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), sections C and D.

    Args:
        data: votes, as for `Aggregator.fit`.
        worker: likewise.
        label: likewise.
        level: how far two classes are apart: 1 if they differ; by the votes that lie between
            them; by the square of their values, where they are numbers, else of their positions.
        classes: all classes, in order.

    Returns:
        alpha; 1 where only one class was ever used; NaN where no task has two votes.
    """
    votes = read_votes(data, worker, label, classes)
    observed = coincidences(votes.per_task().astype(np.float64))
    return alpha(observed, level, _values(votes.classes) if level == "interval" else None)


def _values(classes: list[Any]) -> FloatArray:
    try:
        return np.array([float(c) for c in values_of(classes)])
    except (TypeError, ValueError):
        return np.arange(len(classes), dtype=np.float64)
