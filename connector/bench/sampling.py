"""The SBIC paper's Figure 2: error against labels per task, and the theorems' slopes."""

from __future__ import annotations

from typing import Any

import numpy as np

from aggregators import FastSBIC, theory

from .contest import make
from .datasets import Datasets
from .report import Cell, Report, Say

TASKS, L, ALPHA, BETA = 1000, 10, 4.0, 3.0
COMPARED = ("majority", "one_coin_dawid_skene", "amf", "kos", "mc", "fast_sbic", "sorted_sbic")


def uniform(R: int, seed: int) -> tuple[Any, Any, Any, Any]:
    """Votes in rounds over all tasks, each from a random worker who has votes left."""
    random = np.random.default_rng(seed)
    N = TASKS * R // L
    p = random.beta(ALPHA, BETA, N)
    truth = random.integers(0, 2, TASKS)
    worker = random.permutation(np.repeat(np.arange(N), L))
    task = np.concatenate([random.permutation(TASKS) for _ in range(R)])
    label = np.where(random.random(len(task)) < p[worker], truth[task], 1 - truth[task])
    return task, worker, label, truth


def uncertain(R: int, seed: int) -> float:
    """Error of Fast SBIC where each worker gets the least decided task that they have not had."""
    random = np.random.default_rng(seed)
    N = TASKS * R // L
    p = random.beta(ALPHA, BETA, N)
    truth = random.integers(0, 2, TASKS)
    live = FastSBIC(alpha=ALPHA, beta=BETA, classes=[0, 1])
    top = 0.5 + random.random(TASKS) * 1e-9  # ties at random
    seen = np.zeros((N, TASKS), dtype=bool)
    for j in random.permutation(np.repeat(np.arange(N), L)).tolist():
        i = int(np.argmin(np.where(seen[j], 2.0, top)))
        seen[j, i] = True
        right = random.random() < p[j]
        q = live.update(i, j, int(truth[i] if right else 1 - truth[i]))
        top[i] = q.max()
    found = np.array([live.posterior(i).argmax() for i in range(TASKS)])
    return float((found != truth).mean())


def figure_2(datasets: Datasets, quick: bool, say: Say) -> list[Report]:
    """Both policies; Beta(4, 3), ten labels per worker, 1000 tasks."""
    repeats = 1 if quick else 5
    rows: list[list[Cell]] = []
    for R in (10, 20) if quick else (10, 20, 30, 40, 50, 60):
        say(f"{R} labels per task")
        row: list[Cell] = [str(R)]
        for name in COMPARED:
            params: dict[str, Any] = {"classes": [0, 1]}
            if name in {"amf", "mc", "fast_sbic", "sorted_sbic", "one_coin_dawid_skene"}:
                params |= {"alpha": ALPHA, "beta": BETA}
            if name == "one_coin_dawid_skene":
                params["prior"] = "uniform"
            errors = []
            for seed in range(repeats):
                task, worker, label, truth = uniform(R, seed)
                model = make(name, **params).fit(task, worker, label)
                errors.append(float((model.labels_ != truth[np.array(model.tasks_)]).mean()))
            row.append(float(np.mean(errors)))
        row.append(float(np.mean([uncertain(R, s) for s in range(min(repeats, 2))])))
        row += [theory.error_bound(R, L, ALPHA, BETA, v) for v in ("fast", "sorted")]
        row.append(theory.error_bound(R, L, ALPHA, BETA, "fast", "uncertainty"))
        rows.append(row)
    columns = [
        "R", "UNI MAJ", "UNI EM", "UNI AMF", "UNI KOS", "UNI MC", "UNI Fast", "UNI Sorted",
        "US Fast", "bound UNI Fast", "bound UNI Sorted", "bound US Fast",
    ]  # fmt: skip
    return [Report("sbic_figure_2", "SBIC paper, Figure 2: error", columns, rows, digits=4)]
