"""A crowd of 25 clients that ask, answer, skip and vanish, on the real broker and database."""

from __future__ import annotations

import json
import random
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .askers import Askers
from .crowd import encoded
from .deployment import Deployment, Process, wait_for

Deploy = Callable[..., Deployment]

TASKS, CLIENTS, MAX_LABELS, BUDGET = 40, 25, 7, 260


def declare(d: Deployment, lease_seconds: float) -> None:
    d.send(
        [
            encoded(
                type="project.declared",
                project="p",
                kind="binary",
                classes=["0", "1"],
                resolve={"confidence": 0.9, "max_labels": MAX_LABELS},
                assign={"lease_seconds": lease_seconds, "budget": BUDGET, "gold_rate": 0.1},
            ),
            *(encoded(type="task.added", project="p", task=f"t{i}") for i in range(TASKS)),
            encoded(type="task.gold", project="p", task="t0", label="0"),
        ]
    )


def all_resolved(d: Deployment) -> Callable[[], bool]:
    looked = [0.0]

    def done() -> bool:
        if time.monotonic() - looked[0] < 0.5:
            return False
        looked[0] = time.monotonic()
        rows = d.rows("project_progress")
        return bool(rows) and rows[0]["tasks"] == TASKS and rows[0]["open"] == 0

    return done


class Ledger:
    """What the log and the messages say together, told by hand.

    Attributes:
        late: votes that used up budget without a lease.
        ended: reasons of leases that ended without an answer.
    """

    def __init__(self, d: Deployment) -> None:
        self._held: dict[tuple[str, str], str] = {}
        self._done: set[tuple[str, str]] = set()
        self._voted: set[tuple[str, str]] = set()
        self.late = 0
        self.ended: list[str] = []
        said: dict[int, list[dict[str, Any]]] = {}
        for r in d.read(d.assigned):
            _, partition, offset, _ = dict(r.headers)["ce_id"].decode().split("/")
            assert partition == "0"
            said.setdefault(int(offset), []).append(json.loads(r.value))
        for r in d.read(d.annotations):
            messages = said.pop(r.offset, [])
            for m in messages:
                if m["type"] == "assignment.expired":
                    self._ends(m)
            event = json.loads(r.value)
            if event["type"] in ("annotation.submitted", "annotation.skipped"):
                self._answer(event)
            for m in messages:
                if m["type"] == "task.assigned":
                    self._begins(m)
        assert not said

    def _begins(self, m: dict[str, Any]) -> None:
        pair = m["task"], m["worker"]
        assert pair not in self._held, f"held already: {m}"
        assert pair not in self._done, f"answered or skipped: {m}"
        assert len(self._voted) + len(self._held) < BUDGET, f"beyond the budget: {m}"
        labels = sum(task == m["task"] for task, _ in {*self._voted, *self._held})
        assert labels < MAX_LABELS, f"beyond max_labels: {m}"
        self._held[pair] = m["lease"]

    def _ends(self, m: dict[str, Any]) -> None:
        assert self._held.pop((m["task"], m["worker"])) == m["lease"]
        self.ended.append(m["reason"])

    def _answer(self, event: dict[str, Any]) -> None:
        pair = event["task"], event["worker"]
        lease = self._held.pop(pair, None)
        self._done.add(pair)
        if event["type"] == "annotation.submitted":
            self.late += lease is None and pair not in self._voted
            self._voted.add(pair)


def replayed(d: Deployment, directory: Path) -> list[dict[str, Any]]:
    """The assignments that `crowdresolve replay` makes of the log."""
    log, out = directory / "log.jsonl", directory / "out.jsonl"
    with log.open("w") as f:
        for r in d.read(d.annotations):
            record = {"partition": r.partition, "offset": r.offset, "value": json.loads(r.value)}
            f.write(json.dumps(record | {"timestamp": r.timestamp}) + "\n")
    d.command("replay", str(log), "--events-out", str(out))
    messages = map(json.loads, out.read_text().splitlines())
    return [m["value"] for m in messages if m["topic"] == d.assigned]


