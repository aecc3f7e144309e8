"""Seeded random logs, made to be awkward: small pools of ids, so that everything collides."""

from __future__ import annotations

import json
import random
from collections.abc import Callable

from . import random_assignments
from .assign import DEFAULT, Choices
from .fold import PlainFold, Record
from .pools import (
    INSTANTS,
    NO_CONFIGS,
    NO_IDS,
    NO_INSTANTS,
    NO_REVISIONS,
    NO_TASKS,
    NO_TYPES,
    NOT_JSON,
    PROJECT_IDS,
    TASK_IDS,
    WORKER_IDS,
    Fields,
    Id,
)
from .random_declarations import Declarer, ProjectMade
from .random_runs import run_records

DAY_MS = 86_400_000


def random_log(
    seed: int,
    size: int,
    *,
    projects: int = 2,
    partitions: int = 1,
    tasks: int = 6,
    workers: int = 7,
    bad: float = 0.06,
    cloudevents: float = 0.1,
    redeclare: float = 0.03,
    gaps: float = 0.0,
    runs: float = 0.0,
    assignments: float = 0.0,
    choices: Choices = DEFAULT,
    start_ms: int = 1_767_000_000_000,
) -> list[Record]:
    """A log of `size` records over all partitions, the same for the same arguments.

    Args:
        seed: of everything random.
        size: records, the first declarations included.
        projects: 1 to 8; project i lives on partition i modulo `partitions`.
        partitions: the records of each have rising offsets from 0.
        tasks: of each project, 1 to 20.
        workers: of each project, 1 to 20.
        bad: share of records that are dead letters on purpose; others become so by chance.
        cloudevents: share of records sent as CloudEvents, structured or binary.
        redeclare: share of records that declare a project again.
        gaps: share of records before which an offset is missing.
        runs: how often a reconciliation begins, per record; 0.02, say.
        assignments: share of records by which a worker asks, answers or skips, or time passes.
        choices: by which the assignments are answered; with others the log still makes sense.
        start_ms: timestamp of the first record.
    """
    rng = random.Random(seed)
    maker = Maker(rng, projects, partitions, tasks, workers, runs, assignments)
    maker.fold = PlainFold(choices=choices)
    maker.now, maker.cloudevents, maker.gaps = start_ms, cloudevents, gaps
    records = []
    for number in range(size):
        if number < len(maker.projects):
            project = maker.projects[number]
            records.append(maker.record(project.partition, project.declaration, plain=True))
        elif maker.rng.random() < bad:
            records.append(maker.bad())
        else:
            records.append(maker.good(redeclare))
        if runs or assignments:
            maker.fold.feed(records[-1])
    return records


