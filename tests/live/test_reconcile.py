"""Reconciliation on the real broker and database, while votes arrive and processes die."""

from __future__ import annotations

import csv
import json
import math
import random
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from aggregators import COLA, SortedSBIC
from connector.pipeline.failpoints import JOB_NAMES
from tests.oracle import model
from tests.oracle.fold import PlainFold

from .crowd import declared, encoded, votes
from .deployment import Deployment, Process, wait_for

Deploy = Callable[..., Deployment]


class Place:
    """A deployment with jobs."""

    def __init__(self, deployment: Deployment) -> None:
        self.d = deployment
        self.sent = 0
        self._jobs = 0

    def send(self, values: list[bytes], partition: int = 0) -> None:
        self.d.send(values, partition)
        self.sent += len(values)

    def settle(self) -> None:
        """Wait until all that anybody has sent is applied and published."""
        wait_for("all applied", lambda: self.d.received() >= len(self.d.read(self.d.annotations)))
        self.d.wait_published()

    def job(self, *flags: str, **environment: str) -> Process:
        """Start `reconcile`."""
        self._jobs += 1
        process = Process(
            ["reconcile", *flags],
            self.d.environment(**environment),
            self.d.directory / f"job-{self._jobs}.log",
        )
        self.d.processes.append(process)
        return process

    def runs(self, project: str | None = None) -> list[dict[str, Any]]:
        found = [r for r in self.d.rows("reconciliation_runs") if project in (None, r["project"])]
        return sorted(found, key=lambda r: r["upto"])

    def assert_subscribers_have_the_labels(self) -> None:
        """The last message of each task carries the label that the database has."""
        last: dict[bytes, Any] = {}
        for record in self.d.read(self.d.resolved):
            last[record.key] = json.loads(record.value)
        said = {(m["project"], m["task"]): (m["label"], m["status"]) for m in last.values()}
        rows = self.d.rows("task_labels")
        assert rows
        for row in rows:
            key = row["project"], row["task"]
            label, status = said.get(key, (None, "open"))
            assert status == row["status"], key
            if status != "open":
                assert label == row["label"], key


def table_of(fold: PlainFold, project: str) -> dict[str, list[str]]:
    """The counting votes in order of arrival, as `aggregators` takes them."""
    p = fold.projects[project]
    found = sorted(
        (v for t in p.tasks.values() for v in t.votes if not p.workers[v.worker].blocked),
        key=lambda v: v.offset,
    )
    return {name: [getattr(v, name) for v in found] for name in ("task", "worker", "label")}


def stated_by(
    classes: list[str], table: dict[str, list[str]], probas: Any, log_weights: Any, tasks: list[str]
) -> Iterator[tuple[str, dict[str, float]]]:
    """What a posterior states with the default `doubt`, a vote at a time."""
    row = {task: n for n, task in enumerate(tasks)}
    right: dict[str, list[float]] = {}
    for task, worker, label in zip(table["task"], table["worker"], table["label"], strict=True):
        right.setdefault(worker, []).append(float(probas[row[task]][classes.index(label)]))
    p = {w: (math.fsum(found) + 2) / (len(found) + 3) for w, found in right.items()}
    of: dict[str, list[tuple[str, float]]] = {}
    for task, worker, label in zip(table["task"], table["worker"], table["label"], strict=True):
        of.setdefault(task, []).append((label, p[worker]))
    prior = {name: 1 / len(classes) for name in classes}
    for task, said in of.items():
        if log_weights is not None:
            m = dict(zip(classes, (float(v) for v in log_weights[row[task]]), strict=True))
        else:
            one_coin = model.log_weights(model.log_prior(prior), said)
            logs = {
                c: math.log(max(float(v), 1e-320))
                for c, v in zip(classes, probas[row[task]], strict=True)
            }
            shift = model.log_sum_exp(one_coin) - model.log_sum_exp(logs)
            top = max(logs.values())
            m = {c: max(v, top - 700) + shift for c, v in logs.items()}
        mu = model.softmax(m)
        w = model.misleading(m, [label for label, _ in said], 0.1)
        yield task, {c: (1 - w) * mu[c] + w * prior[c] for c in classes}


