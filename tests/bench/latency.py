"""From the produce call to the reading of the label that the vote resolved."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
from kafka import KafkaConsumer, KafkaProducer, TopicPartition

from tests.live.deployment import Deployment

from .crowd import PROJECT, crowd
from .measure import percentile
from .progress import Progress
from .sender import RATE
from .service import Watch, running
from .stage import Stage
from .table import Cell, Table
from .timed import PLACES

TARGET_MS = 100.0
WARM_S = 3.0
"""Votes of the first seconds are sent too, and not counted."""

WARM_BROKER_S = 20.0
"""A broker that has just started compiles itself for so long, and takes the processors for it."""


class Cause(msgspec.Struct):
    """What caused a message."""

    offset: int


class Label(msgspec.Struct):
    """What is read of a message."""

    type: str
    cause: Cause


class Waits(NamedTuple):
    """Milliseconds per resolved label, and how late the sender ever was."""

    labels: list[float]
    late: float


class Reader(threading.Thread):
    """A subscriber of the resolved labels: when it saw which vote's."""

    def __init__(self, deployment: Deployment) -> None:
        super().__init__(name="subscriber", daemon=True)
        self.seen: dict[int, float] = {}
        self._ending = threading.Event()
        self._consumer = KafkaConsumer(
            bootstrap_servers=deployment.bootstrap,
            isolation_level="read_committed",
            enable_auto_commit=False,
            metrics_enabled=False,
        )
        partition = TopicPartition(deployment.resolved, 0)
        self._consumer.assign([partition])
        self._consumer.seek_to_end(partition)
        self._consumer.position(partition)

    def run(self) -> None:
        decode = msgspec.json.Decoder(Label).decode
        while not self._ending.is_set():
            for messages in self._consumer.poll(100).values():
                now = time.monotonic()
                for message in messages:
                    label = decode(message.value)
                    if label.type == "label.resolved":
                        self.seen.setdefault(label.cause.offset, now)

    def end(self) -> None:
        """Read no more."""
        self._ending.set()
        self.join(5)
        self._consumer.close()


def measure_latency(stage: Stage, say: Progress, *, quick: bool) -> list[Table]:
    """At a steady rate, on PostgreSQL; then where a batch spends its time."""
    duration = 10.0 if quick else 30.0
    warm = 2.0 if quick else WARM_BROKER_S
    say(f"latency: warming the broker up for {warm:.0f} s")
    deployment = stage.deployment()
    with running(deployment, stage.database("PostgreSQL")) as (_, watch):
        load(deployment, watch, warm)
    say(f"latency: {RATE:,} votes/s for {duration:.0f} s")
    deployment = stage.deployment()
    with running(deployment, stage.database("PostgreSQL")) as (_, watch):
        waits = load(deployment, watch, duration)
    say(f"latency: where the time goes, {duration:.0f} s")
    return [_waits(waits, warm), _shares(timed(stage, duration))]


def load(deployment: Deployment, watch: Watch, duration: float) -> Waits:
    """Send votes to a running service, and read what it says."""
    values = crowd(int((duration + WARM_S) * RATE)).values
    producer = KafkaProducer(
        bootstrap_servers=deployment.bootstrap, acks="all", linger_ms=0, metrics_enabled=False
    )
    producer.send(deployment.annotations, values[0], key=PROJECT.encode(), partition=0).get(30)
    _until(lambda: watch.received() >= 1)
    producer.close()
    reader = Reader(deployment)
    reader.start()
    sent, late = _send(deployment, len(values) - 1)
    _until(lambda: watch.received() >= len(values))
    time.sleep(1.0)
    reader.end()
    counted = {o: t for o, t in sent.items() if o > WARM_S * RATE}
    return Waits(
        [(reader.seen[o] - t) * 1000 for o, t in counted.items() if o in reader.seen], late * 1000
    )


def _until(true: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.perf_counter() + seconds
    while not true():
        if time.perf_counter() > deadline:
            raise RuntimeError(f"the service does not keep up: waited {seconds:.0f} s")
        time.sleep(0.05)


def _send(deployment: Deployment, votes: int) -> tuple[dict[int, float], float]:
    """When each offset was handed to the client, by a sender in a process of its own."""
    command = [
        *(sys.executable, "-m", "tests.bench.sender"),
        *(deployment.bootstrap, deployment.annotations, str(votes)),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    said = json.loads(done.stdout)
    return {int(offset): float(moment) for offset, moment in said["sent"]}, float(said["late"])


def timed(stage: Stage, duration: float) -> dict[str, float]:
    """The same load on a service with stopwatches (`tests.bench.timed`): what it says."""
    deployment = stage.deployment()
    url = stage.database("PostgreSQL")
    settings = stage.directory / f"timed-{uuid.uuid4().hex[:8]}.json"
    settings.write_text(
        json.dumps(
            {
                "database": url,
                "bootstrap_servers": deployment.bootstrap,
                "group": deployment.group,
                "topic_annotations": deployment.annotations,
                "topic_resolved": deployment.resolved,
                "topic_assigned": deployment.assigned,
                "topic_dead": deployment.dead,
            }
        )
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.timed", str(settings)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    watch = Watch(url)
    try:
        load(deployment, watch, duration)
        process.terminate()
        said, _ = process.communicate(timeout=30)
    finally:
        watch.close()
        process.kill()
    found: dict[str, float] = json.loads(said.splitlines()[-1])
    return found


def _waits(waits: Waits, warm: float) -> Table:
    p99 = percentile(waits.labels, 0.99)
    said = "reached" if p99 < TARGET_MS else "MISSED"
    row: list[Cell] = [
        "produce call to label.resolved read",
        len(waits.labels),
        *(percentile(waits.labels, share) for share in (0.5, 0.9, 0.99)),
        max(waits.labels),
    ]
    return Table(
        "latency",
        f"From produce to the resolved label at {RATE:,} votes/s on PostgreSQL, milliseconds",
        ["from, to", "labels", "p50", "p90", "p99", "longest"],
        [row],
        [
            (
                f"p99, to be below {TARGET_MS:.0f} ms: {p99:.1f} ({said}). Default settings; the"
                " sender and a read_committed subscriber in a process each; after"
                f" {warm:.0f} s of the same load on other topics, as the broker was"
                " started for this and compiles itself at first. The sender, which only"
                f" has to wake up each millisecond, was up to {waits.late:.0f} ms late: so long"
                " this machine was busy with something else."
            ),
        ],
    )


def _shares(said: dict[str, Any]) -> Table:
    total = sum(said[place] for place in PLACES)
    rows: list[list[Cell]] = [[p, said[p], f"{said[p] / total:.0%}"] for p in PLACES]
    rows.append(["together", total, "100%"])
    return Table(
        "latency-shares",
        "Where a batch spends its time at that rate, mean milliseconds",
        ["place", "ms", "share"],
        rows,
        [
            (
                f"{said['records'] / max(1, said['batches']):.0f} votes a batch. In a run of its"
                " own, with stopwatches at the service's ports; not in it: the vote's way to the"
                " broker, its wait for the next batch to begin (20 ms at most, as there was one"
                " before) and the label's way to the subscriber."
            ),
        ],
    )
