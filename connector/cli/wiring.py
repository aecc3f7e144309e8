"""What belongs together to run the service: `run`, the demo and tests share it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import structlog

from connector.adapters.clock import SystemClock
from connector.domain.errors import ConfigurationError
from connector.engine.messages import Topics
from connector.pipeline.consumer import Consumer, Options
from connector.ports import Sink, Source, Store
from connector.settings import Loaded, Origin, Settings

from .intake import Intake
from .progress import Progress

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from connector.adapters.kafka.client import ClientSettings
    from connector.adapters.kafka.topics import TopicNames

log = structlog.get_logger("crowdresolve")

CONNECT_MS = "15000"
"""How long a client looks for a broker: a wrong address should show soon, a restart be waited for.
It is asked again by who can wait."""


class Parts(NamedTuple):
    """A consumer that is ready to `run`, and what it is made of."""

    consumer: Consumer
    source: Intake
    store: Store


def kafka_client(
    settings: Settings,
    origins: Mapping[str, Origin] | None = None,
    *,
    connect_ms: str = CONNECT_MS,
) -> ClientSettings:
    """How the Kafka clients reach the cluster.

    Raises:
        ConfigurationError: a server or one of the client's settings is wrong; it says where that
            was given.
    """
    from connector.adapters.kafka.client import client_settings

    def checked(options: Mapping[str, str], name: str) -> ClientSettings:
        try:
            return client_settings(
                settings.bootstrap_servers,
                options,
                client_id=f"{settings.group}-{settings.instance}",
            )
        except ConfigurationError as error:
            raise _from(error, origins, name) from None

    checked({}, "bootstrap_servers")
    for key, value in settings.kafka.items():
        checked({key: value}, f"kafka.{key}")
    return checked({"bootstrap_timeout_ms": connect_ms, **settings.kafka}, "kafka")


def database(loaded: Loaded) -> str:
    """`--database`, checked.

    Raises:
        ConfigurationError: it is malformed; it says where it was given.
    """
    from connector.adapters.sql.database import parsed

    try:
        parsed(loaded.settings.database)
    except ConfigurationError as error:
        raise _from(error, loaded.origins, "database") from None
    return loaded.settings.database


def shown_database(url: str) -> str:
    """The address without a password."""
    from connector.adapters.sql.database import parsed, shown

    return shown(parsed(url))


def require_database(loaded: Loaded) -> None:
    """Refuse a SQLite file that is not there: opening it to read would make an empty one.

    Raises:
        ConfigurationError: there is none; it says where its name was given.
    """
    from pathlib import Path

    from connector.adapters.sql.database import parsed

    address = parsed(database(loaded))
    if not address.drivername.startswith("sqlite") or address.database is None:
        return
    path = address.database
    if not path.startswith("file:") and not Path(path).exists():
        raise ConfigurationError(
            f"--database: there is no file {path} (given by {loaded.origin('database')}). Name the"
            " database of the service, or make one with `crowdresolve db upgrade`"
        )


def database_engine(loaded: Loaded) -> Engine:
    """An engine for migrations and for reading."""
    from connector.adapters.sql.database import engine

    return engine(database(loaded))


def topic_names(settings: Settings) -> TopicNames:
    """The four topics."""
    from connector.adapters.kafka.topics import TopicNames

    return TopicNames(
        settings.topic_annotations,
        settings.topic_resolved,
        settings.topic_assigned,
        settings.topic_dead,
    )


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
    parts = assemble(settings, store, source, sink_maker(settings, client))
    return parts


def assemble(
    settings: Settings, store: Store, source: Source, make_sink: Callable[[], Sink]
) -> Parts:
    """The service on any source, sink and store; the demo has others.

    The source must call `consumer.on_revoke` as `connector.ports` says.
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


def _from(
    error: ConfigurationError, origins: Mapping[str, Origin] | None, name: str
) -> ConfigurationError:
    origin = (origins or {}).get(name)
    return error if origin is None else ConfigurationError(f"{error} (given by {origin})")
