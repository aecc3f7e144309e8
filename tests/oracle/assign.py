"""Who labels what next: leases, and a slow chooser that looks at every task each time.

As read here: of several reasons the first of closed, blocked, budget is given; without an ordinary
choice there is no probe and no gold task either, since a message tells the ordinary choice's
score; an ambiguous task goes to one expert at a time, before all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import sha256
from math import inf, log

from . import messages, model
from .events import Available
from .project import Project
from .state import Lease, Task, Worker
from .turn import APPLIED, Turn

AUTO = {1, 6} | {10 * 2**i + 1 for i in range(40)}


@dataclass(frozen=True)
class Choices:
    """What the documents leave to whoever builds it, but want to be the same at each replay.

    Tasks and workers are numbered from 1 in order of first appearance in their project.
    """

    tie: Callable[[str, int, int], int]
    """Of project, task and worker: of equals the lowest is chosen."""
    is_gold_turn: Callable[[str, int, int, float], bool]
    """Of project, worker, the number of the worker's assignment from 1, and `gold_rate`."""


def hashed(*values: object) -> int:
    return int.from_bytes(sha256(repr(values).encode()).digest()[:8], "big")


DEFAULT = Choices(
    tie=hashed,
    is_gold_turn=lambda project, worker, k, rate: hashed(project, worker, k) < rate * 2**64,
)


# --- leases -----------------------------------------------------------------------------------


def expire(turn: Turn, projects: Iterable[Project]) -> None:
    """Ends the leases of a partition whose time has come."""
    due = [
        (project, lease)
        for project in projects
        for lease in project.leases.values()
        if lease.expires_at <= turn.time
    ]
    for project, lease in sorted(due, key=lambda found: (found[1].expires_at, found[1].id)):
        give_back(turn, project, [lease], "expired")


def give_back(turn: Turn, project: Project, leases: list[Lease], reason: str) -> None:
    """Ends leases that nobody answered, and says so."""
    for lease in sorted(leases, key=lambda lease: (lease.expires_at, lease.id)):
        del project.leases[lease.task, lease.worker]
        turn.say(messages.of_expiry(turn.topics, project, lease, reason))


def end_of_task(turn: Turn, project: Project, task: str) -> None:
    leases = [lease for lease in project.leases.values() if lease.task == task]
    give_back(turn, project, leases, "withdrawn")


def end_of_worker(turn: Turn, project: Project, worker: str) -> None:
    leases = [lease for lease in project.leases.values() if lease.worker == worker]
    give_back(turn, project, leases, "blocked")


# --- a worker asks ----------------------------------------------------------------------------


def available(turn: Turn, project: Project, event: Available, choices: Choices) -> str:
    worker = turn.worker(project, event.worker)
    for given in range(event.want):
        found = refusal(project, worker) or choose(project, worker, choices)
        if isinstance(found, str):
            if not given:
                turn.say(messages.of_none(turn.topics, project, worker, found))
            break
        task, score = found
        lease = Lease(
            id=messages.ce_id(turn.topics, turn.record, len(turn.out)),
            task=task.name,
            worker=worker.name,
            expires_at=turn.time + round(project.config.lease_seconds * 1_000_000),
        )
        project.leases[task.name, worker.name] = lease
        worker.assigned += 1
        turn.say(messages.of_assignment(turn.topics, project, lease, score))
    return APPLIED


def refusal(project: Project, worker: Worker) -> str | None:
    budget = project.config.budget
    if project.config.closed:
        return "project_closed"
    if worker.blocked:
        return "blocked"
    if budget is not None and project.budget_used() >= budget:
        return "budget"
    return None


def choose(project: Project, worker: Worker, choices: Choices) -> tuple[Task, float] | str:
    """The task and the score to tell, or why there is none."""
    config = project.config
    tasks = [task for task in project.tasks.values() if not task.withdrawn]
    with_room = [task for task in tasks if has_room(project, task)]
    most = most_votes(project, worker)
    open_tasks = [
        task for task in with_room if task.status == "open" and len(project.counting(task)) <= most
    ]
    ambiguous = []
    if worker.name in config.experts:
        ambiguous = [
            task for task in tasks if task.status == "ambiguous" and not project.leases_on(task)
        ]
    unseen = {task.name for task in tasks if is_unseen(project, task, worker)}
    number = list(project.workers).index(worker.name) + 1

    def tie(task: Task) -> int:
        return choices.tie(project.name, list(project.tasks).index(task.name) + 1, number)

    def first(pool: list[Task], rank: Callable[[Task], float]) -> Task | None:
        """Of the lowest rank; of those within 1e-9 of it, the first in the worker's order."""
        pool = [task for task in pool if task.name in unseen]
        if not pool:
            return None
        ranks = {task.name: rank(task) for task in pool}
        lowest = min(ranks.values())
        equals = [task for task in pool if ranks[task.name] <= lowest + model.TIE]
        return min(equals, key=tie)

    def ordinary(pool: list[Task]) -> Task | None:
        pool = [task for task in pool if task.name in unseen]
        highest = max((task.priority for task in pool), default=0.0)
        return first(
            [task for task in pool if task.priority == highest],
            lambda task: score(project, task),
        )

    choice = ordinary(ambiguous)
    if choice is not None:
        return choice, score(project, choice)
    choice = ordinary(open_tasks)
    if choice is None:
        return "all_seen" if open_tasks or ambiguous else "no_open_task"
    told = score(project, choice)

    k = worker.assigned + 1
    gold = first([task for task in with_room if task.status == "gold"], lambda task: 0.0)
    if is_probe(project, k):
        resolved = [task for task in with_room if task.status not in ("open", "gold")]
        most_decided = first(open_tasks + resolved, lambda task: -margin(project, task))
        choice = gold or most_decided or choice
    elif choices.is_gold_turn(project.name, number, k, config.gold_rate):
        choice = gold or choice
    return choice, told


def is_unseen(project: Project, task: Task, worker: Worker) -> bool:
    """Neither answered (ever, also if it was taken back), skipped nor held."""
    pair = (task.name, worker.name)
    return not (pair in project.ever_voted or pair in project.skips or pair in project.leases)


def has_room(project: Project, task: Task) -> bool:
    most = project.limits(task).max_labels
    taken = len(project.counting(task)) + project.leases_on(task)
    return most is None or taken < most


def most_votes(project: Project, worker: Worker) -> float:
    """That an open task may have to be for this worker."""
    after = project.config.skilled_after
    if after is None or project.quality(worker)["lower"] >= project.config.skilled_accuracy:
        return inf
    return after - 1


def is_probe(project: Project, k: int) -> bool:
    config = project.config
    if config.policy != "uncertainty":
        return False
    return k in AUTO if config.probes == "auto" else k <= int(config.probes)


def score(project: Project, task: Task) -> float:
    """The lowest is chosen."""
    leases = project.leases_on(task)
    if project.config.policy == "uniform":
        return float(len(project.counting(task)) + leases)
    alpha, beta = project.config.worker_prior
    return margin(project, task) + leases * log(alpha / beta)


def margin(project: Project, task: Task) -> float:
    """How decided the votes are: the gap of the two best log-weights; ordinal: less loss."""
    m = model.log_weights(project.base(task), project.counting(task))
    if project.config.kind == "ordinal":
        return -model.expected_absolute_loss(model.softmax(m))
    second, best = sorted(m.values())[-2:]
    return best - second
