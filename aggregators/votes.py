"""Votes as the algorithms see them: three columns of codes, and the ids that they stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._factorize import LONG, factorize
from ._frames import Kind, columns, kind_of, values_of
from ._types import FloatArray, Ids, IntArray


@dataclass(frozen=True)
class Votes:
    """One row per counting vote, in order of arrival; no (task, worker) pair twice.

    Attributes:
        task: length V, codes 0..M-1 in order of first appearance.
        worker: length V, codes 0..N-1 in order of first appearance.
        label: length V, codes 0..K-1 in the order of ``classes``.
        tasks: the M ids of tasks.
        workers: the N ids of workers.
        classes: the K classes, as declared, else sorted.
        kind: what the results shall be made of.
        truth: length M, codes of the known classes of gold tasks and -1; length 0: none is gold.
    """

    task: IntArray
    worker: IntArray
    label: IntArray
    tasks: Ids
    workers: Ids
    classes: list[Any]
    kind: Kind = field(default="arrays")
    truth: IntArray = field(default_factory=lambda: np.empty(0, np.int64))

    @property
    def V(self) -> int:
        """Number of votes."""
        return len(self.task)

    @property
    def M(self) -> int:
        """Number of tasks."""
        return len(self.tasks)

    @property
    def N(self) -> int:
        """Number of workers."""
        return len(self.workers)

    @property
    def K(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def gold(self) -> bool:
        """Whether the truth of any task is known."""
        return len(self.truth) > 0

    def clamp(self, probas: FloatArray) -> FloatArray:
        """``probas`` (M x K) with certainty where the truth is known; unchanged where none is."""
        if not self.gold:
            return probas
        known = np.flatnonzero(self.truth >= 0)
        clamped = probas.copy()
        clamped[known] = 0.0
        clamped[known, self.truth[known]] = 1.0
        return clamped

    def per_task(self) -> IntArray:
        """M x K counts of votes."""
        flat = np.bincount(self.task * self.K + self.label, minlength=self.M * self.K)
        return flat.reshape(self.M, self.K)

    def per_worker(self) -> IntArray:
        """Length N, votes of each worker."""
        return np.bincount(self.worker, minlength=self.N)


def read_votes(
    data: Any,
    worker: Any = None,
    label: Any = None,
    classes: Sequence[Any] | None = None,
    gold: Any = None,
) -> Votes:
    """Encode the input; of a repeated (task, worker) the last row counts, at its place.

    Args:
        data: a pandas or polars table or a mapping with the columns task, worker, label, or a
            tuple of the three, or the first of three columns.
        worker: the second of three columns.
        label: the third of three columns.
        classes: the classes there are, in order; by default the sorted labels.
        gold: the truth of some tasks, as `read_gold` takes it; of tasks without votes it is
            ignored.

    Raises:
        ValueError: missing values, empty input, columns missing or of unequal length, a label
            that is not among ``classes``, fewer than two or repeated ``classes``.
    """
    (tasks, workers, labels), kind = columns(data, worker, label)
    t, task_ids = factorize(tasks, "task")
    w, worker_ids = factorize(workers, "worker")
    x, seen = factorize(labels, "label")
    known = read_gold(gold)
    if classes is not None:
        order = check_classes(classes)
    else:
        order = sort_classes(list(dict.fromkeys([*values_of(seen), *known.values()])))
    position = {c: i for i, c in enumerate(order)}
    unknown = [c for c in values_of(seen) if c not in position]
    if unknown:
        raise ValueError(f"label {unknown[0]!r} is not one of the classes {order!r}")
    codes = np.array([position[c] for c in values_of(seen)], dtype=np.int64)
    keep = last_of_each_pair(t, w, len(task_ids), len(worker_ids))
    if keep is not None:
        t, w, x = t[keep], w[keep], x[keep]
        if classes is None:
            # a class that only replaced votes named is none
            used = np.zeros(len(order), dtype=np.bool_)
            used[codes[np.bincount(x, minlength=len(codes)) > 0]] = True
            used[[position[c] for c in known.values()]] = True
            codes = (np.cumsum(used) - 1)[codes]
            order = [c for c, u in zip(order, used, strict=True) if u]
    if (codes != np.arange(len(codes))).any():
        x = codes[x]
    truth = _truth(known, task_ids, order)
    return Votes(t, w, x, task_ids, worker_ids, order, kind, truth)


def read_gold(gold: Any) -> dict[Any, Any]:
    """Known truth by task.

    Args:
        gold: None, a mapping or a pandas series from task to class, or a table with the columns
            task and label; of a repeated task the last row counts.

    Raises:
        ValueError: none of these, or a missing class.
    """
    if gold is None:
        return {}
    names = getattr(gold, "columns", None)
    if names is not None:
        if "task" not in names or "label" not in names:
            raise ValueError("gold as a table must have the columns task and label")
        known = dict(zip(values_of(gold["task"]), values_of(gold["label"]), strict=True))
    elif isinstance(gold, Mapping) or kind_of(gold) == "pandas":
        known = dict(gold.items())
    else:
        raise ValueError(
            "gold must map tasks to classes (a mapping, a pandas series) or be a table with the "
            f"columns task and label, not {type(gold).__name__}"
        )
    for task, label in known.items():
        if label is None or label != label:
            raise ValueError(f"the gold label of task {task!r} is missing (None or NaN)")
    return {task: c.item() if isinstance(c, np.generic) else c for task, c in known.items()}


def _truth(known: dict[Any, Any], tasks: Ids, classes: list[Any]) -> IntArray:
    """Codes of the known classes, as `Votes.truth`."""
    position = {c: x for x, c in enumerate(classes)}
    for task, label in known.items():
        if label not in position:
            raise ValueError(
                f"gold label {label!r} of task {task!r} is not one of the classes {classes!r}"
            )
    if not known:
        return np.empty(0, np.int64)
    codes = [position[known[t]] if t in known else -1 for t in values_of(tasks)]
    return np.array(codes, dtype=np.int64)


def check_classes(classes: Sequence[Any]) -> list[Any]:
    """Declared classes as a list.

    Raises:
        ValueError: fewer than two, repeated, or missing values.
    """
    if isinstance(classes, str):
        raise ValueError(f"classes must be a sequence of classes, not the string {classes!r}")
    order = values_of(classes) if kind_of(classes) != "arrays" else list(classes)
    order = [c.item() if isinstance(c, np.generic) else c for c in order]
    if any(c is None or c != c for c in order):
        raise ValueError("classes must not contain None or NaN")
    if len(set(order)) != len(order):
        raise ValueError(f"classes are repeated: {order!r}")
    if len(order) < 2:
        raise ValueError(f"at least two classes are needed, got {order!r}")
    return order


def sort_classes(labels: list[Any]) -> list[Any]:
    """Classes in their natural order; mixed types by type, then by text."""
    try:
        return sorted(labels)
    except TypeError:
        return sorted(labels, key=lambda c: (type(c).__name__, str(c)))


def last_of_each_pair(
    task: IntArray, worker: IntArray, tasks: int, workers: int
) -> IntArray | None:
    """Rows that count, ascending, or None where no pair is repeated."""
    if LONG <= len(task) < 2**31:
        from ._codes import last_rows

        return last_rows(task, worker, tasks, workers)
    key = task * workers + worker
    ordered = np.sort(key)
    if not (ordered[1:] == ordered[:-1]).any():
        return None
    rows = np.argsort(key, kind="stable")
    last = np.append(key[rows][1:] != key[rows][:-1], True)
    return np.sort(rows[last])
