"""What a project holds: votes, tasks, workers, leases and runs."""

from __future__ import annotations

from dataclasses import dataclass, field

from .events import Completed, Confusion, RunWorker, Stamp
from .model import PerClass

Pair = tuple[str, str]  # task, worker
NamedConfusion = tuple[tuple[str, str, float], ...]  # true class, given class, expected count


@dataclass(eq=False)
class Vote:
    """A vote that is present: neither replaced nor retracted."""

    task: str
    worker: str
    label: str
    stamp: Stamp
    annotation_id: str | None
    offset: int
    p: float  # its own, whatever runs say of its worker


@dataclass(frozen=True)
class Lease:
    """A task that a worker holds; times in microseconds."""

    id: str
    task: str
    worker: str
    expires_at: int


@dataclass(eq=False)
class Run:
    """A run that has come to its end, with what was found in its parts."""

    completed: Completed
    bases: dict[str, tuple[float, ...]]
    workers: dict[str, RunWorker]
    clusters: dict[int, Confusion]
    status: str = ""
    reason: str | None = None
    adopted_at: int | None = None


@dataclass(eq=False)
class Task:
    name: str
    updated_at: int
    prior: PerClass | None = None  # its own
    run_base: PerClass | None = None  # by the adopted run
    priority: float = 0.0
    max_labels: int | None = None
    withdrawn: bool = False
    gold: str | None = None
    votes: list[Vote] = field(default_factory=list)  # in order of arrival, blocked workers' too
    # As at the last event that touched the task:
    mu: PerClass = field(default_factory=dict)
    stated: PerClass = field(default_factory=dict)
    # What was said about it:
    status: str = "open"
    label: str | None = None
    version: int = 0
    resolved_at: int | None = None


@dataclass(eq=False)
class Worker:
    name: str
    updated_at: int
    # Where only rounding may have changed S, `updated_at` hangs on how S is computed: it lies
    # between a change that nobody overlooks and the last event of any of the worker's tasks.
    surely_updated_at: int
    touched_at: int
    blocked: bool = False
    votes: list[Vote] = field(default_factory=list)  # in order of arrival
    milestones: set[int] = field(default_factory=set)
    assigned: int = 0  # how often a task was assigned to the worker, whatever came of it
    # By the adopted run; classes by name:
    found: RunWorker | None = None
    confusion: NamedConfusion = ()

    def changed(self, time: int) -> None:
        self.updated_at = self.surely_updated_at = self.touched_at = time
