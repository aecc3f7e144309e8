"""Sending a few records to the annotations topic, each to a partition that we choose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from connector.domain.errors import ConfigurationError
from connector.domain.records import Headers

if TYPE_CHECKING:
    from connector.adapters.kafka.client import ClientSettings

WAIT_S = 60.0


class ToSend(NamedTuple):
    """One record."""

    partition: int
    key: bytes | None
    value: bytes | None
    headers: Headers = ()


class Sender:
    """A producer for one topic; made by `sender`."""

    def __init__(self, producer: Any, topic: str, where: str) -> None:
        self._producer = producer
        self._topic = topic
        self._where = where

    def partitions(self) -> int:
        """How many partitions the topic has. Raises ConfigurationError where there is no topic."""
        from kafka import errors

        from connector.adapters.kafka.faults import explained

        try:
            found = self._producer.partitions_for(self._topic)
        except (errors.KafkaTimeoutError, errors.UnknownTopicOrPartitionError):
            found = None
        except errors.KafkaError as error:
            raise explained(error, f"cannot look at topic {self._topic}") from error
        if not found:
            raise ConfigurationError(
                f"topic {self._topic} does not exist on {self._where}: make it with"
                " `crowdresolve topics create`"
            )
        return len(found)

    def send(self, records: Sequence[ToSend]) -> list[int | Exception]:
        """Send all and wait: each record's offset, or why it has none."""
        outcomes: list[int | Exception] = []
        futures = [self._begin(record) for record in records]
        for future in futures:
            if isinstance(future, Exception):
                outcomes.append(future)
                continue
            try:
                outcomes.append(int(future.get(timeout=WAIT_S).offset))
            except Exception as error:
                outcomes.append(error)
        return outcomes

    def _begin(self, record: ToSend) -> Any:
        from kafka.errors import KafkaError

        try:
            return self._producer.send(
                self._topic,
                # The client refuses a record without key and value; an empty value means the same.
                value=record.value if record.value is not None or record.key is not None else b"",
                key=record.key,
                headers=[(name, b"" if value is None else value) for name, value in record.headers],
                partition=record.partition,
            )
        except KafkaError as error:
            return error


@contextmanager
def sender(client: ClientSettings, topic: str) -> Iterator[Sender]:
    """A producer, closed at the end.

    Raises:
        DependencyError: no broker answers.
        ConfigurationError: a setting is wrong, or access is denied.
    """
    from connector.adapters.kafka.connecting import within
    from connector.adapters.kafka.producing import make_producer

    # Something that fitted the topic's limit only because it was compressed still does.
    arguments = {} if "compression_type" in client.options else {"compression_type": "gzip"}
    producer = make_producer(client, arguments)
    try:
        yield Sender(producer, topic, client.where)
    finally:
        within(10.0, "close the producer", lambda: producer.close(timeout=5))
