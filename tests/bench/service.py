"""A real `crowdresolve run` over a topic, watched from outside."""

from __future__ import annotations

import sqlite3
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from kafka import KafkaConsumer, TopicPartition
from sqlalchemy import make_url

from tests.live.deployment import Deployment, Process

from .measure import cpu_s

PATIENCE_S = 300.0
LOOK_S = 0.02


@dataclass(frozen=True)
class Passage:
    """One run over a topic that was there before.

    Attributes:
        records: from the first look that saw a folded batch to the last record.
        seconds: until all was folded, committed and published: the group's offset is at the end.
        folded_s: until all was in the database.
        cpu_s: the process's processor time meanwhile.
        started_s: from the start of the process to the first folded batch.
    """

    records: int
    seconds: float
    folded_s: float
    cpu_s: float | None
    started_s: float


class Watch:
    """Looks at the progress of a partition with a connection of its own."""

    def __init__(self, url: str) -> None:
        address = make_url(url)
        self._sqlite = address.drivername.startswith("sqlite")
        self._address = address
        self._connection: Any = None

    def received(self) -> int:
        """Records that are in the database; 0 before there is a schema."""
        try:
            if self._connection is None:
                self._connection = self._connect()
            row = self._connection.execute(
                "SELECT received FROM partition_progress WHERE received > 0"
            ).fetchone()
        except (sqlite3.OperationalError, psycopg.errors.UndefinedTable):
            return 0
        return int(row[0]) if row else 0

    def _connect(self) -> Any:
        if self._sqlite:
            path = self._address.database
            return sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None)
        plain = self._address.set(drivername="postgresql").render_as_string(hide_password=False)
        return psycopg.connect(plain, autocommit=True)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()


@contextmanager
def running(deployment: Deployment, url: str, *flags: str) -> Iterator[tuple[Process, Watch]]:
    """The service, with a group of its own, on a database."""
    deployment.group = f"group-{uuid.uuid4().hex[:8]}"
    deployment.database = url
    process = deployment.run(*flags)
    watch = Watch(url)
    try:
        yield process, watch
    finally:
        watch.close()
        if process.running:
            process.terminate(within_s=30.0)


def passage(deployment: Deployment, url: str, records: int, *flags: str) -> Passage:
    """Start it on a topic with so many records, and wait until it has done them all."""
    begun = time.perf_counter()
    with running(deployment, url, *flags) as (process, watch), _cursor(deployment) as committed:
        seen = _wait(process, watch, 1)
        first = time.perf_counter()
        used = cpu_s(process.popen.pid)
        _wait(process, watch, records)
        folded = time.perf_counter()
        while committed() < records:
            _check(process, folded)
            time.sleep(LOOK_S / 4)
        done = time.perf_counter()
        used_then = cpu_s(process.popen.pid)
    return Passage(
        records - seen,
        done - first,
        folded - first,
        None if used is None or used_then is None else used_then - used,
        first - begun,
    )


def _wait(process: Process, watch: Watch, records: int) -> int:
    start = time.perf_counter()
    while (seen := watch.received()) < records:
        _check(process, start)
        time.sleep(LOOK_S)
    return seen


def _check(process: Process, since: float) -> None:
    if not process.running:
        raise RuntimeError(f"the service ended:\n{process.text()[-3000:]}")
    if time.perf_counter() - since > PATIENCE_S:
        raise RuntimeError(f"not done within {PATIENCE_S:.0f} s:\n{process.text()[-3000:]}")


@contextmanager
def _cursor(deployment: Deployment) -> Iterator[Any]:
    """Asks for the group's offset."""
    consumer = KafkaConsumer(
        bootstrap_servers=deployment.bootstrap, group_id=deployment.group, enable_auto_commit=False
    )
    partition = TopicPartition(deployment.annotations, 0)
    try:
        yield lambda: consumer.committed(partition) or 0
    finally:
        consumer.close()
