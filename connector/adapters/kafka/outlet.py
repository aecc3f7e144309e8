"""What both sinks share: a producer that is checked when it is opened."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from kafka import KafkaProducer, errors

from connector.domain.errors import ConfigurationError, DependencyError

from . import quirks
from .client import ClientSettings
from .connecting import within
from .faults import explained
from .producing import make_producer

_TOPIC_S = 3.0
"""How long a topic may take to be known: a broker that has just started may not know it yet."""


class Outlet:
    """A producer, there from `open` until an outcome is unknown or `close`."""

    kind = "producer"

    def __init__(
        self, settings: ClientSettings, *, dead_topic: str | None, topics: Sequence[str]
    ) -> None:
        self._settings = settings
        self._dead_topic = dead_topic
        self._topics = topics
        self._lock = threading.Lock()
        self._producer: KafkaProducer | None = None
        self._working: KafkaProducer | None = None

    def _arguments(self) -> Mapping[str, Any]:
        return {}

    @property
    def _compressed(self) -> bool:
        return self._settings.options.get("compression_type") is not None

    def _connect(self) -> KafkaProducer:
        producer = make_producer(self._settings, self._arguments())
        try:
            for topic in self._topics:
                self._check(producer, topic)
        except BaseException:
            self._drop(producer)
            raise
        return producer

    def _check(self, producer: KafkaProducer, topic: str) -> None:
        """A missing topic would otherwise show only as a message that is never acknowledged."""
        doing = f"cannot find topic {topic} on {self._settings.where}"
        try:
            quirks.find_topic(producer, topic, _TOPIC_S)
        except errors.UnknownTopicOrPartitionError as error:
            raise ConfigurationError(
                f"{doing}: make it with `crowdresolve topics create`"
            ) from error
        except errors.KafkaError as error:
            raise explained(error, doing) from error

    def _take(self) -> KafkaProducer:
        """The producer; whoever takes it gives it back once the outcome is known."""
        with self._lock:
            producer, self._producer = self._producer, None
            if producer is None:
                raise DependencyError(f"the {self.kind} is not open, or its outcome is unknown")
            self._working = producer
            return producer

    def _give_back(self, producer: KafkaProducer) -> None:
        with self._lock:
            if self._working is producer:
                self._working = None
                self._producer = producer
                return
        self._drop(producer)  # closed meanwhile

    def close(self) -> None:
        """Let go within some seconds, cutting off what is being sent; never raises."""
        with self._lock:
            producer, self._producer = self._producer, None
            working, self._working = self._working, None
        if working is not None:
            with contextlib.suppress(Exception):
                quirks.abandon(working)
        if producer is not None:
            self._drop(producer)

    def _drop(self, producer: KafkaProducer) -> None:
        if not within(8.0, f"close the {self.kind}", lambda: producer.close(timeout=3)):
            with contextlib.suppress(Exception):
                quirks.abandon(producer)
