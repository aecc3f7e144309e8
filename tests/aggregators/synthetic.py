"""Crowds whose truth is known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]


def ordinal(
    m: int,
    tasks: int,
    workers: int,
    per_task: int,
    seed: int,
    sizes: tuple[int, ...] | None = None,
) -> tuple[Codes, Codes, Codes, Codes]:
    """Tasks, workers, labels and the truth, in the manner of the COLA paper's section 4.1.

    Workers in three clusters: careful, middling, and careless with a bias to the upper classes.
    """
    random = np.random.default_rng(seed)
    sizes = sizes or (workers * 2 // 3, workers // 6, workers - workers * 2 // 3 - workers // 6)
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    truth = random.integers(0, m, tasks)
    task = np.repeat(np.arange(tasks), per_task)
    worker = np.concatenate([random.choice(workers, per_task, replace=False) for _ in range(tasks)])
    distance = np.abs(np.arange(m)[None, :] - truth[task][:, None])
    sharpness = np.array([2.2, 1.0, 0.1])[cluster[worker]][:, None]
    bias = np.array([0.0, 0.0, 0.5])[cluster[worker]][:, None] * np.arange(m)
    logits = bias - sharpness * distance + random.gumbel(size=(len(task), m))
    return task, worker, logits.argmax(axis=1), truth


def one_coin(
    K: int, tasks: int, workers: int, per_task: int, seed: int, good: float = 0.75
) -> tuple[Codes, Codes, Codes, Codes]:
    """Tasks, workers, labels and the truth; accuracies spread around ``good``."""
    random = np.random.default_rng(seed)
    accuracy = np.clip(random.normal(good, 0.12, workers), 0.05, 0.98)
    truth = random.integers(0, K, tasks)
    task = np.repeat(np.arange(tasks), per_task)
    worker = np.concatenate([random.choice(workers, per_task, replace=False) for _ in range(tasks)])
    wrong = (truth[task] + random.integers(1, K, len(task))) % K
    right = random.random(len(task)) < accuracy[worker]
    order = random.permutation(len(task))
    label = np.where(right, truth[task], wrong)
    return task[order], worker[order], label[order], truth
