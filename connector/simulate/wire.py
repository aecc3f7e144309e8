"""A crowd's wire to a broker: events out at a rate, assignments in."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, Self

from connector.adapters.kafka.client import ClientSettings
from connector.adapters.kafka.connecting import connecting
from connector.adapters.kafka.producing import make_producer
from connector.domain.errors import ConfigurationError, DependencyError

from .asking import Asking

TURN_S = 0.05
_BEHIND_S = 0.002
"""Waits shorter than this are not worth a call to the system."""


class Wire:
    """A producer for the annotations topic, and a reader of the assignments.

    Args:
        client: how Kafka is reached.
        topic: of the annotations.
        assigned: of the assignments, read from its end on; None: they are not read.
        project: the key of what is sent.
        rate: events a second; 0: as fast as they are taken.

    Raises:
        DependencyError: no broker answers.
        ConfigurationError: a topic is missing.
    """

    def __init__(
        self, client: ClientSettings, topic: str, assigned: str | None, project: str, rate: float
    ) -> None:
        self.sent = 0
        self._topic = topic
        self._key = project.encode()
        self._rate = rate
        self._since = time.monotonic()
        self._failure: BaseException | None = None
        self._reader: Any = None
        self._producer: Any = make_producer(client, {})
        self._require(topic)
        if assigned is not None:
            self._reader = self._at_the_end(client, assigned)
        self._since = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._producer.close(timeout=5)
        if self._reader is not None:
            self._reader.close()

    @property
    def seconds(self) -> float:
        """Since the wire was there."""
        return time.monotonic() - self._since

    def send(self, event: bytes) -> None:
        """Hand an event over, not before its time. Raises DependencyError for an earlier one."""
        if self._failure is not None:
            raise DependencyError(f"the broker refuses an event: {self._failure}")
        if self._rate:
            early = self.sent / self._rate - self.seconds
            if early > _BEHIND_S:
                time.sleep(early)
        future = self._producer.send(self._topic, value=event, key=self._key)
        future.add_errback(self._failed)
        self.sent += 1

    def flush(self) -> None:
        """Wait until all of it is in the log. Raises DependencyError."""
        from kafka.errors import KafkaError

        try:
            self._producer.flush(timeout=60)
        except KafkaError as error:
            raise DependencyError(f"the events could not be sent: {error}") from error
        if self._failure is not None:
            raise DependencyError(f"the broker refuses an event: {self._failure}")

    def receive(self) -> list[bytes]:
        """Messages of the assignments' topic; waits a moment for some."""
        found = self._reader.poll(timeout_ms=int(TURN_S * 1000))
        return [r.value for records in found.values() for r in records if r.value is not None]

    def _failed(self, error: BaseException) -> None:
        self._failure = error

    def _require(self, topic: str) -> set[int]:
        from kafka import errors

        try:
            found: set[int] | None = self._producer.partitions_for(topic)
        except (errors.KafkaTimeoutError, errors.UnknownTopicOrPartitionError):
            found = None
        if not found:
            raise ConfigurationError(
                f"topic {topic} does not exist: make it with `crowdresolve topics create`"
            )
        return found

    def _at_the_end(self, client: ClientSettings, topic: str) -> Any:
        from kafka import KafkaConsumer, TopicPartition

        partitions = [TopicPartition(topic, p) for p in sorted(self._require(topic))]
        with connecting("consumer", client) as kafka_client:
            reader = KafkaConsumer(
                **client.consumer(
                    enable_auto_commit=False,
                    isolation_level="read_committed",
                    fetch_max_wait_ms=50,
                    kafka_client=kafka_client,
                )
            )
        reader.assign(partitions)
        reader.seek_to_end(*partitions)
        for partition in partitions:
            reader.position(partition)  # seeking waits until it is asked for
        return reader


def push(wire: Wire, events: Iterable[bytes], progress: Callable[[int], None]) -> None:
    """Send everything, and wait until it is in the log. Raises DependencyError."""
    for event in events:
        wire.send(event)
        progress(wire.sent)
    wire.flush()


def converse(
    wire: Wire, asking: Asking, patience_s: float, progress: Callable[[int], None]
) -> None:
    """Let everybody ask and answer until nobody is given anything more.

    Raises:
        DependencyError: the broker refuses an event, or the service says nothing for
            ``patience_s``.
    """
    for event in asking.begin():
        wire.send(event)
    heard = time.monotonic()
    while asking.left:
        messages = wire.receive()
        if messages:
            heard = time.monotonic()
        elif time.monotonic() - heard > patience_s:
            raise DependencyError(
                f"the service has assigned nothing for {patience_s:g} s, and"
                f" {len(asking.left)} workers wait: is `crowdresolve run` running on these topics?"
            )
        for message in messages:
            for event in asking.hear(message):
                wire.send(event)
        progress(asking.votes)
    wire.flush()