def assert_table_is(place: Place, project: str, method: Any, data_dir: Path) -> None:
    """The database says what the method says of the same votes."""
    classes = [
        str(c) for c in json.loads((data_dir / project / "meta.json").read_text())["classes"]
    ]
    table = table_of(place.d.fold(), project)
    fitted = method(classes=classes).fit(table)
    log_weights = getattr(fitted, "log_weights_", None)
    want = dict(stated_by(classes, table, fitted.probas_, log_weights, fitted.tasks_))
    rows = {r["task"]: r for r in place.d.rows("task_labels") if r["project"] == project}
    assert set(rows) == set(want)
    for task, q in want.items():
        got = rows[task]["probabilities"]
        got = json.loads(got) if isinstance(got, str) else got
        np.testing.assert_allclose(list(got.values()), list(q.values()), atol=1e-7, err_msg=task)
    assert {r["algorithm"] for r in rows.values()} == {place.runs(project)[-1]["algorithm"]}


def retractions(project: str, directory: Path, count: int, seed: int) -> list[bytes]:
    with (directory / "labels.csv").open() as f:
        rows = random.Random(seed).sample(list(csv.DictReader(f)), count)
    event = {"type": "annotation.retracted", "project": project}
    return [encoded(**event, task=r["task"], worker=r["worker"]) for r in rows]


def later(project: str, directory: Path, count: int, seed: int) -> list[bytes]:
    """Votes of new and of known workers on known tasks."""
    with (directory / "labels.csv").open() as f:
        rows = random.Random(seed).sample(list(csv.DictReader(f)), count)
    event = {"type": "annotation.submitted", "project": project}
    return [
        encoded(**event, task=r["task"], worker=f"new-{n % 7}" if n % 2 else r["worker"],
                label=r["label"], revision=9)
        for n, r in enumerate(rows)
    ]  # fmt: skip


def test_two_jobs_at_once_reconcile_real_crowds(
    deploy: Deploy, postgres_url: str, data_dir: Path
) -> None:
    """Sorted SBIC for rte and COLA for web: one run each, adopted, and what `aggregators` says."""
    place = Place(deploy(postgres_url, 2))
    names = {"rte": SortedSBIC, "web": COLA}
    service = place.d.run()
    guard = {"reconcile": {"max_flip_fraction": 1}}
    for partition, name in enumerate(names):
        log = [declared(name, data_dir / name, **guard), *votes(name, data_dir / name)]
        place.send(log, partition)
    place.settle()
    jobs = [place.job("--once"), place.job("--once")]
    assert [job.wait() for job in jobs] == [0, 0], jobs[0].text() + jobs[1].text()
    place.settle()
    assert [(r["project"], r["algorithm"], r["status"]) for r in place.runs()] == [
        (name, "sorted_sbic" if name == "rte" else "cola", "adopted")
        for name in sorted(names, key=lambda n: place.runs(n)[0]["upto"])
    ]
    for name, method in names.items():
        assert_table_is(place, name, method, data_dir)
    for partition, name in enumerate(names):
        place.send(later(name, data_dir / name, 300, seed=1), partition)
        place.send(retractions(name, data_dir / name, 200, seed=2), partition)
    place.settle()
    place.d.assert_exact()
    assert place.job("--once").wait() == 0
    place.settle()
    assert [len(place.runs(name)) for name in names] == [2, 2]
    for name, method in names.items():
        assert_table_is(place, name, method, data_dir)
    assert service.terminate() == 0
    place.d.assert_exact()
    place.assert_subscribers_have_the_labels()


