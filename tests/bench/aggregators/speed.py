"""Seconds from a table with ids to labels."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from aggregators import COLA, FastSBIC, MajorityVote, SortedSBIC
from aggregators._jit import jit

from .contest import peers
from .datasets import read
from .report import Cell, Report


@jit
def count_majority(task: Any, label: Any, tasks: int, classes: int) -> Any:
    """The least that any method must do, on codes."""
    counts = np.zeros((tasks, classes), np.int64)
    for v in range(len(task)):
        counts[task[v], label[v]] += 1
    top = np.zeros(tasks, np.int64)
    for i in range(tasks):
        for c in range(classes):
            if counts[i, c] > counts[i, top[i]]:
                top[i] = c
    return top


def table(votes: int, seed: int = 0) -> tuple[pd.DataFrame, Any, Any]:
    """Ten votes a task, ids as strings, in random order; and the codes."""
    random = np.random.default_rng(seed)
    tasks, workers = votes // 10, max(50, votes // 200)
    task = np.repeat(np.arange(tasks), 10)
    worker = random.integers(0, workers, votes)
    truth, p = random.integers(0, 2, tasks), random.beta(4, 2, workers)
    label = np.where(random.random(votes) < p[worker], truth[task], 1 - truth[task])
    order = random.permutation(votes)
    task, worker, label = task[order], worker[order], label[order]
    columns = {"task": task, "worker": worker, "label": label}
    frame = pd.DataFrame({c: pd.Series(v).astype(str) for c, v in columns.items()})
    return frame, task, label


def best(work: Callable[[], object], repeats: int) -> float:
    """The shortest of some runs: what the work takes when nothing disturbs it."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def _fit(make: Callable[[], Any], frame: pd.DataFrame, repeats: int) -> float:
    def work() -> object:
        return make().fit_predict(frame)

    return best(work, repeats)


def measure(quick: bool) -> list[Report]:
    """10^4 to 10^7 votes, and COLA against Crowd-Kit's DawidSkene."""
    small, task, label = table(10_000)
    for model in (FastSBIC(), SortedSBIC(), MajorityVote()):
        model.fit(small)
    count_majority(task, label, 1000, 2)
    rows: list[list[Cell]] = []
    for power in (4, 5) if quick else (4, 5, 6, 7):
        frame, task, label = table(10**power)
        repeats = 3 if power < 7 else 1
        peer = peers()["MV"]
        plain = frame.astype(object)
        old = _fit(peer, plain, repeats)
        seconds = [
            best(partial(count_majority, task, label, len(task) // 10, 2), repeats),
            *(_fit(m, frame, repeats) for m in (MajorityVote, FastSBIC, SortedSBIC, peer)),
        ]
        ratios = [seconds[2] / seconds[4], seconds[3] / seconds[4]]
        ratios += [_fit(m, plain, repeats) / old for m in (FastSBIC, SortedSBIC)]
        rows.append([f"10^{power}", *seconds, *ratios])
        print(f"10^{power}", flush=True)
    columns = [
        "votes", "count on codes", "MajorityVote", "Fast", "Sorted", "ck MajorityVote",
        "Fast / ck", "Sorted / ck", "Fast / ck (objects)", "Sorted / ck (objects)",
    ]  # fmt: skip
    note = (
        "Seconds from a pandas table with string ids, in random order, to labels; best of three. "
        "Objects: the same columns as Python strings instead of pandas' Arrow strings."
    )
    web = read("web")
    COLA().fit(web.votes.head(500))
    ours = best(lambda: COLA(classes=web.classes).fit(web.votes), 3)
    theirs = best(lambda: peers()["DS"]().fit(web.votes), 2)
    second = Report(
        "speed_cola",
        "Speed: COLA on web",
        ["method", "seconds"],
        [["COLA", ours], ["ck DawidSkene, 100 rounds", theirs], ["ratio", ours / theirs]],
    )
    return [Report("speed", "Speed", columns, rows, [note], digits=4), second]
