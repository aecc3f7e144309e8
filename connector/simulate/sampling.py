"""Uncertainty sampling: a crowd in memory, asked by the chooser that the service asks with."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from time import perf_counter, process_time
from typing import Literal

import numpy as np

from aggregators._types import IntArray
from aggregators.streaming import TaskState
from connector.engine.choosing import Chooser, Facts, Rules, Standing, margin

from .crowd import Crowd, Setting
from .estimates import estimate


@dataclass(frozen=True)
class Sampled:
    """What was asked, and how much processor time that took.

    Attributes:
        task: length V, the task of each label.
        choosing_s: seconds for the choices.
        estimating_s: seconds for the method whose estimates they follow.
        keeping_s: seconds for all else: answers, and keeping the chooser's order of the tasks.
    """

    task: IntArray
    choosing_s: float
    estimating_s: float
    keeping_s: float


def sample(
    crowd: Crowd,
    setting: Setting,
    method: str,
    probes: Literal["auto"] | int,
    every: int,
    seed: int,
) -> Sampled:
    """Ask for every label of ``crowd.arrivals`` where ``method`` is the least decided.

    Nothing resolves, one label is out at a time, and there are no gold tasks: the paper's setting.

    Args:
        crowd: who comes, and what they say.
        setting: what it was drawn from.
        method: a name in `aggregators.METHODS`.
        probes: as in a project file: 0 for none, as in the paper.
        every: votes between two fits of a method that cannot follow each vote.
        seed: of ties, and of the method.
    """
    base = [log(1.0 - setting.q), log(setting.q)]
    tasks = [TaskState(base) for _ in range(setting.tasks)]
    believed = estimate(method, tasks, len(crowd.accuracy), setting, every, seed)
    chooser = Chooser(Rules(seed, probes=probes))
    votes = [0] * setting.tasks
    chooser.fill(((i + 1, _facts(state, 0)) for i, state in enumerate(tasks)), {})
    given = [0] * len(crowd.accuracy)
    chosen = np.empty(len(crowd.arrivals), dtype=np.int64)
    choosing = estimating = 0.0
    started, used = perf_counter(), process_time()
    for number, worker in enumerate(crowd.arrivals.tolist()):
        if not given[worker]:
            chooser.meet(worker + 1, ())
        given[worker] += 1
        before = perf_counter()
        choice = chooser.choose(worker + 1, given[worker])
        choosing += perf_counter() - before
        assert not isinstance(choice, str)  # L <= M: there is always one that is new to them
        chooser.saw(choice.task, worker + 1)
        task = choice.task - 1
        chosen[number] = task
        votes[task] += 1
        answer = crowd.answer(number, task)
        before = perf_counter()
        moved = believed.vote(task, worker, answer)
        estimating += perf_counter() - before
        for i in moved:
            chooser.put(i + 1, _facts(tasks[i], votes[i]))
    passed, used = perf_counter() - started, process_time() - used
    # The whole by the processor's clock, which other programs cannot hold up; it is too slow to be
    # read at each vote, so the parts are its shares by the clock on the wall.
    share = used / passed
    return Sampled(
        chosen, choosing * share, estimating * share, (passed - choosing - estimating) * share
    )


def _facts(state: TaskState, votes: int) -> Facts:
    return Facts(Standing.OPEN, margin("binary", state.m), votes)
