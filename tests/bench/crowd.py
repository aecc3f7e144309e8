"""A crowd as a platform sees one: a window of open tasks, a few busy workers and many others.

The records are the same on every machine: everything follows from the seed.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate

from connector.domain.records import Record

PROJECT = "bench"
START = datetime(2026, 1, 1, tzinfo=UTC)
PER_TASK = 5
WORKERS = 500
OPEN_TASKS = 1000
"""Tasks that are worked on at a time."""
MISLEADING = 0.05
"""Share of the tasks that mislead: there a worker is right no more often than a coin."""


@dataclass(frozen=True)
class Crowd:
    """Values of the annotations topic, in order; the first declares the project.

    Attributes:
        votes: how many of them are votes.
        tasks: how many tasks they are on.
    """

    values: list[bytes]
    votes: int
    tasks: int


def declaration(project: str = PROJECT, **resolve: object) -> bytes:
    """A binary project with the default settings."""
    return _encoded(
        type="project.declared",
        project=project,
        kind="binary",
        classes=["0", "1"],
        **({"resolve": resolve} if resolve else {}),
    )


def crowd(
    votes: int,
    *,
    per_task: int = PER_TASK,
    workers: int = WORKERS,
    open_tasks: int = OPEN_TASKS,
    project: str = PROJECT,
    seed: int = 0,
) -> Crowd:
    """So many votes on a fifth as many tasks.

    Workers give votes in proportion to 1 / rank, as real crowds do, and are right 75 % of the time
    on average (Beta(6, 2)); the next vote falls on a random one of the open tasks.
    """
    rng = random.Random(seed)
    tasks = -(-votes // per_task)
    shares = list(accumulate(1.0 / rank for rank in range(1, workers + 1)))
    names = [f"worker-{j:04d}" for j in range(workers)]
    skill = [rng.betavariate(6, 2) for _ in names]
    window = list(range(min(open_tasks, tasks)))
    following = len(window)
    given: list[set[int]] = [set() for _ in range(tasks)]
    truth = [rng.random() < 0.5 for _ in range(tasks)]
    misleads = [rng.random() < MISLEADING for _ in range(tasks)]
    values = [declaration(project)]
    for number in range(votes):
        place = rng.randrange(len(window))
        task = window[place]
        worker = rng.choices(range(workers), cum_weights=shares)[0]
        while worker in given[task]:
            worker = rng.randrange(workers)
        given[task].add(worker)
        right = rng.random() < (0.5 if misleads[task] else skill[worker])
        at = START + timedelta(milliseconds=number)
        values.append(
            _encoded(
                type="annotation.submitted",
                project=project,
                task=f"task-{task:07d}",
                worker=names[worker],
                label=str(int(truth[task] == right)),
                at=at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            )
        )
        if len(given[task]) == per_task:
            if following < tasks:
                window[place] = following
                following += 1
            else:
                window[place] = window[-1]
                window.pop()
    return Crowd(values, votes, tasks)


def records(values: list[bytes], topic: str = "annotations") -> list[Record]:
    """The values as the log's records, a millisecond apart."""
    start = int(START.timestamp()) * 1_000_000
    key = PROJECT.encode()
    return [
        Record(topic, 0, offset, start + offset * 1000, key, value)
        for offset, value in enumerate(values)
    ]


def _encoded(**fields: object) -> bytes:
    return json.dumps(fields).encode()
