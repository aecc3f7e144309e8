"""One reconciliation job over large projects by stage, and the error on gold before and after."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.live.deployment import Process

from .crowd import Crowd, crowd
from .gold_errors import errors
from .service import Watch, running
from .stage import Stage
from .table import Cell, Table

PATIENCE_S = 1800.0
LOOK_S = 0.05
LEVELS = 5


def measure_reconcile(stage: Stage, say: Callable[[str], None], *, quick: bool) -> list[Table]:
    """A million binary votes and 100,000 ordinal ones; then every dataset with gold."""
    rows = [
        large(stage, say, "binary, Sorted SBIC", crowd(100_000 if quick else 1_000_000).values),
        large(stage, say, "ordinal, COLA", ordinal(crowd(20_000 if quick else 100_000))),
    ]
    gold = errors(stage, say, quick=quick)
    return [
        Table(
            "reconcile",
            "One job, from the snapshot to the adopted run, on PostgreSQL",
            [
                *(
                    "project",
                    "votes",
                    "tasks",
                    "read s",
                    "compute s",
                    "flag s",
                    "encode s",
                    "send s",
                ),
                *("adopt s", "all s", "MB sent", "job peak MiB", "service peak MiB"),
            ],
            rows,
            ["Encoding includes the confusions. Adopted: the service has passed the run's end."],
        ),
        Table(
            "reconcile-gold",
            "Error on gold, live (Fast SBIC) and after one run",
            [
                "dataset",
                "kind",
                "votes",
                "gold",
                "before %",
                "after %",
                "method",
                "flips",
                "seconds",
            ],
            gold,
            ["The service does not know the gold. Flips: resolved labels that the run changes."],
        ),
    ]


def ordinal(made: Crowd) -> list[bytes]:
    """The crowd's votes as answers of five ordered classes: 65 % right, the others near."""
    rng = random.Random(1)
    truth: dict[str, int] = {}
    values = [
        json.dumps(
            {
                "type": "project.declared",
                "project": "bench",
                "kind": "ordinal",
                "classes": [str(level) for level in range(LEVELS)],
            }
        ).encode()
    ]
    for value in made.values[1:]:
        vote = json.loads(value)
        level = truth.setdefault(vote["task"], rng.randrange(LEVELS))
        far = 0 if rng.random() < 0.65 else rng.choice((-1, 1, -1, 1, -2, 2))
        values.append(
            json.dumps({**vote, "label": str(min(LEVELS - 1, max(0, level + far)))}).encode()
        )
    return values


def large(
    stage: Stage, say: Callable[[str], None], name: str, values: Sequence[bytes]
) -> list[Cell]:
    """The service folds it; then one job runs."""
    deployment = stage.deployment()
    say(f"reconcile: {name}: sending {len(values):,} records")
    deployment.send(values)
    with running(deployment, stage.database("PostgreSQL")) as (service, watch):
        _folded(say, name, watch, len(values))
        say(f"reconcile: {name}: the job")
        job = Process(
            ["reconcile", "--once", "--timeout", str(PATIENCE_S)],
            deployment.environment(),
            deployment.directory / f"job-{deployment.group}.log",
        )
        peak = _ended(job)
        lines = _lines(job)
        served = peak_mib(service.popen.pid)
        (run,) = deployment.rows("reconciliation_runs")
    if run["status"] != "adopted":
        raise RuntimeError(f"{name}: the run is {run['status']}: {run['reason']}")
    seconds = (
        run["durations"] if isinstance(run["durations"], dict) else json.loads(run["durations"])
    )
    sent, adopted = lines["run_sent"]["seconds"], lines["run_consumed"]["seconds"]
    known = [float(seconds[stage_]) for stage_ in ("read", "compute", "flag", "encode")]
    return [
        name,
        int(run["votes"]),
        int(run["tasks"]),
        *known,
        float(sent),
        float(adopted) - float(sent),
        sum(known) + float(adopted),
        float(lines["run_sent"]["bytes"]) / 1e6,
        peak,
        served,
    ]


def _folded(say: Callable[[str], None], name: str, watch: Watch, records: int) -> None:
    until = time.monotonic() + PATIENCE_S
    while (seen := watch.received()) < records:
        say(f"reconcile: {name}: {seen:,} of {records:,} folded")
        if time.monotonic() > until:
            raise RuntimeError(f"{name}: only {seen} of {records} records were folded")
        time.sleep(1.0)


def _ended(job: Process) -> float:
    """Wait for the job; the most memory it had, in MiB."""
    peak = 0.0
    while job.running:
        peak = max(peak, peak_mib(job.popen.pid))
        time.sleep(LOOK_S)
    if job.wait() != 0:
        raise RuntimeError(f"the job failed:\n{job.text()[-3000:]}")
    return peak


def peak_mib(pid: int) -> float:
    """The most resident memory that a process has had; 0 where the system does not tell."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    lines = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(lines[0].split()[1]) / 1024 if lines else 0.0


def _lines(job: Process) -> dict[str, dict[str, float]]:
    found = [json.loads(line) for line in job.text().splitlines() if line.startswith("{")]
    return {line["event"]: line for line in found}
