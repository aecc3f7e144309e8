"""What belongs together to run the service: `run`, the demo and tests share it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import structlog

from connector.adapters.clock import SystemClock
from connector.domain.records import TopicPartition
from connector.engine.messages import Topics
from connector.pipeline.consumer import Consumer, Options
from connector.pipeline.timekeeper import Timekeeper
from connector.ports import Sink, Source, Store
from connector.settings import Settings

from .clients import kafka_client
from .intake import Intake
from .progress import Progress

if TYPE_CHECKING:
    from connector.adapters.kafka.client import ClientSettings

log = structlog.get_logger("crowdresolve")


class Parts(NamedTuple):
    """A consumer that is ready to `run`, and what it is made of."""

    consumer: Consumer
    source: Intake
    store: Store


def open_database(url: str) -> Store:
    """The store, its schema made where the database is empty.

    Raises:
        ConfigurationError: the address is wrong, or the schema is of another release.
        DependencyError: the database cannot be reached.
    """
    from connector.adapters.sql import migrate
    from connector.adapters.sql.database import engine
    from connector.adapters.sql.store import open_store

    made = engine(url)
    try:
        migrate.ensure(made)
    finally:
        made.dispose()
    store = open_store(url)
    for warning in store.warnings:
        log.warning("database_setting", reason=warning)
    return store


def build_consumer(
    settings: Settings,
    store: Store | None = None,
    *,
    client: ClientSettings | None = None,
    stable_instance: bool = False,
) -> Parts:
    """The service, on Kafka and the database of the settings.

    Args:
        settings: all of them.
        store: instead of the database of the settings.
        client: instead of what the settings say of Kafka.
        stable_instance: the instance's name survives a restart: the group then knows it again.

    Raises:
        ConfigurationError: a setting is wrong.
        DependencyError: the database cannot be reached; Kafka is reached for in `consumer.run`.
    """
    from connector.adapters.kafka.source import KafkaSource
    from connector.adapters.kafka.telling import TimeTeller

    client = client or kafka_client(settings)
    store = open_database(settings.database) if store is None else store
    source = KafkaSource(
        client,
        group=settings.group,
        topic=settings.topic_annotations,
        on_revoke=lambda partitions, lost: parts.consumer.on_revoke(partitions, lost),
        group_instance_id=settings.instance if stable_instance else None,
        batch_size=settings.batch_size,
    )
    parts = assemble(settings, store, source, sink_maker(settings, client), TimeTeller(client).send)
    return parts


def assemble(
    settings: Settings,
    store: Store,
    source: Source,
    make_sink: Callable[[], Sink],
    tell_time: Callable[[TopicPartition], None] | None = None,
) -> Parts:
    """The service on any source, sink and store; the demo has others.

    The source must call `consumer.on_revoke` as `connector.ports` says. `tell_time` sends
    `time.passed` to a partition; without it leases wait for other records.
    """
    clock = SystemClock()
    intake = Intake(source, clock, settings.batch_size, settings.batch_wait_ms / 1000)
    progress = Progress(intake, clock)
    intake.on_poll = progress.tick
    consumer = Consumer(
        intake,
        store,
        make_sink,
        clock,
        Options(
            topics=Topics(
                settings.topic_resolved,
                settings.topic_assigned,
                settings.topic_dead,
                settings.group,
            ),
            transactional=settings.delivery == "exactly_once",
            rebuild=settings.rebuild,
            held=settings.cache_objects,
        ),
        progress.note,
        None
        if tell_time is None
        else Timekeeper(tell_time, lambda: time.time_ns() // 1000, clock.monotonic),
    )
    return Parts(consumer, intake, store)


def sink_maker(settings: Settings, client: ClientSettings) -> Callable[[], Sink]:
    """Makes a new sink, as the delivery says."""
    from connector.adapters.kafka.sink import KafkaSink, PlainSink

    outgoing = (settings.topic_resolved, settings.topic_assigned, settings.topic_dead)
    if settings.delivery == "at_least_once":
        return lambda: PlainSink(client, dead_topic=settings.topic_dead, topics=outgoing)
    return lambda: KafkaSink(
        client,
        transactional_id=f"{settings.group}-{settings.instance}",
        on_hang=end_process,
        dead_topic=settings.topic_dead,
        topics=outgoing,
    )


def end_process(reason: str) -> None:
    """A call that cannot be cut short hangs: only a new process can go on."""
    log.critical("hangs", reason=reason, todo="this process ends; start it again")
    sys.stderr.flush()
    os._exit(1)
