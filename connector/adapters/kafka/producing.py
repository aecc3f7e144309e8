"""Sending messages and learning of each whether it has arrived."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from kafka import KafkaProducer, errors
from kafka.serializer import Serializer

from connector.domain.records import Headers, Outgoing

from . import quirks, ready
from .client import ClientSettings
from .connecting import PATIENCE, connecting
from .letters import REDUCTIONS, too_large

MAX_REQUEST_BYTES = 64 * 1024 * 1024
"""A broker cuts the connection where a request exceeds 100 MB (its default), and the client would
try that again until its time is over; a larger message is refused here at once."""

_TOO_LARGE = (errors.MessageSizeTooLargeError, errors.RecordListTooLargeError)

_NULL = object()
"""Stands for a null value: the client refuses a message without key and value, Kafka does not."""


class TooLarge(Exception):
    """Some messages exceed a limit; the others were not refused for their own sake."""

    def __init__(self, indices: Collection[int], cause: BaseException) -> None:
        super().__init__(f"{len(indices)} too large: {cause}")
        self.indices = indices
        self.cause = cause


class _Value(Serializer):  # type: ignore[misc]
    def serialize(self, topic: str, headers: Any, data: Any) -> Any:
        return None if data is _NULL else data


def make_producer(settings: ClientSettings, arguments: Mapping[str, Any]) -> KafkaProducer:
    """A connected producer. Blocks some seconds at most.

    Raises:
        DependencyError: no broker answers.
        ConfigurationError: a setting is wrong, or access is denied.
    """
    with connecting("producer", settings) as client:
        chosen = settings.producer(
            linger_ms=1,
            batch_size=256 * 1024,
            # Together shorter than a transaction may be open (15 s).
            request_timeout_ms=10_000,
            max_request_size=MAX_REQUEST_BYTES,
            **PATIENCE,
            # For metadata, and for a former self's transaction to be aborted.
            max_block_ms=10_000,
            metrics_enabled=False,
            kafka_client=client,
        )
        chosen |= arguments
        chosen |= {
            "acks": "all",
            "enable_idempotence": True,
            "allow_auto_create_topics": False,
            "value_serializer": _Value(),
            "delivery_timeout_ms": max(
                14_000, chosen["request_timeout_ms"] + chosen["linger_ms"] + 1
            ),
        }
        return KafkaProducer(**chosen)


def deliver(producer: KafkaProducer, messages: Sequence[Outgoing], seconds: float = 20.0) -> None:
    """Send all and return when every one is acknowledged.

    Blocks up to `seconds`. The client has a `delivery_timeout_ms`, but does not look at it while
    it waits for the transaction's coordinator.

    Raises:
        TooLarge: some exceed the topic's limit, or the client's.
        Exception: the first failure; nothing is known of the rest.
    """
    deadline = time.monotonic() + seconds
    verdicts = Verdicts()
    sent = ready.send(producer, messages)
    if sent is None:
        verdicts.judge(_sent_singly(producer, messages, verdicts), deadline)
    for batch, indices in sent or ():
        batch.produce_future.wait(max(0.0, deadline - time.monotonic()))
        if batch.split is not None:
            verdicts.judge(list(zip(indices, batch.split, strict=True)), deadline)
        elif not batch.is_done:
            raise errors.KafkaTimeoutError(f"no answer within {seconds:.0f} s")
        else:
            offset, _, failed = batch.produce_future.value
            if failed is not None:
                for number, index in enumerate(indices):
                    verdicts.note(index, failed(number), offset is None)
    verdicts.raise_any()


class Verdicts:
    """What became of the messages of a publication."""

    def __init__(self) -> None:
        self.too_large: list[int] = []
        self.cause: BaseException | None = None
        self.failure: BaseException | None = None

    def note(self, index: int, error: BaseException, refused: bool) -> None:
        """A message was not delivered; `refused`: for its batch's own sake."""
        if not isinstance(error, _TOO_LARGE):
            self.failure = self.failure or error
        elif refused:
            self.too_large.append(index)
            self.cause = error

    def judge(self, futures: Sequence[tuple[int, Any]], deadline: float) -> None:
        """Wait for messages of which each has a future."""
        for index, future in futures:
            try:
                future.get(timeout=max(0.0, deadline - time.monotonic()))
            except errors.KafkaError as error:
                self.note(index, error, quirks.refused_by_broker(future))

    def raise_any(self) -> None:
        """Raise TooLarge, or the first failure, if there was one."""
        if self.too_large and self.cause is not None:
            raise TooLarge(sorted(self.too_large), self.cause)
        failure = self.failure or self.cause
        if failure is not None:
            raise failure


def _sent_singly(
    producer: KafkaProducer, messages: Sequence[Outgoing], verdicts: Verdicts
) -> list[tuple[int, Any]]:
    futures = []
    for index, message in enumerate(messages):
        try:
            futures.append((index, _send(producer, message)))
        except _TOO_LARGE as error:
            verdicts.note(index, error, True)
        except errors.KafkaError as error:
            # The producer has given up on an earlier message, whose own future says why.
            verdicts.cause = verdicts.cause or error
            break
    return futures


def _send(producer: KafkaProducer, message: Outgoing) -> Any:
    return producer.send(
        message.topic,
        value=_NULL if message.value is None else message.value,
        key=message.key,
        headers=_headers(message.headers),
    )


def _headers(headers: Headers) -> list[tuple[str, bytes]]:
    """As the client wants them. It cannot send a null header; an empty one stands for it."""
    return [(name, b"" if value is None else value) for name, value in headers]


def deliver_reduced(
    messages: Sequence[Outgoing],
    dead_topic: str | None,
    compressed: bool,
    attempt: Callable[[list[Outgoing]], None],
) -> None:
    """Call `attempt` until no dead letter is too large any more.

    Those go without their value first, then without key and headers.

    Args:
        messages: all that is to be sent.
        dead_topic: where messages may be reduced.
        compressed: whether the producer compresses; if not, what is larger than a message that
            was too large is so too, and need not be tried.
        attempt: sends all or raises.

    Raises:
        Refused: a message of another topic is too large.
        Exception: whatever else `attempt` raises.
    """
    sending = list(messages)
    steps = [1 if message.value is None else 0 for message in messages]
    while True:
        try:
            attempt(sending)
            return
        except TooLarge as found:
            indices = set(found.indices)
            for index in indices:
                if messages[index].topic != dead_topic or steps[index] >= len(REDUCTIONS):
                    raise too_large(messages[index], found.cause) from found.cause
            if not compressed:
                least = min(_size(sending[index]) for index in indices)
                indices.update(
                    index
                    for index, message in enumerate(sending)
                    if message.topic == dead_topic
                    and steps[index] < len(REDUCTIONS)
                    and _size(message) > least
                )
            for index in indices:
                sending[index] = REDUCTIONS[steps[index]](messages[index])
                steps[index] += 1


def _size(message: Outgoing) -> int:
    headers = sum(len(name) + len(value or b"") for name, value in message.headers)
    return len(message.key or b"") + len(message.value or b"") + headers
