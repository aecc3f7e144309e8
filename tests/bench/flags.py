"""How often an honest worker is flagged, and how soon the others are: crowds that are known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np

from aggregators import COLA, SortedSBIC
from aggregators.quality import FLAGS, WorkerFlag, flag_workers

from .stage import Stage
from .table import Cell, Table
from .workers import GOLD, KINDS, PROJECTS, Project, Simulated, simulate

SEEDS = 20
LOOKS = 5
ORDINAL_LOOKS = 2
"""COLA takes its time."""
WORKERS = 60
LIMIT = 0.01
ALARMS = FLAGS[: FLAGS.index("too_few")]
EACH = 2
"""Workers of each kind but the honest in a mixed crowd of `WORKERS`."""
FOUND_BY = {
    "spammer": {"spammer"},
    "frequencies": {"spammer"},
    "constant": {"constant", "spammer"},
    "adversarial": {"adversarial"},
    "trapped": {"gold_failed"},
    "drifter": {"drifting"},
}
WORTHLESS = ("spammer", "frequencies", "constant", "adversarial")
"""Whose answers are as good as chance or worse: to call them ok is the false alarm of `ok`."""


def measure_flags(stage: Stage, say: Callable[[str], None], *, quick: bool) -> list[Table]:
    """False alarms among honest workers, looked at time and again, and power for the others."""
    seeds = 2 if quick else SEEDS
    alarms: list[list[Cell]] = []
    for name, project in PROJECTS.items():
        for votes in (50, 200) if project.ordinal else (50, 200, 500):
            say(f"flags: honest, {name}, {votes} votes each")
            ever: Counter[str] = Counter()
            for seed in range(seeds):
                for seen in looks(simulate(project, ["honest"] * WORKERS, votes, seed), project):
                    ever.update(seen)
            honest = seeds * WORKERS
            alarms.append([name, votes, honest, *(100.0 * ever[f] / honest for f in ALARMS)])
    power: list[list[Cell]] = []
    crowd = [k for k in KINDS[1:] for _ in range(EACH)]
    crowd = ["honest"] * (WORKERS - len(crowd)) + crowd
    for name, project in PROJECTS.items():
        for votes in (50, 100, 200, 500):
            say(f"flags: mixed, {name}, {votes} votes each")
            hits: Counter[str] = Counter()
            cleared = 0
            for seed in range(seeds):
                found = flagged(simulate(project, crowd, votes, seed), project)
                for kind, flag in zip(crowd, found, strict=True):
                    hits[kind] += flag.flag in FOUND_BY.get(kind, {"ok"})
                    cleared += kind in WORTHLESS and flag.flag == "ok"
            fine = hits["honest"] / (seeds * crowd.count("honest"))
            shares = [100.0 * hits[k] / (seeds * EACH) for k in KINDS[1:]]
            wrongly = cleared / (seeds * EACH * len(WORTHLESS))
            power.append([name, votes, *shares, 100.0 * fine, 100.0 * wrongly])
    missed = any(isinstance(c, float) and c > 100 * LIMIT for row in alarms for c in row[3:])
    return [
        Table(
            "flags",
            "Honest workers who were ever flagged, per cent",
            ["project", "votes each", "workers", *ALARMS],
            alarms,
            [
                (
                    f"{seeds} seeds; looked at {LOOKS} times while votes came"
                    f" (ordinal: {ORDINAL_LOOKS}), {GOLD:.0%} of the"
                    " tasks gold, 5% of the tasks misleading. To be at most"
                    f" {100 * LIMIT:g} each: {'MISSED' if missed else 'reached'}."
                )
            ],
        ),
        Table(
            "flags_power",
            "Workers who were found, per cent, by how many votes each had given",
            ["project", "votes each", *KINDS[1:], "honest are ok", "worthless are ok"],
            power,
            [
                (
                    f"{seeds} seeds of {WORKERS} workers, {EACH} of each kind, one look at the end."
                    " spammer: at random; frequencies: at random, as frequent as the classes;"
                    " constant: one answer in 98 of 100 (found: `constant` or `spammer`);"
                    " adversarial: wrong in 90 of 100; trapped: honest, but wrong in 80 of 100"
                    " gold tasks; drifter: at random after 60 % of the votes. worthless: the"
                    " first four."
                )
            ],
        ),
    ]


def looks(crowd: Simulated, project: Project) -> list[set[str]]:
    """Every flag that each worker ever had."""
    seen: list[set[str]] = [set() for _ in crowd.kind]
    times = ORDINAL_LOOKS if project.ordinal else LOOKS
    for look in range(1, times + 1):
        for flags, flag in zip(seen, flagged(crowd, project, look / times), strict=True):
            flags.add(flag.flag)
    return seen


def flagged(crowd: Simulated, project: Project, share: float = 1.0) -> list[WorkerFlag]:
    """The flags after that share of the votes, by the method that reconciliation would take."""
    until = round(len(crowd.task) * share)
    task, worker, label = crowd.task[:until], crowd.worker[:until], crowd.label[:until]
    classes = range(project.K)
    model = (COLA if project.ordinal else SortedSBIC)(classes=classes, seed=0)
    tasks = int(task.max()) + 1
    return flag_workers(
        task,
        worker,
        label,
        model.fit(task, worker, label).probas_,
        truth=np.where(crowd.gold[:tasks], crowd.truth[:tasks], -1),
        workers=len(crowd.kind),
        class_prior=None if project.ordinal else np.full(project.K, 1.0 / project.K),
        ordinal=project.ordinal,
    )
