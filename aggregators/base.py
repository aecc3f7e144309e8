"""What every aggregator shares: input, output, parameters, errors."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from ._frames import Kind, series_out, table_out, values_of
from ._types import FloatArray, Ids, IntArray, Progress
from .priors import Prior
from .votes import Votes, read_votes

TIE = 1e-9
"""Classes this close to the most probable one tie: the earlier one in ``classes_`` is the label."""


class NotFittedError(ValueError, AttributeError):
    """A result was asked for before `fit`."""


@dataclass
class Solution:
    """What an algorithm finds.

    Attributes:
        probas: M x K, rows sum to 1.
        skills: length N, each worker's accuracy, in [0, 1].
        extra: further fitted attributes by name, each ending in an underscore.
        free: M x K, as ``probas`` with gold tasks as their votes have them; None: no gold.
    """

    probas: FloatArray
    skills: FloatArray
    extra: dict[str, Any] = field(default_factory=dict)
    free: FloatArray | None = None


@dataclass
class Fitted:
    """A solution with the ids that it speaks of."""

    tasks: Ids
    workers: Ids
    classes: list[Any]
    kind: Kind
    probas: FloatArray
    skills: FloatArray
    free: FloatArray | None = None


class Aggregator(ABC):
    """Base of all methods.

    Subclasses take their parameters as keywords and store them unchanged; `fit` reads them. The
    following mean the same everywhere.

    Args:
        classes: all classes, in order (which matters to ordinal methods and breaks ties); by
            default the sorted labels of the input.
        prior: probabilities of the classes before any vote, in their order, scaled to sum 1;
            "uniform"; "learned" where the method can; None for the method's own default.
        seed: of everything random; the same seed gives the same result to the last bit.
        n_jobs: threads to use where the method can use more than one; never changes the result.
    """

    classes: Sequence[Any] | None
    prior: Prior
    seed: int
    n_jobs: int
    _fitted: Fitted | None = None
    _takes_gold: ClassVar[bool] = False

    # -- fitting

    def fit(
        self,
        data: Any,
        worker: Any = None,
        label: Any = None,
        *,
        gold: Any = None,
        progress: Progress | None = None,
    ) -> Self:
        """Aggregate votes.

        Args:
            data: a pandas or polars table or a mapping with the columns task, worker and label
                (order = arrival), or a tuple of three columns, or the tasks alone with ``worker``
                and ``label`` beside them. Of a repeated (task, worker) the last row counts.
            worker: worker ids, where ``data`` is the tasks.
            label: labels, where ``data`` is the tasks.
            gold: known classes of some tasks: a mapping or pandas series from task to class, or a
                table with the columns task and label. They count as certain when workers are
                judged, and in the result; what the votes alone say of them is
                ``free_probas_``. Only methods that judge workers by posteriors take it.
            progress: called with (steps done, steps in all).

        Returns:
            self.

        Raises:
            ValueError: empty input, missing values, unknown classes, unequal lengths, a parameter
                out of its range, gold where the method takes none; the message says which.
        """
        self._check()
        if gold is not None and not self._takes_gold:
            raise ValueError(f"{type(self).__name__} takes no gold")
        votes = read_votes(data, worker, label, self.classes, gold)
        if votes.K == 1:  # nothing declared and one class seen: it is certain
            solution = Solution(np.ones((votes.M, 1)), np.ones(votes.N))
        else:
            solution = self._solve(votes, progress or _silent)
        self._adopt(votes, solution)
        return self

    def fit_predict(
        self,
        data: Any,
        worker: Any = None,
        label: Any = None,
        *,
        gold: Any = None,
        progress: Progress | None = None,
    ) -> Any:
        """`fit`, then ``labels_``."""
        return self.fit(data, worker, label, gold=gold, progress=progress).labels_

    def fit_predict_proba(
        self,
        data: Any,
        worker: Any = None,
        label: Any = None,
        *,
        gold: Any = None,
        progress: Progress | None = None,
    ) -> Any:
        """`fit`, then ``probas_``."""
        return self.fit(data, worker, label, gold=gold, progress=progress).probas_

    @abstractmethod
    def _solve(self, votes: Votes, progress: Progress) -> Solution:
        """The algorithm; K is at least 2."""

    def _check(self) -> None:  # noqa: B027 -- most have no parameter to check
        """Raise ValueError for a parameter out of its range."""

    def _adopt(self, votes: Votes, solution: Solution) -> None:
        for name in [n for n in vars(self) if n.endswith("_") and not n.startswith("_")]:
            delattr(self, name)
        self._fitted = Fitted(
            votes.tasks,
            votes.workers,
            votes.classes,
            votes.kind,
            solution.probas,
            solution.skills,
            solution.free,
        )
        for name, value in solution.extra.items():
            setattr(self, name, value)

    # -- results

    def _result(self) -> Fitted:
        if self._fitted is None:
            raise NotFittedError(f"{type(self).__name__} has no result yet: call fit first")
        return self._fitted

    @property
    def labels_(self) -> Any:
        """Most probable class of each task; of equals (within `TIE`) the earlier in ``classes_``.

        pandas: a series by task; polars: a table (task, label); arrays: one in order of ``tasks_``.
        """
        r = self._result()
        found = take_classes(r.classes, top_classes(r.probas))
        name = "agg_label" if r.kind == "pandas" else "label"
        return series_out(r.kind, r.tasks, found, ("task", name))

    @property
    def probas_(self) -> Any:
        """Tasks x classes, rows sum to 1."""
        r = self._result()
        return table_out(r.kind, r.tasks, r.classes, r.probas)

    @property
    def free_probas_(self) -> Any:
        """As ``probas_``, but of gold tasks too what their votes say (workers judged by gold)."""
        r = self._result()
        return table_out(r.kind, r.tasks, r.classes, r.probas if r.free is None else r.free)

    @property
    def skills_(self) -> Any:
        """Accuracy of each worker, in [0, 1]."""
        r = self._result()
        return series_out(r.kind, r.workers, r.skills, ("worker", "skill"))

    @property
    def classes_(self) -> list[Any]:
        """The classes, in order."""
        return list(self._result().classes)

    @property
    def tasks_(self) -> list[Any]:
        """Ids of the tasks, in order of first appearance: the rows of ``probas_``."""
        return values_of(self._result().tasks)

    @property
    def workers_(self) -> list[Any]:
        """Ids of the workers, in order of first appearance: the rows of ``skills_``."""
        return values_of(self._result().workers)

    # -- parameters

    @classmethod
    def _names(cls) -> list[str]:
        return [p for p in inspect.signature(cls.__init__).parameters if p != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name (``deep`` is scikit-learn's and without meaning here)."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name.

        Raises:
            ValueError: no such parameter.
        """
        known = self._names()
        for name, value in params.items():
            if name not in known:
                raise ValueError(
                    f"{type(self).__name__} has no parameter {name!r}, it has {', '.join(known)}"
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        shown = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if not _same(value, defaults[name].default)
        ]
        return f"{type(self).__name__}({', '.join(shown)})"


def top_classes(probas: FloatArray) -> IntArray:
    """Row by row the first class within `TIE` of the largest probability."""
    close = probas >= probas.max(axis=1, keepdims=True) - TIE
    tops: IntArray = np.argmax(close, axis=1)
    return tops


def take_classes(classes: list[Any], codes: IntArray) -> Ids:
    """Classes of the codes, in an array that keeps what they are."""
    if len({type(c) for c in classes}) == 1 and isinstance(classes[0], str | int | float | bool):
        return np.asarray(classes)[codes]
    table = np.empty(len(classes), dtype=object)
    table[:] = classes
    return table[codes]


def require(condition: bool, message: str) -> None:
    """Raise ValueError with ``message`` unless ``condition``."""
    if not condition:
        raise ValueError(message)


def _same(a: object, b: object) -> bool:
    return a is b or (type(a) is type(b) and isinstance(a, str | int | float) and a == b)


def _silent(done: int, total: int) -> None:
    """No progress wanted."""