class Maker:
    def __init__(
        self,
        rng: random.Random,
        projects: int,
        partitions: int,
        tasks: int,
        workers: int,
        runs: float,
        assignments: float,
    ) -> None:
        self.runs = runs
        self.assignments = assignments
        self.fold = PlainFold()  # of the records so far, if there are runs or assignments
        self.rng = rng
        self.partitions = partitions
        self.tasks = TASK_IDS[:tasks]
        self.workers = WORKER_IDS[:workers]
        self.skill = {worker: rng.choice((0.3, 0.6, 0.8, 0.95)) for worker in self.workers}
        self.declarer = Declarer(rng, self.workers, runs, assignments)
        self.projects = [
            self.declarer.new_project(PROJECT_IDS[index], index % partitions)
            for index in range(projects)
        ]
        self.offsets = dict.fromkeys(range(partitions), 0)
        self.now = 0
        self.cloudevents = 0.0
        self.gaps = 0.0

    # --- records ------------------------------------------------------------------------------

    def record(self, partition: int, fields: Fields, *, plain: bool = False) -> Record:
        if plain or self.rng.random() >= self.cloudevents:
            return self.raw(partition, encode(fields, self.rng), self.some_headers())
        outer: Fields = {"specversion": "1.0", "id": "x", "source": "/platform"}
        form = self.rng.randrange(4)
        if form == 0:  # structured, the type outside
            inner = {name: value for name, value in fields.items() if name != "type"}
            body = outer | {"type": fields["type"], "data": inner}
            kind = b"application/cloudevents+json; charset=utf-8"
            return self.raw(partition, encode(body, self.rng), (("content-type", kind),))
        if form == 1:  # structured, recognised by its fields; the inner type counts
            body = outer | {"type": "com.example.other", "data": fields, "time": INSTANTS[0]}
            return self.raw(partition, encode(body, self.rng))
        headers: tuple[tuple[str, bytes | None], ...] = (("ce_specversion", b"1.0"),)
        if form == 2 and isinstance(fields["type"], str):  # binary, the type in its header
            inner = {name: value for name, value in fields.items() if name != "type"}
            headers += (("ce_type", fields["type"].encode()), ("content-type", b"application/json"))
            return self.raw(partition, encode(inner, self.rng), headers)
        headers += (("ce_type", b"com.example.other"),)
        return self.raw(partition, encode(fields, self.rng), headers)

    def raw(
        self,
        partition: int,
        value: bytes | None,
        headers: tuple[tuple[str, bytes | None], ...] = (),
    ) -> Record:
        rng = self.rng
        if rng.random() < self.gaps:
            self.offsets[partition] += rng.randint(1, 3)
        offset = self.offsets[partition]
        self.offsets[partition] += 1
        self.now += rng.choice((0, 1, 1, 7, 250, 1000, 61_000))
        if self.runs and rng.random() < self.runs / 10:
            self.now += DAY_MS
        back = rng.choice((1, 500, 10_000, 86_400_000)) if rng.random() < 0.08 else 0
        key = rng.choice((b"p", b"p", None, b"", b"\xff\x00"))
        return Record(partition, offset, self.now - back, value, key, headers)

    def some_headers(self) -> tuple[tuple[str, bytes | None], ...]:
        choices: list[tuple[tuple[str, bytes | None], ...]] = [(), (), ()]
        choices += [(("trace", b"\x00\xff"), ("trace", None)), (("content-type", b"text/plain"),)]
        return self.rng.choice(choices)

    # --- good records -------------------------------------------------------------------------

    def good(self, redeclare: float) -> Record:
        rng = self.rng
        project = rng.choice(self.projects)
        if self.runs and (fields := self.of_a_run(project)):
            return self.record(project.partition, fields)
        if self.assignments and rng.random() < self.assignments:
            return self.record(project.partition, self.of_an_assignment(project))
        if project.sent and rng.random() < 0.08:  # the platform sends again
            return self.record(project.partition, rng.choice(project.sent))
        if rng.random() < redeclare:
            return self.record(project.partition, self.declarer.again(project))
        make = rng.choices(ACTIONS, ACTION_WEIGHTS)[0]
        fields = {"project": project.name} | make(self, project)
        if rng.random() < 0.02:
            fields |= {"unknown": {"at": "never"}, "id": None, "comment": "\ud800"}
        project.sent.append(fields)
        return self.record(project.partition, fields)

    def of_an_assignment(self, project: ProjectMade) -> Fields:
        """A worker asks, or answers or skips what they hold, or time passes."""
        rng, state = self.rng, self.fold.projects.get(str(project.name))
        lease = random_assignments.some_lease(rng, state)
        what = rng.random()
        if what < 0.15:
            if what < 0.08:
                self.now += random_assignments.quiet_ms(rng, state)
            return {"type": "time.passed"}
        if lease is None or what < 0.65:
            asked = random_assignments.asks(rng, self.workers)
            return asked | {"project": project.name}
        pair: Fields = {"task": lease.task, "worker": lease.worker, "project": project.name}
        if what < 0.73:
            return {"type": "annotation.skipped"} | pair
        vote = self.vote(project)
        return {"type": "annotation.submitted", "label": vote["label"]} | pair

    def of_a_run(self, project: ProjectMade) -> Fields | None:
        """The next record of a run that is on its way, a new run's first, or an answer to one."""
        rng = self.rng
        if project.pending:
            return project.pending.pop(0) if rng.random() < 0.4 else None
        state = self.fold.projects.get(str(project.name))
        if state is None:
            return None
        held = [name for name, run in state.runs.items() if run.status == "held"]
        if rng.random() < (0.05 if held else self.runs / 10):
            kind = rng.choice(("approved", "rejected"))
            name = rng.choice([*held, *held, *state.runs, "nobody's"])
            return {"type": f"reconciliation.{kind}", "project": project.name, "run": name}
        if rng.random() < self.runs * len(self.projects):
            project.runs += 1
            name = rng.choice((f"r{project.runs}", str(project.runs), f"läuft/{project.runs}"))
            project.pending = run_records(rng, state, name, self.offsets[project.partition])
        return None

    def stamp(self) -> Fields:
        """Nothing, a revision, a time or both."""
        rng = self.rng
        fields: Fields = {}
        if rng.random() < 0.35:
            fields["revision"] = rng.choice((-1, 0, 1, 2, 2, 3, 4, 5, 2**63 - 1, -(2**63)))
        if rng.random() < 0.35:
            fields["at"] = rng.choice(INSTANTS)
        return fields

    def pair(self) -> Fields:
        return {"task": self.rng.choice(self.tasks), "worker": self.rng.choice(self.workers)}

    def annotation_id(self, task: object, worker: object) -> Id:
        """Mostly one of two that belong to the pair, at times anybody's."""
        rng = self.rng
        if rng.random() < 0.05:
            return rng.choice(("a-1", 991, "a/%"))
        return f"{task}:{worker}:{rng.randrange(2)}"[-200:]

    def vote(self, project: ProjectMade) -> Fields:
        rng = self.rng
        task, worker = rng.choice(self.tasks), rng.choice(self.workers)
        truth = project.truth.setdefault(task, rng.choice(project.classes))
        right = rng.random() < self.skill[worker]
        label = truth if right and truth in project.classes else rng.choice(project.classes)
        fields: Fields = {"type": "annotation.submitted", "task": task, "worker": worker}
        fields["label"] = str(label) if rng.random() < 0.3 else label
        if rng.random() < 0.3:
            fields["annotation_id"] = self.annotation_id(task, worker)
        return fields | self.stamp()

    def retract_pair(self, project: ProjectMade) -> Fields:
        return {"type": "annotation.retracted"} | self.pair() | self.stamp()

    def retract_id(self, project: ProjectMade) -> Fields:
        rng = self.rng
        pair = self.pair()
        known = [fields for fields in project.sent if "annotation_id" in fields]
        if known and rng.random() < 0.6:
            fields = rng.choice(known)
            pair = {name: fields[name] for name in ("task", "worker") if name in fields}
            annotation_id = fields["annotation_id"]
        else:
            annotation_id = self.annotation_id(pair["task"], pair["worker"])
        named = [name for name in pair if rng.random() < 0.2]
        fields = {name: pair[name] for name in named}
        if rng.random() < 0.05:
            fields["task"] = rng.choice(self.tasks)
        return {
            "type": "annotation.retracted",
            "annotation_id": annotation_id,
            **fields,
            **(self.stamp() if rng.random() < 0.5 else {}),
        }

    def skip(self, project: ProjectMade) -> Fields:
        fields = {"type": "annotation.skipped"} | self.pair() | self.stamp()
        return fields | ({"reason": "unclear"} if self.rng.random() < 0.5 else {})

    def gold(self, project: ProjectMade) -> Fields:
        rng = self.rng
        task = rng.choice(self.tasks)
        label: Id | None = project.truth.get(task, rng.choice(project.classes))
        if rng.random() < 0.3 or label not in project.classes:
            label = rng.choice(project.classes)
        if rng.random() < 0.45:
            label = None
        return {"type": "task.gold", "task": task, "label": label}

    def block(self, project: ProjectMade) -> Fields:
        kind = self.rng.choice(("worker.blocked", "worker.unblocked", "worker.unblocked"))
        fields: Fields = {"type": kind, "worker": self.rng.choice(self.workers)}
        fields |= {"reason": ""} if self.rng.random() < 0.3 else {}
        state = self.fold.projects.get(str(project.name))
        if kind == "worker.blocked" and state is not None and state.runs:
            fields |= {"run": self.rng.choice([*state.runs, "nobody's"])}
        return fields

    def add(self, project: ProjectMade) -> Fields:
        rng = self.rng
        fields: Fields = {"type": "task.added", "task": rng.choice(self.tasks)}
        if rng.random() < 0.4:
            fields["prior"] = [rng.choice((1, 1, 2, 0.5, 3)) for _ in project.classes]
        if rng.random() < 0.4:
            fields["priority"] = rng.choice((0, 1, -2.5, 1e300))
        if rng.random() < 0.4:
            fields["max_labels"] = rng.choice((1, 2, 3, 4, 5, 2**31 - 1))
        return fields

    def withdraw(self, project: ProjectMade) -> Fields:
        return {"type": "task.withdrawn", "task": self.rng.choice(self.tasks)}

    # --- bad records --------------------------------------------------------------------------

    def bad(self) -> Record:
        rng = self.rng
        project = rng.choice(self.projects)
        good = rng.choices(ACTIONS, ACTION_WEIGHTS)[0](self, project)
        good = {"project": project.name} | good
        where = project.partition
        code = rng.randrange(8)
        if code == 0:
            return self.raw(where, rng.choice(NOT_JSON), self.some_headers())
        if code == 1:
            good["type"] = rng.choice(NO_TYPES)
        if code in (2, 3):
            good = self.invalid(project, good)
        if code == 4:
            good["project"] = rng.choice(("nobody's", "P", " p", 70))
        if code == 5:
            if self.partitions > 1:
                where = (where + 1) % self.partitions
                good = rng.choice((good, project.declaration))
            else:
                good.pop("project")
        if code == 6:
            kind = rng.choice(("annotation.submitted", "task.gold"))
            good = {"type": kind, "project": project.name, **self.pair(), "label": "no class"}
        if code == 7:
            known = [fields for fields in project.sent if "annotation_id" in fields]
            good = self.vote(project) | {"project": project.name}
            good["annotation_id"] = rng.choice(known)["annotation_id"] if known else "a-1"
        return self.record(where, good)

    def invalid(self, project: ProjectMade, good: Fields) -> Fields:
        rng = self.rng
        what = rng.randrange(8)
        if what == 0:
            return good | {"at": rng.choice(NO_INSTANTS)}
        if what == 1:
            return (
                self.vote(project)
                | {"project": project.name}
                | {"revision": rng.choice(NO_REVISIONS)}
            )
        if what == 2:
            where, value = rng.choice(NO_CONFIGS)
            declaration = dict(project.declaration)
            section, _, name = where.partition(".")
            if name:
                inner = declaration.get(section, {})
                assert isinstance(inner, dict)
                value = inner | {name: value}
            return declaration | {section: value}
        if what in (3, 4):
            name, value = rng.choice(NO_TASKS)
            return {"type": "task.added", "project": project.name, "task": "t1", name: value}
        names = [
            name for name in ("project", "task", "worker", "label", "annotation_id") if name in good
        ]
        name = rng.choice(names)
        if rng.random() < 0.3:
            return {field: value for field, value in good.items() if field != name}
        return good | {name: rng.choice(NO_IDS)}


Action = Callable[[Maker, ProjectMade], Fields]

ACTIONS: list[Action] = [
    Maker.vote,
    Maker.retract_pair,
    Maker.retract_id,
    Maker.skip,
    Maker.gold,
    Maker.block,
    Maker.add,
    Maker.withdraw,
]
ACTION_WEIGHTS = [60, 7, 6, 5, 7, 6, 6, 3]


def encode(fields: Fields, rng: random.Random) -> bytes:
    """JSON, as different producers write it; at times with a key repeated."""
    ascii_only = rng.random() < 0.5 or "\\ud800" in json.dumps(fields)
    text = json.dumps(fields, ensure_ascii=ascii_only, indent=rng.choice((None, None, 1)))
    if rng.random() < 0.03:
        text = '{"project": "overruled", "type": 0, ' + text.lstrip()[1:]
    return text.encode()
