"""Small crowds as snapshots, and their numbers with plain loops that share no code with ours."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from hypothesis import strategies as st

from connector.domain.config import Declaration, effective
from connector.domain.records import TopicPartition
from connector.reconcile.changes import Mark
from connector.reconcile.snapshot import Blocked, Snapshot

KINDS = {2: "binary", 3: "categorical", 4: "ordinal"}

Vote = tuple[int, int, int]
"""Places of a task and a worker, and a class."""


def snapshot(
    votes: Sequence[Vote],
    K: int,
    *,
    kind: str | None = None,
    truth: Mapping[int, int] | None = None,
    priors: Mapping[int, Sequence[float]] | None = None,
    blocked: Sequence[Vote] = (),
    **sections: Any,
) -> Snapshot:
    """These votes, as if they had been read."""
    task, worker, label = (np.array(column, dtype=np.int64) for column in zip(*votes, strict=True))
    names = [chr(97 + x) for x in range(K)]
    declared = {"kind": kind or KINDS.get(K, "categorical"), "classes": names, **sections}
    return Snapshot(
        "p",
        effective(msgspec.convert(declared, Declaration)),
        TopicPartition("annotations", 0),
        100,
        Mark(len(votes), (len(votes),) * K, "", "", ""),
        task,
        worker,
        label,
        [f"t{i}" for i in range(int(task.max()) + 1)],
        [f"w{j}" for j in range(int(worker.max()) + 1)],
        dict(truth or {}),
        dict(priors or {}),
        _blocked(blocked),
    )


def _blocked(votes: Sequence[Vote]) -> Blocked:
    """Workers by places of their own."""
    columns = np.array(votes, dtype=np.int64).reshape(-1, 3).T
    count = int(columns[1].max(initial=-1)) + 1
    return Blocked(columns[0], columns[1], columns[2], [f"b{j}" for j in range(count)])


def crowd(
    K: int,
    *,
    tasks: int = 60,
    workers: int = 9,
    per_task: int = 5,
    seed: int = 0,
    good: float = 0.8,
) -> tuple[list[Vote], list[int]]:
    """Votes in random order by workers of one accuracy, and the truth."""
    rng = random.Random(seed)
    truth = [rng.randrange(K) for _ in range(tasks)]
    votes = [
        (i, j, truth[i] if rng.random() < good else rng.randrange(K))
        for i in range(tasks)
        for j in rng.sample(range(workers), per_task)
    ]
    rng.shuffle(votes)
    return votes, truth


@st.composite
def snapshots(draw: st.DrawFn) -> Snapshot:
    """Every task and worker has a vote; some tasks are gold, some have a prior of their own."""
    K = draw(st.integers(2, 4))
    pairs = draw(
        st.lists(
            st.tuples(st.integers(0, 7), st.integers(0, 5)), min_size=3, max_size=30, unique=True
        )
    )
    tasks = {i: n for n, i in enumerate(sorted({i for i, _ in pairs}))}
    workers = {j: n for n, j in enumerate(sorted({j for _, j in pairs}))}
    votes = [(tasks[i], workers[j], draw(st.integers(0, K - 1))) for i, j in pairs]
    some = st.sets(st.integers(0, len(tasks) - 1), max_size=3)
    weights = st.lists(st.floats(0.1, 1.0), min_size=K, max_size=K)
    truth = {i: draw(st.integers(0, K - 1)) for i in draw(some)}
    priors = {i: [v / sum(row) for v in row] for i in draw(some) for row in [draw(weights)]}
    prior = draw(st.none() | weights)
    model = {"worker_prior": draw(st.sampled_from([[2, 1], [4, 3], [0.5, 2]]))}
    if prior is not None:
        model["class_prior"] = prior
    return snapshot(votes, K, truth=truth, priors=priors, model=model)


def votes_of(s: Snapshot) -> list[Vote]:
    return list(zip(s.task.tolist(), s.worker.tolist(), s.label.tolist(), strict=True))


def plain_p(s: Snapshot, probas: Any, worker: int) -> float:
    """(S + alpha) / (n + alpha + beta), a vote at a time."""
    mine = [(i, x) for i, j, x in votes_of(s) if j == worker]
    right = math.fsum(float(probas[i][x]) for i, x in mine)
    p = (right + s.config.alpha) / (len(mine) + s.config.alpha + s.config.beta)
    return min(max(p, 1e-6), 1 - 1e-6)


def plain_m(s: Snapshot, base: Any, p: Any, task: int) -> list[float]:
    """What the live rules make of a base: it, and the weights of the task's votes."""
    m = [float(v) for v in base[task]]
    for i, j, x in votes_of(s):
        if i == task:
            for y in range(s.config.K):
                q = float(p[j])
                m[y] += math.log(q) if y == x else math.log((1 - q) / (s.config.K - 1))
    return m


def softmax(m: Sequence[float]) -> list[float]:
    top = max(m)
    e = [math.exp(v - top) for v in m]
    return [v / math.fsum(e) for v in e]


def log_sum(m: Sequence[float]) -> float:
    top = max(m)
    return top + math.log(math.fsum(math.exp(v - top) for v in m))


def log_prior(s: Snapshot, task: int) -> list[float]:
    return [math.log(v) for v in s.priors.get(task, s.config.class_prior)]
