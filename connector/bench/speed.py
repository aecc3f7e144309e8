"""Processor seconds from a table with ids to labels, all methods in turn in each round."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from aggregators import COLA, FastSBIC, MajorityVote, SortedSBIC
from aggregators._jit import jit

from .contest import peers
from .datasets import Datasets
from .report import Cell, Report, Say

Work = Callable[[], object]
OURS: dict[str, Callable[[], Any]] = {
    "MajorityVote": MajorityVote,
    "Fast": FastSBIC,
    "Sorted": SortedSBIC,
}
KINDS: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "integers": lambda codes: codes,
    "large integers": lambda codes: codes * 7919 + 10**12,
    "strings (Arrow)": lambda codes: codes.astype("str"),
    "strings (objects)": lambda codes: codes.astype("str").astype(object),
}
"""How a user may hold the ids."""


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


def crowd(votes: int, in_order: bool = False, seed: int = 0) -> pd.DataFrame:
    """Codes of tasks (ten votes each), workers and labels, task by task or in random order."""
    random = np.random.default_rng(seed)
    tasks, workers = votes // 10, min(5000, max(50, votes // 200))
    task = np.repeat(np.arange(tasks), 10)
    worker = random.integers(0, workers, votes)
    truth, p = random.integers(0, 2, tasks), random.beta(4, 2, workers)
    label = np.where(random.random(votes) < p[worker], truth[task], 1 - truth[task])
    frame = pd.DataFrame({"task": task, "worker": worker, "label": label})
    return frame if in_order else frame.sample(frac=1, random_state=seed, ignore_index=True)


def best(works: Mapping[str, Work], rounds: int) -> dict[str, float]:
    """The least processor time of each: what it takes when nothing disturbs it."""
    least = dict.fromkeys(works, np.inf)
    for _ in range(rounds):
        for name, work in works.items():
            start = time.process_time()
            work()
            least[name] = min(least[name], time.process_time() - start)
    return least


def fits(frame: pd.DataFrame) -> dict[str, Work]:
    """`fit` of each of ours and of Crowd-Kit's majority, compiled by now."""
    small = frame.head(25_000)
    for make in OURS.values():
        make().fit(small)
    made = {**OURS, "ck": peers()["MV"]}
    return {name: partial(_fit, make, frame) for name, make in made.items()}


def _fit(make: Callable[[], Any], frame: pd.DataFrame) -> object:
    return make().fit(frame)


def measure(datasets: Datasets, quick: bool, say: Say) -> list[Report]:
    """10^4 to 10^7 votes; a million votes by kind of ids."""
    rows: list[list[Cell]] = []
    for power in (4, 5) if quick else (4, 5, 6, 7):
        say(f"10^{power} votes")
        codes = crowd(10**power)
        task, label = codes["task"].to_numpy(), codes["label"].to_numpy()
        count = partial(count_majority, task, label, len(task) // 10, 2)
        count()
        works: dict[str, Work] = {"count": count, **fits(KINDS["strings (Arrow)"](codes))}
        s = best(works, 3 if power < 7 else 1)
        ratios = [s["Fast"] / s["ck"], s["Sorted"] / s["ck"]]
        rows.append([f"10^{power}", *s.values(), *ratios])
    columns = [
        "votes", "count on codes", "MajorityVote", "Fast", "Sorted", "ck MajorityVote",
        "Fast / ck", "Sorted / ck",
    ]  # fmt: skip
    note = (
        "Processor seconds of fit from a pandas table with string ids, ten votes a task in random "
        "order, best of three rounds in which all run in turn."
    )
    return [
        Report("speed", "Speed", columns, rows, [note], digits=4),
        _by_kind(10**5 if quick else 10**6, say),
    ]


def _by_kind(votes: int, say: Say) -> Report:
    rows: list[list[Cell]] = []
    for in_order in (True, False):
        codes = crowd(votes, in_order)
        for kind, held in KINDS.items():
            name = f"{kind}, {'task by task' if in_order else 'random order'}"
            say(name)
            s = best(fits(held(codes)), 4)
            seconds = [s["Fast"], s["Sorted"], s["ck"]]
            rows.append([name, *seconds, s["Fast"] / s["ck"], s["Sorted"] / s["ck"]])
    columns = ["ids", "Fast", "Sorted", "ck MajorityVote", "Fast / ck", "Sorted / ck"]
    note = f"{votes:,} votes, ten a task; as above, best of four rounds. To reach: 0.25 and 3."
    return Report("speed_ids", "Speed by kind of ids", columns, rows, [note])


def cola(datasets: Datasets, quick: bool, say: Say) -> list[Report]:
    """COLA against Crowd-Kit's DawidSkene on web."""
    web = datasets.read("web")
    COLA().fit(web.votes.head(500))
    works: dict[str, Work] = {
        "COLA": partial(_fit, partial(COLA, classes=web.classes), web.votes),
        "ck DawidSkene, 100 rounds": partial(_fit, peers()["DS"], web.votes),
    }
    s = best(works, 1 if quick else 3)
    ours, theirs = s.values()
    rows: list[list[Cell]] = [[name, seconds] for name, seconds in s.items()]
    rows.append(["ratio", ours / theirs])
    return [
        Report("speed_cola", "Speed: COLA on web, processor seconds", ["method", "seconds"], rows)
    ]
