"""What both sinks share: a producer that is checked when it is opened."""

from __future__ import annotations

import contextlib
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
"""How long a topic may take to be known; one that was just made is known at once."""


class Outlet:
    """A producer, there from `open` until an outcome is unknown or `close`."""

    kind = "producer"

    def __init__(
        self, settings: ClientSettings, *, dead_topic: str | None, topics: Sequence[str]
    ) -> None:
        self._settings = settings
        self._dead_topic = dead_topic
        self._topics = topics
        self._producer: KafkaProducer | None = None

    def _arguments(self) -> Mapping[str, Any]:
        return {}

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
            quirks.wait_for_topic(producer, topic, _TOPIC_S)
        except (errors.KafkaTimeoutError, errors.UnknownTopicOrPartitionError) as error:
            raise ConfigurationError(
                f"{doing}: make it with `crowdresolve topics create`"
            ) from error
        except errors.KafkaError as error:
            raise explained(error, doing) from error

    def _usable(self) -> KafkaProducer:
        if self._producer is None:
            raise DependencyError(f"the {self.kind} is not open, or its last outcome is unknown")
        return self._producer

    def close(self) -> None:
        """Let go within some seconds, aborting what is open; never raises."""
        producer, self._producer = self._producer, None
        if producer is not None:
            self._drop(producer)

    def _drop(self, producer: KafkaProducer) -> None:
        if not within(8.0, f"close the {self.kind}", lambda: producer.close(timeout=3)):
            with contextlib.suppress(Exception):
                quirks.abandon(producer)
