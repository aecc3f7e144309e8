"""The whole path beside the parts that it is made of, in one run and as ratios."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from kafka import KafkaConsumer, TopicPartition

from connector.adapters.sql import migrate
from connector.adapters.sql.database import engine
from connector.adapters.sql.store import open_store
from connector.cli.run import tune_interpreter
from connector.domain.records import Cursor, Record
from connector.domain.records import TopicPartition as Partition
from connector.domain.rows import Changes
from connector.pipeline.batch import decoded
from tests.live.deployment import Deployment

from .crowd import Crowd, crowd, records
from .folding import BATCH, batches, fold, new_shard
from .measure import median, seconds
from .progress import Progress
from .service import passage
from .stage import Stage
from .table import Table

DATABASES = ("PostgreSQL", "SQLite")
TARGET = 0.4
"""The whole path reaches this share of the bare database write."""

CONSUME = "bare kafka-python consume"
DECODE = "decode alone"
ENGINE = "engine alone (decode, fold, rows)"


def write_name(database: str) -> str:
    """The row of the bare write."""
    return f"bare database write, {database}"


def path_name(database: str) -> str:
    """The row of the whole path."""
    return f"whole path, {database}"


class Round(NamedTuple):
    """Votes per second of every part, one after the other."""

    rates: dict[str, float]
    cpu_us: dict[str, float]
    """Processor time a vote of the service's process, by whole path."""


def measure_path(stage: Stage, say: Progress, *, quick: bool) -> list[Table]:
    """Every part several times, by turns."""
    votes, rounds = (20_000, 3) if quick else (100_000, 5)
    say(f"path: a crowd of {votes:,} votes")
    made = crowd(votes)
    log = records(made.values)
    changes = list(fold(new_shard(), log))
    tune_interpreter()  # what was made for the measurement is no part of it
    deployment = stage.deployment()
    deployment.send(made.values)
    found = []
    for number in range(rounds):

        def tell(what: str, number: int = number) -> None:
            say(f"path: round {number + 1} of {rounds}: {what}")

        found.append(one_round(stage, tell, deployment, made, log, changes))
    return [_table(made, found)]


def one_round(
    stage: Stage,
    tell: Callable[[str], None],
    deployment: Deployment,
    made: Crowd,
    log: list[Record],
    changes: list[Changes],
) -> Round:
    """Every part once."""
    rates: dict[str, float] = {}
    cpu_us: dict[str, float] = {}
    n = len(log)
    tell(CONSUME)
    rates[CONSUME] = consume_rate(deployment, n)
    tell(DECODE)
    rates[DECODE] = n / seconds(lambda: [decoded(batch) for batch in batches(log)])
    tell(ENGINE)
    rates[ENGINE] = n / seconds(lambda: sum(1 for _ in fold(new_shard(), log)))
    for database in DATABASES:
        tell(write_name(database))
        rates[write_name(database)] = n / write_seconds(stage.database(database), changes)
        tell(path_name(database))
        p = passage(deployment, stage.database(database), n)
        rates[path_name(database)] = p.records / p.seconds
        if p.cpu_s is not None:
            cpu_us[path_name(database)] = p.cpu_s / p.records * 1e6
    return Round(rates, cpu_us)


def consume_rate(deployment: Deployment, n: int) -> float:
    """Records per second of a poll loop that does nothing with them, first batch left out."""
    consumer = KafkaConsumer(
        bootstrap_servers=deployment.bootstrap,
        isolation_level="read_committed",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        max_poll_records=BATCH,
        metrics_enabled=False,
    )
    try:
        partition = TopicPartition(deployment.annotations, 0)
        consumer.assign([partition])
        consumer.seek_to_beginning(partition)
        seen = 0
        while not seen:
            seen = sum(map(len, consumer.poll(500).values()))
        first, start = seen, time.perf_counter()
        while seen < n:
            seen += sum(map(len, consumer.poll(500).values()))
        return (seen - first) / (time.perf_counter() - start)
    finally:
        consumer.close()


def write_seconds(url: str, changes: list[Changes]) -> float:
    """The rows of every batch, each batch in a transaction, by the service's own store.

    As in the service: the compare-and-swap first, the outbox trimmed behind.
    """
    made = engine(url)
    migrate.ensure(made)
    made.dispose()
    store = open_store(url)
    try:
        source: Partition = changes[0].source

        def write() -> None:
            start = 0
            for batch in changes:
                with store.transaction(source) as transaction:
                    transaction.advance(start, batch.progress.next_offset)
                    transaction.save(batch)
                    transaction.trim_outbox(source, Cursor(start))
                start = batch.progress.next_offset

        return seconds(write)
    finally:
        store.close()


def _table(made: Crowd, rounds: list[Round]) -> Table:
    names = [CONSUME, DECODE, ENGINE]
    for database in DATABASES:
        names += [write_name(database), path_name(database)]

    def ratio(path: str, other: str) -> float:
        # Of one round with itself: what slows the machine for a while slows both.
        return median(r.rates[path] / r.rates[other] for r in rounds)

    rows = []
    for name in names:
        rates = [r.rates[name] for r in rounds]
        cpu = [r.cpu_us[name] for r in rounds if name in r.cpu_us]
        rows.append(
            [
                name,
                median(rates),
                min(rates),
                max(rates),
                *(ratio(path_name(database), name) for database in DATABASES),
                median(cpu) if cpu else None,
            ]
        )
    verdicts = []
    for database in DATABASES:
        found = ratio(path_name(database), write_name(database))
        said = "reached" if found >= TARGET else "MISSED"
        verdicts.append(f"{database} {found:.2f} ({said})")
    return Table(
        "path",
        "The whole path and its parts, votes per second",
        [
            "part",
            "median",
            "lowest",
            "highest",
            "PostgreSQL path / this",
            "SQLite path / this",
            "processor µs a vote",
        ],
        rows,
        [
            (
                f"{made.votes:,} votes on {made.tasks:,} tasks in batches of {BATCH:,};"
                f" {len(rounds)} rounds, every part once a round; ratios are medians of the rounds'"
                " own."
            ),
            f"Whole path / bare database write, to reach {TARGET}: " + ", ".join(verdicts) + ".",
        ],
    )
