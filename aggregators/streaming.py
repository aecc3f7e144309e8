"""Fast SBIC as a state machine: one cheap exact update per vote, for K classes.

This is the arithmetic that both `FastSBIC` and the live service run; neither has a copy.

Source: Manino, Tran-Thanh, Jennings, "Streaming Bayesian Inference for Crowdsourced
Classification" (NeurIPS 2019), Algorithm 1, extended to K classes by the one-coin model (a wrong
answer is uniform over the other classes).

A task holds un-normalised log-weights ``m`` (length K), which are its ``base`` plus the weights
of its counting votes in order of arrival, and ``mu = softmax(m)``, or the truth where it is known.
A worker holds ``n`` (votes) and ``S``, the sum over those votes (task h, answer x) of ``mu_h[x]``
*as it stands now*.  A vote ``x`` by worker j on task i::

    p      = (S_j + alpha) / (n_j + alpha + beta)
    m_i[x] += log p ;  m_i[y] += log((1 - p) / (K - 1))  for y != x
    n_j    += 1

The paper sums over the worker's history at each vote.  When ``m_i`` changes, only the workers who
voted on i change, so ``S`` is kept current instead: O(votes on the task), however long a worker's
history is.

Everything is plain Python floats: at the usual K and votes per task a list comprehension beats an
array's overhead several times, and the order of the additions, and so every bit of the result, is
fixed by the order of arrival alone.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import exp, log

P_MIN = 1e-6
P_MAX = 1.0 - P_MIN
"""A vote's p is clipped to [P_MIN, P_MAX]: no single vote may decide a task for ever."""


class WorkerState:
    """What is known of a worker: ``S`` (expected right answers) and ``n`` (votes)."""

    __slots__ = ("S", "n")

    def __init__(self, S: float = 0.0, n: int = 0) -> None:
        self.S = S
        self.n = n

    def accuracy(self, alpha: float, beta: float) -> float:
        """Posterior mean of the worker's accuracy, (S + alpha) / (n + alpha + beta)."""
        return (self.S + alpha) / (self.n + alpha + beta)


class VoteState:
    """One worker's present answer on one task.

    Attributes:
        worker: whose vote it is.
        x: the class index, 0..K-1.
        p: the worker's accuracy by which the vote weighs, kept so that it can be taken back.
        counts: False keeps the vote out of the task's ``m`` (a blocked worker's), though not out
            of the worker's ``n`` and ``S``.
    """

    __slots__ = ("counts", "p", "worker", "x")

    def __init__(self, worker: WorkerState, x: int, p: float, counts: bool = True) -> None:
        self.worker = worker
        self.x = x
        self.p = p
        self.counts = counts


class TaskState:
    """Log-weights and votes of one task.

    Attributes:
        base: length K, what ``m`` is before any vote: the log prior, or a run's result.
        m: length K, base plus the weights of the counting votes, not normalised.
        mu: length K, softmax(m), or one-hot where ``truth`` is known.
        truth: the class index of a gold task, else None.
        votes: by worker key, in order of arrival.
    """

    __slots__ = ("base", "m", "mu", "truth", "votes")

    def __init__(self, base: Sequence[float], truth: int | None = None) -> None:
        self.base = base
        self.m = list(base)
        self.truth = truth
        self.votes: dict[Hashable, VoteState] = {}
        self.mu = one_hot(truth, len(base)) if truth is not None else softmax(base)


def softmax(m: Sequence[float]) -> list[float]:
    """exp(m) normalised to sum 1, without overflow."""
    if len(m) == 2:  # half of all projects, and three times faster
        first, second = m
        odds = exp(-abs(first - second))
        large, small = 1.0 / (1.0 + odds), odds / (1.0 + odds)
        return [large, small] if first >= second else [small, large]
    top = max(m)
    shares = [exp(v - top) for v in m]
    total = sum(shares)
    return [v / total for v in shares]


def one_hot(x: int, K: int) -> list[float]:
    """Certainty of class ``x`` among K."""
    row = [0.0] * K
    row[x] = 1.0
    return row


def clip_p(p: float) -> float:
    """A worker's accuracy as a vote may use it."""
    return P_MIN if p < P_MIN else P_MAX if p > P_MAX else p


def add_weight(m: list[float], x: int, p: float) -> None:
    """Add one vote's log-weights to ``m`` in place."""
    K = len(m)
    if K == 2:
        m[x] += log(p)
        m[1 - x] += log(1.0 - p)
        return
    wrong = log((1.0 - p) / (K - 1))
    right = m[x] + log(p)
    for y in range(K):
        m[y] += wrong
    m[x] = right


def cast(
    task: TaskState,
    key: Hashable,
    worker: WorkerState,
    vote: VoteState,
    alpha: float,
    beta: float,
) -> None:
    """Apply a first vote of ``worker`` on ``task``; sets ``vote.p`` from the votes before it.

    ``key`` must not have a vote on the task (replacing is `withdraw`, then `cast`).
    """
    p = (worker.S + alpha) / (worker.n + alpha + beta)
    if not P_MIN <= p <= P_MAX:
        p = clip_p(p)
    vote.p = p
    x = vote.x
    if vote.counts:
        add_weight(task.m, x, p)
        if task.truth is None:
            _move(task, softmax(task.m))
    task.votes[key] = vote
    worker.n += 1
    worker.S += task.mu[x]


def withdraw(task: TaskState, key: Hashable) -> VoteState:
    """Take a vote out exactly: its term in its worker's S, and its weights in m.

    ``m`` is summed anew over the remaining votes, since subtracting would leave rounding behind.

    Raises:
        KeyError: ``key`` has no vote on the task.
    """
    vote = task.votes.pop(key)
    worker = vote.worker
    worker.n -= 1
    worker.S = worker.S - task.mu[vote.x] if worker.n else 0.0
    if vote.counts:
        settle(task)
    return vote


def settle(task: TaskState) -> None:
    """Sum ``m`` anew from ``base`` and the votes, and carry the change of ``mu`` to the workers."""
    task.m = summed(task)
    new = one_hot(task.truth, len(task.m)) if task.truth is not None else softmax(task.m)
    _move(task, new)


def summed(task: TaskState) -> list[float]:
    """``base`` plus the weights of the counting votes, in order of arrival."""
    m = list(task.base)
    for v in task.votes.values():
        if v.counts:
            add_weight(m, v.x, v.p)
    return m


def set_truth(task: TaskState, truth: int | None) -> None:
    """Fix ``mu`` to a known class, or let the votes speak again (None)."""
    task.truth = truth
    settle(task)


def _move(task: TaskState, new: list[float]) -> None:
    old = task.mu
    if new == old:
        return
    task.mu = new
    for v in task.votes.values():
        v.worker.S += new[v.x] - old[v.x]
