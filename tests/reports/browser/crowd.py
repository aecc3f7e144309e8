"""Databases of crowds of any size, as the log would have made them: votes, gold, and a run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from aggregators import SortedSBIC
from aggregators.quality import WorkerFlag, expected_confusions, flag_workers
from connector.replay import replay
from tests.replay.files import write_jsonl

CLASSES = ["crow", "gull", "tern"]
LONG = "a-worker-with-a-very-long-name-7f3a9c2e-4d1b-4c55-9e5e-8f2b1d3c4a5e<&>"
PER_TASK = 5


def names(workers: int) -> list[str]:
    odd = {1: LONG, 2: "標注員の長い名前をここに書いてみる"}
    return [odd.get(j, f"worker-{j:05d}") for j in range(workers)]


def build(url: str, directory: Path, workers: int, votes_each: int, projects: int = 1) -> None:
    """Every tenth worker answers at random; the run flags whom it must."""
    lines = [
        line for p in range(projects) for line in _project(f"birds {p}", workers, votes_each, p)
    ]
    log = []
    for offset, value in enumerate(lines):
        if value["type"] == "reconciliation.completed":
            value["upto"] = offset - value["parts"]
        at = 1_700_000_000_000 + offset
        text = json.dumps(value)
        log.append({"partition": 0, "offset": offset, "timestamp": at, "value": text})
    with replay([write_jsonl(directory / "log.jsonl", log)], database=url):
        pass


def _project(name: str, workers: int, votes_each: int, seed: int) -> Iterator[dict[str, Any]]:
    def event(type_: str, **fields: Any) -> dict[str, Any]:
        return {"type": type_, "project": name} | fields

    random = np.random.default_rng(seed)
    yield event("project.declared", kind="categorical", classes=CLASSES)
    people = names(workers)
    per_task = min(PER_TASK, workers)
    # Rounds in which everybody votes once.
    worker = np.concatenate([random.permutation(workers) for _ in range(votes_each)])
    task = np.arange(len(worker)) // per_task
    tasks = int(task[-1]) + 1
    truth = random.integers(0, 3, tasks)
    skill = np.where(np.arange(workers) % 10 == 3, 1 / 3, 0.85)[worker]
    wrong = (truth[task] + random.integers(1, 3, len(task))) % 3
    label = np.where(random.random(len(task)) < skill, truth[task], wrong)
    for t in range(0, tasks, 9):
        yield event("task.gold", task=f"t{t}", label=CLASSES[truth[t]])
    for t, w, x in zip(task.tolist(), worker.tolist(), label.tolist(), strict=True):
        yield event("annotation.submitted", task=f"t{t}", worker=people[w], label=CLASSES[x])
    yield from _run(event, task, worker, label, people)


def _run(
    event: Any, task: Any, worker: Any, label: Any, people: list[str]
) -> Iterator[dict[str, Any]]:
    model = SortedSBIC(classes=range(3), seed=0).fit(task, worker, label)
    P = model.probas_
    flags: list[WorkerFlag] = flag_workers(
        task, worker, label, P, workers=len(people), class_prior=[1 / 3] * 3, classes=CLASSES
    )
    cells: dict[int, list[list[float]]] = {}
    for w, c, x, n in zip(*expected_confusions(task, worker, label, P), strict=True):
        cells.setdefault(int(w), []).append([int(c), int(x), float(n)])
    voted = np.unique(worker)
    skills = dict(zip(list(model.workers_), model.skills_.tolist(), strict=True))
    found = [
        {
            "worker": people[w],
            "p": skills[w],
            "flag": flags[w].flag,
            "flag_reason": flags[w].reason,
            "confusion": cells[w],
            "cluster": w % 2,
        }
        for w in voted.tolist()
    ]
    parts: list[dict[str, Any]] = [
        {"workers": found[i : i + 500]} for i in range(0, len(found), 500)
    ]
    cluster = [[c, x, 90.0 if c == x else 5.0] for c in range(3) for x in range(3)]
    parts.append({"clusters": [{"cluster": k, "confusion": cluster} for k in range(2)]})
    for number, part in enumerate(parts):
        yield event("reconciliation.part", run="r1", part=number, **part)
    yield event(
        "reconciliation.completed",
        run="r1",
        upto=0,
        algorithm="sorted_sbic",
        version="0.1.0",
        seed=0,
        parameters={},
        parts=len(parts),
        summary={},
    )
