"""What the demo runs on: a broker, a database in a temporary directory, the service."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from connector.adapters.embedded import OPTIONS, EmbeddedUnavailable, embedded_broker
from connector.adapters.kafka.admin import create_topics
from connector.adapters.kafka.client import client_settings
from connector.adapters.kafka.topics import TopicNames
from connector.adapters.memory.broker import MemoryBroker

from .lines import ANNOTATIONS, RESOLVED, KafkaLines, Lines, MemoryLines
from .service import Service, service_process

TOPICS = (ANNOTATIONS, RESOLVED, "tasks.assigned", "annotations.dead")
PARTITIONS = 2

InMemory = Callable[[MemoryBroker, str], AbstractContextManager[Service]]
"""Starts the service on an in-memory broker and the database of that address."""


@dataclass(frozen=True)
class Stage:
    """Everything in place.

    Attributes:
        bootstrap: the broker's address; None: it is in this process's memory.
        database: address.
        lines: of the platform.
        service: the consumer.
        missing: why there is no embedded broker.
    """

    bootstrap: str | None
    database: str
    lines: Lines
    service: Service
    missing: str | None = None


@contextmanager
def stage(in_memory: InMemory, say: Callable[[str], None]) -> Iterator[Stage]:
    """Put it up, and take everything away again.

    Raises:
        DependencyError: the service does not start.
    """
    with ExitStack() as stack:
        directory = Path(
            stack.enter_context(
                tempfile.TemporaryDirectory(prefix="crowdresolve-demo-", ignore_cleanup_errors=True)
            )
        )
        database = f"sqlite:///{directory / 'crowdresolve.db'}"
        try:
            bootstrap = stack.enter_context(embedded_broker())
        except EmbeddedUnavailable as error:
            broker = MemoryBroker()
            for topic in TOPICS:
                broker.create_topic(topic)
            service = stack.enter_context(in_memory(broker, database))
            yield Stage(None, database, MemoryLines(broker), service, str(error))
            return
        say(f"A broker listens on {bootstrap}. Making topics, starting the service ...")
        create_topics(
            client_settings(bootstrap), TopicNames(), partitions=PARTITIONS, replication_factor=1
        )
        arguments = ["--bootstrap-servers", bootstrap, "--database", database]
        arguments += ["--instance", "demo", "--log-format", "json"]
        for key, value in OPTIONS.items():
            arguments += ["--kafka", f"{key}={value}"]
        service = stack.enter_context(service_process(arguments, directory))
        lines = KafkaLines(bootstrap)
        stack.callback(lines.close)
        yield Stage(bootstrap, database, lines, service)
