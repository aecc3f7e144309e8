"""A project, and what follows from its votes and its adopted run, recomputed each time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from . import model
from .config import Config
from .events import Part, Stamp
from .model import PerClass
from .rules import Limits
from .state import Lease, NamedConfusion, Pair, Run, Task, Vote, Worker

MAX_RECORDS = 500
ROUNDING = 1e-12


@dataclass(eq=False)
class Project:
    name: str
    partition: int
    config: Config
    tasks: dict[str, Task] = field(default_factory=dict)  # in order of first appearance
    workers: dict[str, Worker] = field(default_factory=dict)
    # Of a pair: its present vote, its remembered retraction, its skip, whether it ever voted.
    present: dict[Pair, Vote] = field(default_factory=dict)
    retractions: dict[Pair, Stamp] = field(default_factory=dict)
    skips: set[Pair] = field(default_factory=set)
    ever_voted: set[Pair] = field(default_factory=set)
    # Of an annotation_id: whose it is, and its remembered retraction.
    owners: dict[str, Pair] = field(default_factory=dict)
    id_retractions: dict[str, Stamp] = field(default_factory=dict)
    # Calibration: (z, hit) of gold tasks, the last updated last, and the slope.
    records: dict[str, tuple[float, int]] = field(default_factory=dict)
    b: float = 1.0
    history: list[dict[str, object]] = field(default_factory=list)
    leases: dict[Pair, Lease] = field(default_factory=dict)
    # Reconciliation: parts (with the time they came) of runs without an end, runs with one.
    parts: dict[str, dict[int, tuple[int, Part]]] = field(default_factory=dict)
    runs: dict[str, Run] = field(default_factory=dict)
    adopted: Run | None = None
    cluster_confusion: dict[int, NamedConfusion] = field(default_factory=dict)
    classes_since: int = -1  # offset of the last declaration that changed them

    # --- workers ------------------------------------------------------------------------------

    def S(self, worker: Worker) -> float:
        """The plain sum over all of the worker's votes of what their tasks say of them now."""
        return sum((self.tasks[vote.task].mu[vote.label] for vote in worker.votes), 0.0)

    def quality(self, worker: Worker) -> dict[str, float]:
        S, n, prior = self.S(worker), len(worker.votes), self.config.worker_prior
        lower, upper = model.interval(S, n, prior)
        return {"accuracy": model.accuracy(S, n, prior), "lower": lower, "upper": upper}

    # --- assignment ---------------------------------------------------------------------------

    def leases_on(self, task: Task) -> int:
        return sum(lease.task == task.name for lease in self.leases.values())

    def budget_used(self) -> int:
        """Pairs that ever voted, plus open leases."""
        return len(self.ever_voted) + len(self.leases)

    # --- tasks --------------------------------------------------------------------------------

    def prior_of(self, task: Task) -> PerClass:
        if task.prior is not None:
            return task.prior
        return dict(zip(self.config.classes, self.config.class_prior, strict=True))

    def counting(self, task: Task) -> list[tuple[str, float]]:
        """(label, p) of the votes that count, in order of arrival."""
        return [(vote.label, self.p_of(vote)) for vote in self.counting_votes(task)]

    def counting_votes(self, task: Task) -> list[Vote]:
        return [vote for vote in task.votes if not self.workers[vote.worker].blocked]

    def p_of(self, vote: Vote) -> float:
        """By the adopted run where it saw the vote and names its worker, else the vote's own."""
        if self.adopted is not None and self.is_seen_by_run(vote):
            found = self.adopted.workers.get(vote.worker)
            if found is not None:
                return found.p
        return vote.p

    def is_seen_by_run(self, vote: Vote) -> bool:
        return self.adopted is not None and vote.offset < self.adopted.completed.upto

    def has_run_base(self, task: Task) -> bool:
        """Only as long as a vote counts that the run has seen."""
        return task.run_base is not None and any(
            self.is_seen_by_run(vote) for vote in self.counting_votes(task)
        )

    def base(self, task: Task) -> PerClass:
        if self.has_run_base(task):
            assert task.run_base is not None
            return task.run_base
        return model.log_prior(self.prior_of(task))

    def algorithm(self, task: Task) -> str:
        if self.has_run_base(task):
            assert self.adopted is not None
            return self.adopted.completed.algorithm or ""
        return "fast_sbic"

    def limits(self, task: Task) -> Limits:
        config = self.config
        return Limits(
            config.confidence,
            config.min_labels,
            config.max_labels if task.max_labels is None else task.max_labels,
            config.ambiguity,
            config.reopen_confidence,
        )

    def refresh_mu(self, task: Task, time: int) -> None:
        """What the task says of its voters; they have changed where that has."""
        old = task.mu
        if task.gold is not None:
            task.mu = model.one_hot(self.config.classes, task.gold)
        else:
            task.mu = model.softmax(model.log_weights(self.base(task), self.counting(task)))
        for vote in task.votes:
            worker = self.workers[vote.worker]
            before, now = old.get(vote.label), task.mu[vote.label]
            worker.touched_at = time
            if before != now:
                worker.updated_at = time
            if before is None or abs(before - now) > ROUNDING:
                worker.surely_updated_at = time

    def shadow(self, task: Task) -> PerClass:
        """Stated as if the task were not gold, without any slope."""
        votes, doubt = self.counting(task), self.config.doubt
        return model.stated(self.prior_of(task), votes, doubt, self.base(task))

    def refresh_stated(self, task: Task) -> None:
        if task.gold is not None:
            task.stated = model.one_hot(self.config.classes, task.gold)
            return
        q = self.shadow(task)
        task.stated = model.sloped(q, self.b) if self.records else q

    # --- calibration --------------------------------------------------------------------------

    def refresh_record(self, task: Task) -> None:
        """Replaces the record of a task that is gold; removes that of one which is not."""
        if not self.config.calibrate:
            return
        had = self.records.pop(task.name, None) is not None
        votes = self.counting(task)
        if task.gold is not None and len(votes) >= 2:
            q = self.shadow(task)
            top = model.top_of(q)
            self.records[task.name] = (model.logit(q[top]), int(top == task.gold))
            if len(self.records) > MAX_RECORDS:
                del self.records[next(iter(self.records))]
        elif not had:
            return
        self.learn()

    def drop_records(self) -> None:
        self.records.clear()
        self.learn()

    def learn(self) -> None:
        if self.records:
            self.b = model.learn_slope(self.records, self.b, len(self.config.classes))
        else:
            self.b = 1.0

    # --- configuration ------------------------------------------------------------------------

    def named_classes(self) -> set[str]:
        """Classes that cannot be removed."""
        named = {vote.label for vote in self.present.values()}
        for task in self.tasks.values():
            if task.gold is not None:
                named.add(task.gold)
            if task.status == "adjudicated" and task.label is not None:
                named.add(task.label)
        return named

    def conflict(self, new: Config) -> str | None:
        """Why this project cannot become that one."""
        old = self.config
        if new.kind != old.kind:
            return "the kind cannot change"
        gone = self.named_classes() - set(new.classes)
        if gone:
            return f"votes or gold name {sorted(gone)}"
        if new.kind == "ordinal" and common(new.classes, old.classes) != common(
            old.classes, new.classes
        ):
            return "the order of the classes cannot change"
        return None

    def configure(self, new: Config, offset: int) -> None:
        old = self.config
        if new.classes != old.classes:
            self.classes_since = offset
        same_set = set(new.classes) == set(old.classes)
        priors = {task.name: self.prior_of(task) for task in self.tasks.values()}
        self.config = new
        for task in self.tasks.values():
            if task.prior is not None:
                own = task.prior
                task.prior = {name: own[name] for name in new.classes} if same_set else None
            self.shift_base(task, priors[task.name])
        if not new.calibrate:
            self.drop_records()

    def set_prior(self, task: Task, prior: PerClass) -> None:
        old = self.prior_of(task)
        task.prior = prior
        self.shift_base(task, old)

    def shift_base(self, task: Task, old_prior: PerClass) -> None:
        """A changed prior adds log new - log old to a run's base; a new class has its log prior."""
        if task.run_base is None:
            return
        old = model.log_prior(old_prior)
        task.run_base = {
            name: task.run_base[name] + (share - old[name]) if name in old else share
            for name, share in model.log_prior(self.prior_of(task)).items()
        }


def common(these: Sequence[str], others: Sequence[str]) -> list[str]:
    return [name for name in these if name in others]