def crowd_in_pieces(data_dir: Path, pieces: int) -> list[list[bytes]]:
    found = list(votes("temp", data_dir / "temp", limit=1200))
    size = -(-len(found) // pieces)
    return [found[n : n + size] for n in range(0, len(found), size)]


ON_SQLITE = ("computed", "part_sent", "after_run_commit")


def test_a_job_is_killed_at_every_step_while_votes_arrive(
    deploy: Deploy, database_url: str, data_dir: Path
) -> None:
    """Each time the next job takes over: one run for each change of the votes, as without."""
    place = Place(deploy(database_url))
    service = place.d.run()
    places = ON_SQLITE if database_url.startswith("sqlite") else JOB_NAMES
    pieces = crowd_in_pieces(data_dir, 2 * len(JOB_NAMES))
    place.send([declared("temp", data_dir / "temp", reconcile={"max_flip_fraction": 1})])
    for number, name in enumerate(places):
        place.send(pieces[2 * number])
        place.settle()
        killed = place.job("--once", "--lease-seconds", "1", CROWDRESOLVE_FAILPOINT=name)
        assert killed.wait() == -signal.SIGKILL, killed.text()
        assert f"failpoint {name}" in killed.text()
        sent = name in ("after_run_commit", "waiting")
        if not sent:
            place.send(pieces[2 * number + 1])
        time.sleep(1.2)  # its lease ends
        heir = place.job("--once")
        assert heir.wait() == 0, heir.text()
        assert len(place.runs()) == number + 1, heir.text()
        if sent:
            place.send(pieces[2 * number + 1])
    place.settle()
    assert {r["status"] for r in place.runs()} == {"adopted"}
    assert service.terminate() == 0
    place.d.assert_exact()
    place.assert_subscribers_have_the_labels()


ADOPTING = (
    "after_decode",
    "after_apply",
    "before_database_commit",
    "after_database_commit",
    "after_send",
    "before_kafka_commit",
    "after_kafka_commit",
)


def test_the_service_is_killed_while_it_adopts(
    deploy: Deploy, postgres_url: str, data_dir: Path
) -> None:
    """The run is in the log when the service comes back, and kills it again and again."""
    place = Place(deploy(postgres_url))
    first = place.d.run(CROWDRESOLVE_INSTANCE="one")
    pieces = crowd_in_pieces(data_dir, len(ADOPTING) + 1)
    place.send([declared("temp", data_dir / "temp", reconcile={"max_flip_fraction": 1})])
    place.send(pieces[0])
    place.settle()
    assert first.terminate() == 0
    job = place.job("--once")
    wait_for("the run is sent", lambda: "run_sent" in job.text())
    for name, piece in zip(ADOPTING, pieces[1:], strict=True):
        killed = place.d.run(CROWDRESOLVE_INSTANCE="one", CROWDRESOLVE_FAILPOINT=name)
        assert killed.wait() == -signal.SIGKILL, killed.text()
        assert f"failpoint {name}" in killed.text()
        place.send(piece)
    last = place.d.run(CROWDRESOLVE_INSTANCE="one")
    assert job.wait() == 0, job.text()
    place.settle()
    (run,) = place.runs()
    assert run["status"] == "adopted"
    assert last.terminate() == 0
    place.d.assert_exact()
    place.assert_subscribers_have_the_labels()


def test_a_run_that_changes_too_much_waits_for_a_person(
    deploy: Deploy, postgres_url: str, data_dir: Path
) -> None:
    place = Place(deploy(postgres_url))
    service = place.d.run()
    place.send(
        [
            declared(
                "birds",
                data_dir / "birds",
                reconcile={"algorithm": "dawid_skene", "max_flip_fraction": 0.01},
            ),
            *votes("birds", data_dir / "birds"),
        ]
    )
    place.settle()
    job = place.job("--once")
    assert job.wait() == 0, job.text()
    (run,) = place.runs()
    assert run["status"] == "held"
    shown = place.d.command("reconcile", "list")
    assert run["run"] in shown
    assert "max_flip_fraction" in shown
    (told,) = json.loads(place.d.command("reconcile", "list", "--json"))
    assert 0 < len(told["changes"]) <= 10
    assert "is not held" not in place.d.command("reconcile", "approve", run["run"])
    assert place.runs()[0]["status"] == "adopted"
    assert "is not held: it is adopted" in place.d.command(
        "reconcile", "reject", run["run"], code=1
    )
    assert "there is no run nonsense" in place.d.command("reconcile", "approve", "nonsense", code=1)
    place.send(later("birds", data_dir / "birds", 100, seed=3))
    place.settle()
    assert place.job("--once").wait() == 0
    place.settle()
    assert service.terminate() == 0
    place.d.assert_exact()


def test_a_loop_of_jobs_ends_cleanly(deploy: Deploy, postgres_url: str, data_dir: Path) -> None:
    """Round after round by itself; SIGTERM ends it, also while it waits."""
    place = Place(deploy(postgres_url))
    service = place.d.run()
    pieces = crowd_in_pieces(data_dir, 2)
    place.send([declared("temp", data_dir / "temp", reconcile={"max_flip_fraction": 1})])
    place.settle()
    loop = place.job("--every", "1s")
    for number, piece in enumerate(pieces):
        place.send(piece)
        wait_for("a run", lambda n=number: len(place.runs()) > n)  # type: ignore[misc]
    assert loop.terminate(within_s=10.0) == 0, loop.text()
    place.settle()
    assert service.terminate() == 0
    place.d.assert_exact()
