"""The platform's lines to the service: votes out, resolved labels in."""

from __future__ import annotations

import time
from typing import Any, Protocol

from connector.adapters.kafka.client import client_settings
from connector.adapters.kafka.producing import make_producer
from connector.adapters.memory.broker import MemoryBroker
from connector.domain.errors import DependencyError

from .crowd import PROJECT

ANNOTATIONS, RESOLVED = "annotations", "labels.resolved"
_KEY = PROJECT.encode()


class Lines(Protocol):
    """What a platform needs of a broker."""

    def send(self, event: bytes) -> None:
        """Hand an event over; returns at once. Raises DependencyError for an earlier one."""
        ...

    def receive(self, timeout_s: float) -> list[bytes]:
        """Messages of `labels.resolved`; waits for some up to the timeout."""
        ...

    def close(self) -> None:
        """Send what is waiting, and let go."""
        ...


class KafkaLines:
    """Over Kafka, as a platform would: a producer, and a consumer of committed messages."""

    def __init__(self, bootstrap: str) -> None:
        """Connects. Raises DependencyError."""
        from kafka import KafkaConsumer, TopicPartition

        client = client_settings(bootstrap, client_id="demo-platform")
        self._failure: BaseException | None = None
        self._producer: Any = make_producer(client, {})
        self._producer.partitions_for(ANNOTATIONS)
        partitions = self._producer.partitions_for(RESOLVED)
        self._consumer: Any = KafkaConsumer(
            **client.consumer(
                enable_auto_commit=False,
                auto_offset_reset="earliest",
                isolation_level="read_committed",
                fetch_max_wait_ms=50,
            )
        )
        self._consumer.assign([TopicPartition(RESOLVED, p) for p in sorted(partitions)])

    def send(self, event: bytes) -> None:
        if self._failure is not None:
            raise DependencyError(f"the broker refuses a vote: {self._failure}")
        self._producer.send(ANNOTATIONS, value=event, key=_KEY).add_errback(self._failed)

    def _failed(self, error: BaseException) -> None:
        self._failure = error

    def receive(self, timeout_s: float) -> list[bytes]:
        found = self._consumer.poll(timeout_ms=int(timeout_s * 1000))
        return [r.value for records in found.values() for r in records]

    def close(self) -> None:
        self._producer.close(timeout=5)
        self._consumer.close()


class MemoryLines:
    """Over the in-memory broker."""

    def __init__(self, broker: MemoryBroker) -> None:
        self._broker = broker
        self._read = 0

    def send(self, event: bytes) -> None:
        self._broker.produce(ANNOTATIONS, event, _KEY)

    def receive(self, timeout_s: float) -> list[bytes]:
        until = time.monotonic() + timeout_s
        while True:
            # The topic has one partition here, so that its messages have one order.
            found = self._broker.read(RESOLVED, start=self._read)
            left = until - time.monotonic()
            if found or left <= 0.0:
                break
            time.sleep(min(left, 0.01))
        if found:
            self._read = found[-1].offset + 1
        return [r.value for r in found if r.value is not None]

    def close(self) -> None:
        pass