def own(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without the topic's name in leases: a file has none."""
    return [{k: v.split("/", 1)[1] if k == "lease" else v for k, v in m.items()} for m in messages]


def finish(d: Deployment, process: Process, directory: Path) -> Ledger:
    d.wait_applied(d.end())
    d.wait_published()
    # It may have been started a moment ago: only then does it know of SIGTERM.
    wait_for("the service is at work", lambda: "partition_assigned" in process.text())
    assert process.terminate() == 0
    d.assert_exact()
    live = [json.loads(r.value) for r in d.read(d.assigned)]
    assert own(replayed(d, directory)) == own(live)
    return Ledger(d)


def test_a_crowd_gets_every_task_resolved_within_the_budget(
    deploy: Deploy, postgres_url: str, tmp_path: Path
) -> None:
    d = deploy(postgres_url)
    process = d.run()
    declare(d, lease_seconds=4.0)
    crowd = Askers(d, "p", CLIENTS, seed=1, idle_s=6.0)
    crowd.work(all_resolved(d))
    # All go away. Nothing is sent any more, and what they hold comes back all the same.
    deadline = time.monotonic() + 60
    while d.rows("leases"):
        assert time.monotonic() < deadline, d.rows("leases")
        time.sleep(0.2)
    ledger = finish(d, process, tmp_path)
    assert min(crowd.fates[fate] for fate in ("answers", "skips", "vanishes")) > 0
    assert "expired" in ledger.ended
    (progress,) = d.rows("project_progress")
    assert progress["budget_used"] <= BUDGET + ledger.late


def test_killed_at_random_moments_the_service_assigns_as_without(
    deploy: Deploy, postgres_url: str, tmp_path: Path
) -> None:
    d = deploy(postgres_url)
    current = [d.run(CROWDRESOLVE_INSTANCE="one")]
    declare(d, lease_seconds=6.0)
    resolved = all_resolved(d)
    rng = random.Random(2)
    stop = threading.Event()
    kills: list[int] = []

    def murder() -> None:
        """Each time when the last one has come far enough to have done something."""
        while len(kills) < 4 and not stop.is_set():
            before = d.received()
            while d.received() < before + 25 and not stop.wait(0.05):
                pass
            if stop.wait(rng.uniform(0.0, 1.0)):
                return
            current[0].kill()
            kills.append(current[0].popen.returncode)
            current[0] = d.run(CROWDRESOLVE_INSTANCE="one")

    murderer = threading.Thread(target=murder)
    murderer.start()
    try:
        crowd = Askers(d, "p", CLIENTS, seed=2, idle_s=8.0)
        crowd.work(lambda: len(kills) >= 2 and resolved())
    finally:
        stop.set()
        murderer.join(30)
    ledger = finish(d, current[0], tmp_path)
    assert set(kills) == {-signal.SIGKILL}
    (progress,) = d.rows("project_progress")
    assert progress["budget_used"] <= BUDGET + ledger.late


@pytest.mark.parametrize("away", [True, False])
def test_a_lease_ends_on_a_quiet_partition_also_while_the_service_was_away(
    away: bool, deploy: Deploy, sqlite_url: str
) -> None:
    d = deploy(sqlite_url)
    process = d.run(CROWDRESOLVE_INSTANCE="one")
    declare(d, lease_seconds=1.5)
    d.send([encoded(type="worker.available", project="p", worker="w", want=3)])
    d.wait_applied(d.end())
    if away:
        process.kill()
        process = d.run(CROWDRESOLVE_INSTANCE="one")
    deadline = time.monotonic() + 60
    while sum(b"expired" in r.value for r in d.read(d.assigned)) < 3:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert process.terminate() == 0
    assert json.loads(d.read(d.annotations)[-1].value) == {"type": "time.passed"}
    d.assert_exact()
