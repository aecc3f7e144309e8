"""Reconciliation runs for the random logs: what a job might have found, and what none would.

A run's content cannot be known without the job, so it is made up from the plain fold of the log
so far: the posteriors as they are, nudged (labels mostly stay) or thrown over, with some p for
each worker, and each base the rest, as the job computes it.
"""

from __future__ import annotations

import random

from . import model
from .project import Project
from .state import Task

Fields = dict[str, object]


def run_records(rng: random.Random, project: Project, name: str, next_offset: int) -> list[Fields]:
    """The parts of a run and its end, in order, to be sent whenever; at times something is wrong.

    Args:
        rng: of everything random.
        project: as the snapshot has it.
        name: of the run.
        next_offset: of the project's partition.
    """
    upto = next_offset
    wrong = rng.choice(
        (*[""] * 8, "part", "classes", "upto", "upto", "unknown", "failed", "again", "late")
    )
    if wrong == "upto":
        adopted = 1 if project.adopted is None else project.adopted.completed.upto
        upto = max(0, rng.choice((next_offset - rng.randint(1, 30), adopted, adopted - 1)))
    head: Fields = {"project": project.name, "run": name}
    if wrong == "failed":
        end: Fields = {"upto": upto, "parts": 0, "error": "the bound fell"}
        return [head | {"type": "reconciliation.completed"} | end]

    p = {worker: some_p(rng) for worker in project.workers if rng.random() < 0.7}
    spread = rng.choice((0, 0.1, 1, 5, 5))
    tasks: list[Fields] = [
        {"task": task.name, "base": base(rng, project, task, p, spread)}
        for task in project.tasks.values()
        if project.counting(task)
    ]
    if wrong == "unknown":
        K = len(project.config.classes)
        tasks.append({"task": "nobody's", "base": [0.25] * K})
        p["nobody"] = 0.5
    if wrong == "classes" and tasks:
        tasks[0]["base"] = [0.5] * (len(project.config.classes) + rng.choice((-1, 1)))
    rng.shuffle(tasks)
    workers = [worker_fields(rng, project, worker, share) for worker, share in p.items()]

    parts = [{"tasks": some} for some in split(rng, tasks)]
    parts += [{"workers": some} for some in split(rng, workers)]
    if rng.random() < 0.3:
        found = [{"cluster": n, "confusion": confusion(rng, project)} for n in range(2)]
        parts.append({"clusters": found})
    records: list[Fields] = [
        head | {"type": "reconciliation.part", "part": number} | part
        for number, part in enumerate(parts)
    ]
    end = {"upto": upto, "parts": len(parts)} | ending(rng)
    if rng.random() < 0.7:
        end["classes"] = list(project.config.classes)
    completed = head | {"type": "reconciliation.completed"} | end
    if rng.random() < 0.2:
        rng.shuffle(records)
    if wrong == "part" and records:
        records.pop(rng.randrange(len(records)))
    if wrong == "late":
        return [*records[:-1], completed, *records[-1:]]
    if wrong == "again":
        return [*records, *records[:1], completed, *records[-1:], completed]
    return [*records, completed]


def some_p(rng: random.Random) -> float:
    return rng.choice((1.0, 1e-3)) if rng.random() < 0.05 else rng.uniform(0.2, 0.97)


def base(
    rng: random.Random, project: Project, task: Task, p: dict[str, float], spread: float
) -> list[float]:
    """The run's m minus the weights of the votes, by the run's p of their workers."""
    m = model.log_weights(project.base(task), project.counting(task))
    m = {label: weight + rng.uniform(-spread, spread) for label, weight in m.items()}
    seen = [
        (vote.label, model.vote_p(p[vote.worker], 0, (0.0, 1.0)) if vote.worker in p else vote.p)
        for vote in project.counting_votes(task)
    ]
    weights = model.log_weights(dict.fromkeys(m, 0.0), seen)
    return [m[label] - weights[label] for label in project.config.classes]


def worker_fields(rng: random.Random, project: Project, worker: str, p: float) -> Fields:
    fields: Fields = {"worker": worker, "p": p, "flag": None, "flag_reason": None}
    if rng.random() < 0.2:
        fields |= {"flag": "spammer", "flag_reason": rng.choice(("always 1", "é/任务"))}
    if rng.random() < 0.5:
        fields["cluster"] = rng.randrange(3)
    if rng.random() < 0.5:
        fields["confusion"] = confusion(rng, project)
    return fields


def confusion(rng: random.Random, project: Project) -> list[list[float]]:
    """Some triples of class indices and a count, largest first."""
    K = len(project.config.classes)
    cells = [(true, given) for true in range(K) for given in range(K) if rng.random() < 0.6]
    triples = [[true, given, rng.choice((1, 0.125, rng.uniform(0, 9)))] for true, given in cells]
    return sorted(triples, key=lambda triple: -triple[2])


def split(rng: random.Random, items: list[Fields]) -> list[list[Fields]]:
    parts = []
    while items:
        size = rng.choice((1, 2, 3, 50))
        parts.append(items[:size])
        items = items[size:]
    return parts


def ending(rng: random.Random) -> Fields:
    fields: Fields = {"algorithm": rng.choice(("sorted_sbic", "cola", "dawid_skene"))}
    fields |= {"version": "0.1.0", "seed": rng.choice((0, 7, -1, 2**62))}
    fields["parameters"] = rng.choice(({}, {"alpha": 2, "beta": 1}, {"K1": 25, "é": [1, None]}))
    fields["summary"] = rng.choice(({}, {"bound": None, "s": 0.5}, {"bound": -12.25}))
    return fields
