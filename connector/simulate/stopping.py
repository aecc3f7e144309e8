"""Labels that come in one by one, judged as the service judges them: which tasks resolve, when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log

import msgspec

from aggregators.confidence import stated, top
from aggregators.streaming import TaskState, VoteState, WorkerState, cast
from connector.domain.config import Declaration, ProjectConfig, effective
from connector.engine import resolve
from connector.engine.choosing import Facts, Standing, margin
from connector.engine.state import AMBIGUOUS, OPEN


def configured(kind: str, classes: Sequence[str], **groups: Mapping[str, object]) -> ProjectConfig:
    """A project's configuration.

    Raises:
        ValueError: a value is out of its bounds.
    """
    given = {"kind": kind, "classes": list(classes), **groups}
    return effective(msgspec.convert(given, Declaration))


class Board:
    """Tasks 0..M-1 and workers 0..N-1 of one project, by the rules of its configuration.

    The arithmetic, the stated confidence and the verdicts are the service's own functions.

    Attributes:
        labels: by task, the resolved label, or the present top, -1 without a vote.
        status: by task.
        votes: by task, how many have come.
    """

    def __init__(self, config: ProjectConfig, tasks: int, workers: int) -> None:
        self.config = config
        base = [log(v) for v in config.class_prior]
        self._tasks = [TaskState(base) for _ in range(tasks)]
        self._workers = [WorkerState() for _ in range(workers)]
        self._counts: list[dict[int, int]] = [{} for _ in range(tasks)]
        self.labels = [-1] * tasks
        self.status = [OPEN] * tasks
        self.votes = [0] * tasks

    def vote(self, task: int, worker: int, x: int) -> None:
        """A worker's first vote on a task."""
        config, state, counts = self.config, self._tasks[task], self._counts[task]
        who = self._workers[worker]
        cast(state, worker, who, VoteState(who, x, 0.5), config.alpha, config.beta)
        counts[x] = counts.get(x, 0) + 1
        self.votes[task] += 1
        q = stated(state.m, counts, config.class_prior, config.doubt, state.mu)
        best = top(q)
        standing = resolve.Standing(
            status=self.status[task],
            label=self.labels[task],
            top=best,
            conf=q[best],
            n=self.votes[task],
            truth=None,
            expert=None,
            max_labels=config.max_labels,
        )
        verdict = resolve.judge(standing, config)
        if verdict is not None:
            self.status[task], self.labels[task] = verdict.status, verdict.label
        elif self.status[task] == OPEN:
            self.labels[task] = best

    def facts(self, task: int) -> Facts:
        """What a chooser must know of the task."""
        config, state = self.config, self._tasks[task]
        standing = {OPEN: Standing.OPEN, AMBIGUOUS: Standing.AMBIGUOUS}.get(
            self.status[task], Standing.RESOLVED
        )
        decided = margin(config.kind, state.m, state.mu)
        return Facts(standing, decided, self.votes[task], limit=config.max_labels)
