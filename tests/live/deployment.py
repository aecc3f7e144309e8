"""One deployment of the service under test: its topics, group, database and processes.

The service runs as users run it, as a process of its own, so that it can be killed.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from kafka import KafkaConsumer, KafkaProducer, TopicPartition

from tests import compare
from tests.engine.plain_chooser import CHOICES
from tests.oracle.fold import PlainFold, Record

COMMAND = str(Path(sys.executable).with_name("crowdresolve"))
PATIENCE_S = 90.0


def wait_for(what: str, condition: Callable[[], object], seconds: float = PATIENCE_S) -> None:
    """Poll until true, or fail saying what did not happen."""
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise AssertionError(f"did not happen within {seconds:.0f} s: {what}")
        time.sleep(0.05)


class Process:
    """A running `crowdresolve run`; its log goes to a file."""

    def __init__(self, arguments: Sequence[str], environment: dict[str, str], log: Path) -> None:
        self.log = log
        with log.open("ab") as out:
            self.popen = subprocess.Popen(
                [COMMAND, *arguments], env=environment, stdout=out, stderr=out
            )

    @property
    def running(self) -> bool:
        return self.popen.poll() is None

    def text(self) -> str:
        return self.log.read_text(errors="replace")

    def signal(self, number: signal.Signals) -> None:
        self.popen.send_signal(number)

    def kill(self) -> None:
        """As if by `kill -9`; returns when the process is gone."""
        self.popen.kill()
        self.popen.wait(10)

    def terminate(self, within_s: float = 10.0) -> int:
        """SIGTERM; the exit code, which must come within the given time."""
        self.popen.terminate()
        return self.popen.wait(within_s)

    def wait(self, seconds: float = PATIENCE_S) -> int:
        """The exit code once it has ended by itself."""
        return self.popen.wait(seconds)


class Deployment:
    """Topics, group and database of one test."""

    def __init__(self, bootstrap: str, database: str, directory: Path, partitions: int = 1) -> None:
        tag = uuid.uuid4().hex[:8]
        self.bootstrap = bootstrap
        self.database = database
        self.directory = directory
        self.partitions = partitions
        self.group = f"group-{tag}"
        self.annotations = f"annotations-{tag}"
        self.resolved = f"labels.resolved-{tag}"
        self.assigned = f"tasks.assigned-{tag}"
        self.dead = f"annotations.dead-{tag}"
        self.processes: list[Process] = []
        self._started = 0
        self.command("topics", "create", "--partitions", str(partitions))
        self.producer = KafkaProducer(
            bootstrap_servers=bootstrap, acks="all", linger_ms=5, max_request_size=64 * 2**20
        )

    def environment(self, **more: str) -> dict[str, str]:
        names = {
            "DATABASE": self.database,
            "BOOTSTRAP_SERVERS": self.bootstrap,
            "GROUP": self.group,
            "TOPIC_ANNOTATIONS": self.annotations,
            "TOPIC_RESOLVED": self.resolved,
            "TOPIC_ASSIGNED": self.assigned,
            "TOPIC_DEAD": self.dead,
            "LOG_FORMAT": "json",
        }
        base = {k: v for k, v in os.environ.items() if not k.startswith("CROWDRESOLVE_")}
        return base | {f"CROWDRESOLVE_{k}": v for k, v in names.items()} | more

    def command(self, *arguments: str, code: int = 0) -> str:
        """Run a command of the product to its end; its output."""
        done = subprocess.run(
            [COMMAND, *arguments],
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=120,
            cwd=self.directory,
        )
        assert done.returncode == code, (
            f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}"
        )
        return done.stdout + done.stderr

    def run(self, *flags: str, **environment: str) -> Process:
        """Start a consumer."""
        self._started += 1
        process = Process(
            ["run", *flags],
            self.environment(**environment),
            self.directory / f"run-{self._started}.log",
        )
        self.processes.append(process)
        return process

    def close(self) -> None:
        """End what is still running, also what a test has stopped."""
        for p in self.processes:
            if p.running:
                with suppress(ProcessLookupError):
                    p.signal(signal.SIGCONT)
                p.kill()
        self.producer.close(timeout=5)

    # -- the log

    def send(self, values: Iterable[bytes | None], partition: int = 0) -> None:
        """Produce values in order, and wait until all are in the log."""
        futures = [
            self.producer.send(
                self.annotations, value=v, key=b"" if v is None else None, partition=partition
            )
            for v in values
        ]
        self.producer.flush()
        for f in futures:
            f.get(30)

    def read(
        self, topic: str, isolation: str = "read_committed", *, now: bool = False
    ) -> list[Any]:
        """Every record of a topic, by partition and offset.

        Reads to the end of the log, waiting for an open transaction that holds up a
        `read_committed` reader (a killed process may have left one, which the broker aborts within
        25 s); with `now` only so far as such a reader comes at once.
        """
        consumer = KafkaConsumer(
            bootstrap_servers=self.bootstrap,
            isolation_level=isolation,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            max_partition_fetch_bytes=64 * 2**20,
            fetch_max_bytes=64 * 2**20,
        )
        try:
            wait_for(f"{topic} is known", lambda: consumer.partitions_for_topic(topic))
            partitions = [TopicPartition(topic, p) for p in consumer.partitions_for_topic(topic)]
            consumer.assign(partitions)
            consumer.seek_to_beginning(*partitions)
            ends = consumer.end_offsets(partitions) if now else self._ends(partitions)
            found: list[Any] = []
            until = time.monotonic() + PATIENCE_S
            while any(consumer.position(p) < ends[p] for p in partitions):
                assert time.monotonic() < until, f"{topic}: cannot be read to its end"
                for records in consumer.poll(500).values():
                    found += records
            return sorted(found, key=lambda r: (r.partition, r.offset))
        finally:
            consumer.close()

    def _ends(self, partitions: list[TopicPartition]) -> dict[TopicPartition, int]:
        """Offsets after the last records, those of open transactions among them."""
        consumer = KafkaConsumer(
            bootstrap_servers=self.bootstrap, isolation_level="read_uncommitted"
        )
        try:
            ends: dict[TopicPartition, int] = consumer.end_offsets(partitions)
            return ends
        finally:
            consumer.close()

    def fold(self) -> PlainFold:
        """The plain fold of what the log holds, with the broker's own timestamps."""
        fold = PlainFold(
            self.annotations, self.group, self.resolved, self.dead, self.assigned, CHOICES
        )
        for r in self.read(self.annotations):
            fold.feed(Record(r.partition, r.offset, r.timestamp, r.value, r.key, tuple(r.headers)))
        return fold

    def end(self, partition: int = 0) -> int:
        """The offset after the log's last record."""
        records = [r for r in self.read(self.annotations) if r.partition == partition]
        return records[-1].offset + 1 if records else 0

    # -- the database

    def rows(self, view: str) -> list[dict[str, Any]]:
        """Rows of a view; none before the schema exists."""
        engine = sa.create_engine(self.database)
        try:
            with engine.connect() as connection:
                found = connection.exec_driver_sql(f"SELECT * FROM {view}")
                return [dict(row) for row in found.mappings()]
        except (sa.exc.OperationalError, sa.exc.ProgrammingError):
            return []
        finally:
            engine.dispose()

    def received(self) -> int:
        """Records that the database has accounted for."""
        return sum(row["received"] for row in self.rows("event_accounting"))

    def wait_applied(self, records: int, seconds: float = PATIENCE_S) -> None:
        """Wait until so many records are accounted for."""
        wait_for(f"{records} records applied", lambda: self.received() >= records, seconds)

    def wait_published(self, seconds: float = PATIENCE_S) -> None:
        """Wait until the group's committed offsets have reached the end of the log."""
        consumer = KafkaConsumer(
            bootstrap_servers=self.bootstrap, group_id=self.group, enable_auto_commit=False
        )
        parts = [TopicPartition(self.annotations, p) for p in range(self.partitions)]
        ends = {
            p: max(
                (r.offset + 1 for r in self.read(self.annotations) if r.partition == p), default=0
            )
            for p in range(self.partitions)
        }
        try:
            wait_for(
                "everything published",
                lambda: all((consumer.committed(p) or 0) >= ends[p.partition] for p in parts),
                seconds,
            )
        finally:
            consumer.close()

    # -- what must hold

    def assert_exact(self) -> PlainFold:
        """Messages and views equal the plain fold of the log: nothing lost, doubled or torn."""
        fold = self.fold()
        for topic in (self.resolved, self.assigned, self.dead):
            got = [(r.key, r.value, r.headers) for r in self.read(topic)]
            compare.assert_messages(fold, topic, got)
        compare.assert_views(fold, self.rows)
        return fold


def deployments(bootstrap: str, directory: Path) -> Iterator[Callable[..., Deployment]]:
    """A maker of deployments that ends them all."""
    made: list[Deployment] = []

    def make(database: str, partitions: int = 1) -> Deployment:
        made.append(Deployment(bootstrap, database, directory, partitions))
        return made[-1]

    try:
        yield make
    finally:
        for d in made:
            d.close()
