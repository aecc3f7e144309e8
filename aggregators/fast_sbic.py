"""Fast SBIC: one exact update per vote, live or over a whole dataset."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from . import streaming
from ._types import FloatArray, Ids, Progress
from .base import Aggregator, Fitted, NotFittedError, Solution, require
from .confidence import stated, vote_counts
from .priors import Prior, fixed_prior
from .stating import stated_rows
from .streaming import TaskState, VoteState, WorkerState
from .votes import Votes, check_classes


class FastSBIC(Aggregator):
    """Streaming Bayesian inference: each vote weighs with its worker's accuracy so far.

    Source: Manino, Tran-Thanh, Jennings (NeurIPS 2019), Algorithm 1; for K > 2 its one-coin
    extension (a wrong answer is uniform over the other classes). The order of the votes matters.

    `fit` runs one compiled pass over all votes. `update`, `retract`, `replace` and `set_gold`
    change one task at a cost of the votes on it, and can go on from a `fit`; both ways give the
    same numbers to rounding. After them ``labels_``, ``probas_`` and ``skills_`` are up to date.

    Args:
        alpha: of the Beta prior of a worker's accuracy, > 0.
        beta: likewise.
        doubt: share of tasks taken as misleading in what `posterior` and ``probas_`` state, in
            [0, 1): 0 is the paper's posterior, 0.1 what the service states (`confidence.stated`).
        classes: all classes, in order; `update` without a `fit` before it needs them.
        prior: as in `Aggregator`; None is uniform.
        seed: not used.
        n_jobs: not used.

    Example:
        >>> live = FastSBIC(classes=["no", "yes"])
        >>> live.update("t1", "w1", "yes").round(3).tolist()
        [0.333, 0.667]
        >>> live.retract("t1", "w1").tolist()
        [0.5, 0.5]
        >>> round(live.skill("w1"), 3)
        0.667
    """

    _takes_gold = True

    def __init__(
        self,
        *,
        alpha: float = 2.0,
        beta: float = 1.0,
        doubt: float = 0.0,
        classes: Sequence[Any] | None = None,
        prior: Prior = None,
        seed: int = 0,
        n_jobs: int = 1,
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.doubt = doubt
        self.classes = classes
        self.prior = prior
        self.seed = seed
        self.n_jobs = n_jobs

    def _check(self) -> None:
        check_beta_prior(self.alpha, self.beta)
        require(0.0 <= self.doubt < 1.0, f"doubt must be in [0, 1), it is {self.doubt}")

    # -- a whole dataset

    _live: _Live | None = None
    _pass: tuple[Votes, FloatArray] | None = None
    _stale = False

    def _solve(self, votes: Votes, progress: Progress) -> Solution:
        from ._fast import fast_pass, log_weights

        prior = fixed_prior(self.prior, votes.K)
        t, x = votes.task, votes.label
        a, b = float(self.alpha), float(self.beta)
        probas, skill, p = fast_pass(t, votes.worker, x, prior, votes.M, votes.N, a, b, votes.truth)
        if self.doubt > 0.0 or votes.gold:
            m = log_weights(t, x, p, np.log(prior), votes.M)
            probas = stated_rows(m, votes.per_task(), prior, self.doubt)
        skills = (skill[:, 0] + self.alpha) / (skill[:, 1] + self.alpha + self.beta)
        self._pass = (votes, p)
        progress(1, 1)
        return Solution(votes.clamp(probas), skills, free=probas)

    def _adopt(self, votes: Votes, solution: Solution) -> None:
        super()._adopt(votes, solution)
        if votes.K == 1:
            self._pass = None
        self._live = None
        self._stale = False

    # -- one vote at a time

    def update(self, task: Hashable, worker: Hashable, label: Hashable) -> FloatArray:
        """Count a vote and return the task's posterior (length K, as `posterior`).

        Another label than the worker's present one on the task replaces it; the same one again
        changes nothing.

        Raises:
            ValueError: the label is not one of the classes; classes are not known yet.
        """
        live = self._state()
        x = live.index(label)
        state = live.task(task)
        present = state.votes.get(worker)
        if present is None or present.x != x:
            if present is not None:
                streaming.withdraw(state, worker)
            who = live.worker(worker)
            streaming.cast(state, worker, who, VoteState(who, x, 0.5), self.alpha, self.beta)
            self._stale = True
        return self._stated(state, live.prior)

    def replace(self, task: Hashable, worker: Hashable, label: Hashable) -> FloatArray:
        """Retract a vote and cast another in its place; returns the task's posterior.

        Raises:
            KeyError: the worker has no vote on the task.
            ValueError: the label is not one of the classes.
        """
        self._state().index(label)
        self.retract(task, worker)
        return self.update(task, worker, label)

    def retract(self, task: Hashable, worker: Hashable) -> FloatArray:
        """Take a vote back, exactly; returns the task's posterior.

        Raises:
            KeyError: the worker has no vote on the task.
        """
        live = self._state()
        state = live.tasks.get(task)
        if state is None or worker not in state.votes:
            raise KeyError(f"worker {worker!r} has no vote on task {task!r}")
        streaming.withdraw(state, worker)
        self._stale = True
        return self._stated(state, live.prior)

    def set_gold(self, task: Hashable, label: Hashable | None) -> FloatArray:
        """State a task's truth, or None to let the votes speak again; returns its posterior.

        Votes on a gold task teach about their workers and accumulate beneath without moving it.

        Raises:
            ValueError: the label is not one of the classes.
        """
        live = self._state()
        truth = None if label is None else live.index(label)
        state = live.task(task)
        streaming.set_truth(state, truth)
        self._stale = True
        return self._stated(state, live.prior)

    def posterior(self, task: Hashable) -> FloatArray:
        """Length K, sums to 1; of a task without votes its prior, of a gold task its truth."""
        live = self._state()
        state = live.tasks.get(task)
        return live.prior.copy() if state is None else self._stated(state, live.prior)

    def skill(self, worker: Hashable) -> float:
        """Posterior mean of a worker's accuracy; of an unknown worker the prior's."""
        live = self._state()
        return live.workers.get(worker, WorkerState()).accuracy(self.alpha, self.beta)

    def _stated(self, state: TaskState, prior: FloatArray) -> FloatArray:
        return np.asarray(state.mu) if state.truth is not None else self._free(state, prior)

    def _free(self, state: TaskState, prior: FloatArray) -> FloatArray:
        mu = None if state.truth is not None else state.mu
        return np.asarray(stated(state.m, vote_counts(state), prior.tolist(), self.doubt, mu))

    def _state(self) -> _Live:
        if self._live is None:
            self._check()
            if self._pass is not None:
                self._live = _Live.after(*self._pass, self.prior, self.alpha, self.beta)
            elif self.classes is not None:
                self._live = _Live(check_classes(self.classes), self.prior)
            else:
                raise NotFittedError("FastSBIC needs `classes` before votes can come one by one")
        return self._live

    def _result(self) -> Fitted:
        if self._live is None or not self._stale:
            return super()._result()
        kind = "arrays" if self._fitted is None else self._fitted.kind
        live = self._live
        probas = np.array([self._stated(t, live.prior) for t in live.tasks.values()])
        skills = np.array([w.accuracy(self.alpha, self.beta) for w in live.workers.values()])
        free = np.array([self._free(t, live.prior) for t in live.tasks.values()])
        self._fitted = Fitted(
            _ids(live.tasks), _ids(live.workers), live.classes, kind, probas, skills, free
        )
        self._stale = False
        return self._fitted


class _Live:
    """Tasks and workers by id, as `streaming` wants them."""

    def __init__(self, classes: list[Any], prior: Prior) -> None:
        self.classes = classes
        self.codes = {c: x for x, c in enumerate(classes)}
        self.prior = fixed_prior(prior, len(classes))
        self.base: list[float] = np.log(self.prior).tolist()
        self.tasks: dict[Hashable, TaskState] = {}
        self.workers: dict[Hashable, WorkerState] = {}

    @classmethod
    def after(cls, votes: Votes, p: FloatArray, prior: Prior, alpha: float, beta: float) -> _Live:
        """The state that a pass over ``votes``, weighing each with ``p``, has led to."""
        live = cls(votes.classes, prior)
        tasks = [live.task(i) for i in _plain(votes.tasks)]
        workers = [live.worker(j) for j in _plain(votes.workers)]
        rows = zip(
            votes.task.tolist(),
            votes.worker.tolist(),
            votes.label.tolist(),
            p.tolist(),
            strict=True,
        )
        keys = list(live.workers)
        for i, j, x, weight in rows:
            streaming.add_weight(tasks[i].m, x, weight)
            tasks[i].votes[keys[j]] = VoteState(workers[j], x, weight)
        truths = votes.truth.tolist() or [-1] * len(tasks)
        for state, truth in zip(tasks, truths, strict=True):
            if truth >= 0:
                state.truth = truth
                state.mu = streaming.one_hot(truth, votes.K)
            else:
                state.mu = streaming.softmax(state.m)
            for vote in state.votes.values():
                vote.worker.S += state.mu[vote.x]
                vote.worker.n += 1
        return live

    def index(self, label: Hashable) -> int:
        x = self.codes.get(label)
        if x is None:
            raise ValueError(f"label {label!r} is not one of the classes {self.classes!r}")
        return x

    def task(self, key: Hashable) -> TaskState:
        state = self.tasks.get(key)
        if state is None:
            state = self.tasks[key] = TaskState(self.base)
        return state

    def worker(self, key: Hashable) -> WorkerState:
        state = self.workers.get(key)
        if state is None:
            state = self.workers[key] = WorkerState()
        return state


def _plain(ids: Ids) -> list[Any]:
    return list(ids.tolist() if hasattr(ids, "tolist") else ids)


def _ids(keys: dict[Hashable, Any]) -> Ids:
    from ._frames import as_array

    return as_array(list(keys), "id")


def check_beta_prior(alpha: float, beta: float) -> None:
    """Raise ValueError unless both are positive and finite."""
    good = np.isfinite([alpha, beta]).all() and alpha > 0 and beta > 0
    require(bool(good), f"alpha and beta must be positive and finite, they are {alpha}, {beta}")
