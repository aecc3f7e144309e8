"""Sending `time.passed` to partitions of the annotations topic, outside any transaction."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from connector.domain.errors import DependencyError
from connector.domain.records import TopicPartition
from connector.pipeline.timekeeper import VALUE

from .client import ClientSettings
from .faults import explained
from .producing import make_producer

WAIT_S = 10.0


class TimeTeller:
    """A producer of its own, made when it is first needed. For one thread."""

    def __init__(self, settings: ClientSettings) -> None:
        self._settings = settings
        self._producer: Any = None

    def send(self, partition: TopicPartition) -> None:
        """Send to the partition, and wait until the broker has it.

        Raises:
            DependencyError: it is not known to have it; what is wrong with the settings, too.
        """
        try:
            if self._producer is None:
                self._producer = make_producer(self._settings, {})
            sent = self._producer.send(partition.topic, value=VALUE, partition=partition.partition)
            sent.get(timeout=WAIT_S)
        except Exception as error:
            self.close()
            raise DependencyError(str(explained(error, "cannot send `time.passed`"))) from error

    def close(self) -> None:
        """Never raises."""
        producer, self._producer = self._producer, None
        if producer is not None:
            with suppress(Exception):
                producer.close(timeout=0)
