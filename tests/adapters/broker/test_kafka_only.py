"""What only a real broker, or only its client, can do to us."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from kafka import codec

from connector.adapters.kafka import batches, parsing
from connector.adapters.kafka.admin import describe
from connector.adapters.kafka.client import client_settings
from connector.adapters.kafka.sink import KafkaSink, PlainSink
from connector.adapters.kafka.source import KafkaSource
from connector.adapters.kafka.topics import TopicNames
from connector.domain.errors import ConfigurationError, DependencyError, Fenced, Refused
from connector.domain.records import Cursor, Outgoing, TopicPartition
from connector.ports import Source
from tests.services import KafkaService

from .worlds import KafkaWorld, joined, polled_until, records_of

pytestmark = pytest.mark.services


def test_a_static_member_that_starts_again_has_its_partitions_back_without_a_rebalance(
    real: KafkaWorld,
) -> None:
    topic = real.topic(2)
    hooked: list[Sequence[TopicPartition]] = []
    other = real.source(topic, group_instance_id="other", on_revoke=lambda p, _: hooked.append(p))
    joined(other)
    first = real.source(topic, group_instance_id="restarted")
    with _polling(other):
        before = joined(first)
        told = len(hooked)
        first.close()
        again = real.source(topic, group_instance_id="restarted")
        after = joined(again)
    assert list(after.assigned) == list(before.assigned)
    assert len(hooked) == told


def test_a_second_process_of_the_same_static_instance_fences_the_first(real: KafkaWorld) -> None:
    topic, resolved = real.topic(), real.topic()
    first = real.source(topic, group_instance_id="same")
    outdated = joined(first).membership
    second = real.source(topic, group_instance_id="same")
    joined(second)
    here = TopicPartition(topic, 0)
    with pytest.raises(Fenced, match="--instance"):
        polled_until(first, lambda _: False)
    with pytest.raises(Fenced):
        real.sink().publish(
            [Outgoing(0, 0, resolved, b"k", b"zombie", ())], {here: Cursor(1)}, outdated
        )
    with pytest.raises(Fenced):
        first.commit({here: Cursor(1)})
    assert second.committed(here) is None
    assert real.read(resolved) == []


def test_where_no_broker_answers_every_client_says_so_and_leaves_nothing_behind() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nobody listens there
        settings = client_settings(
            f"127.0.0.1:{taken.getsockname()[1]}", {"bootstrap_timeout_ms": "300"}
        )
        before = set(threading.enumerate())
        attempts: list[Any] = [
            KafkaSource(settings, group="g", topic="t").open,
            KafkaSink(settings, transactional_id="x", on_hang=print).open,
            PlainSink(settings).open,
            lambda: describe(settings, TopicNames(), "g"),
        ]
        for attempt in attempts:
            with pytest.raises(DependencyError, match="no broker answers"):
                attempt()
        assert set(threading.enumerate()) - before == set()


def test_a_missing_topic_is_named_with_the_command_that_makes_it(real: KafkaWorld) -> None:
    for client in (
        KafkaSource(real.settings, group=real.group, topic="missing"),
        PlainSink(real.settings, topics=["missing"]),
    ):
        with pytest.raises(ConfigurationError, match=r"missing.*crowdresolve topics create"):
            client.open()
        client.close()


def test_a_setting_that_the_client_refuses_is_a_configuration_error(real: KafkaWorld) -> None:
    settings = client_settings(real.bootstrap, {"session_timeout_ms": "900"})
    source = KafkaSource(settings, group=real.group, topic=real.topic())
    source.open()
    with pytest.raises(ConfigurationError, match="session_timeout_ms"):
        polled_until(source, lambda _: False)
    source.close()


def test_a_batch_that_cannot_be_decoded_is_named_at_every_poll(
    real: KafkaWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = parsing.parsed

    def damaged(*place: Any) -> Any:
        record = usual(*place)
        if record.value == b"damaged":
            raise ValueError("bits have flipped")
        return record

    monkeypatch.setattr(batches, "parsed", damaged)
    topic = real.topic()
    for value in (b"good", b"damaged", b"next"):
        real.produce(topic, value)
    source = real.source(topic)
    joined(source)
    assert [record.value for record in records_of(source, 1)] == [b"good"]
    for _ in range(2):  # unchanged, the client would not come back from the second one
        with pytest.raises(Refused, match=rf"{topic}\[0\] cannot be read at offset 1"):
            polled_until(source, lambda _: False)
    source.seek(TopicPartition(topic, 0), 2)
    assert [record.value for record in records_of(source, 1)] == [b"next"]


def test_a_compression_without_its_library_is_named(
    real: KafkaWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = real.topic()
    producer = _gzip_producer(real)
    producer.send(topic, b"v" * 1000, b"k").get(10)
    producer.close(5)
    source = real.source(topic)
    joined(source)
    monkeypatch.setattr(codec, "has_gzip", lambda: False)
    with pytest.raises(ConfigurationError, match="install"):
        records_of(source, 1)


def test_after_a_crash_of_the_broker_reading_and_publishing_go_on(
    real: KafkaWorld, kafka: KafkaService
) -> None:
    if not kafka.can_kill:
        pytest.skip("the broker is not ours to kill")
    topic, resolved = real.topic(), real.topic()
    source = real.source(topic)
    here = TopicPartition(topic, 0)
    membership = joined(source).membership
    sink = real.sink()
    sink.publish([Outgoing(0, 0, resolved, b"k", b"0", ())], {here: Cursor(1)}, membership)
    kafka.kill()
    assert not kafka.alive()
    assert source.poll(0.5).records == {}
    kafka.start()

    published = 1
    deadline = time.monotonic() + 60
    while published < 3 and time.monotonic() < deadline:
        try:
            value = str(published).encode()
            sink.publish(
                [Outgoing(published, 0, resolved, b"k", value, ())],
                {here: Cursor(published + 1)},
                membership,
            )
            published += 1
        except DependencyError:
            sink.close()
            sink = real.sink()
            found = source.committed(here)
            assert found is not None
            published = found.offset
    assert source.committed(here) == Cursor(3)
    assert [record.value for record in real.read(resolved)] == [b"0", b"1", b"2"]
    real.produce(topic, b"vote")
    assert [record.value for record in records_of(source, 1)] == [b"vote"]


def test_the_cursor_is_waited_for_until_the_broker_ends_a_killed_processs_transaction(
    real: KafkaWorld,
) -> None:
    topic = real.topic()
    source = real.source(topic)
    membership = joined(source).membership
    here = TopicPartition(topic, 0)
    killed = KafkaSink(
        real.settings,
        transactional_id=f"{real.group}-killed",
        on_hang=print,
        transaction_timeout_ms=1000,
    )
    killed.open()
    real.die_before_commit(killed, [], {here: Cursor(7)}, membership)
    assert source.committed(here) is None  # after a second, and the broker's next look


def test_close_cuts_off_a_publish_that_the_broker_does_not_answer(
    real: KafkaWorld, kafka: KafkaService
) -> None:
    if kafka.pid is None:
        pytest.skip("the broker is no process of this machine")
    resolved = real.topic()
    sink = real.sink()
    message = Outgoing(0, 0, resolved, b"k", b"0", ())
    sink.publish([message], {}, None)
    os.kill(kafka.pid, signal.SIGSTOP)
    ended: list[BaseException] = []

    def publish() -> None:
        try:
            sink.publish([message], {}, None)
        except DependencyError as error:
            ended.append(error)

    thread = threading.Thread(target=publish, daemon=True)
    try:
        thread.start()
        time.sleep(0.5)  # let it send; nobody answers
        sink.close()
        thread.join(15)  # the client's own patience is 20 s
    finally:
        os.kill(kafka.pid, signal.SIGCONT)
    assert [type(error) for error in ended] == [DependencyError]


@contextlib.contextmanager
def _polling(source: Source) -> Iterator[None]:
    """Keep the member alive in a thread of its own."""
    ended = threading.Event()

    def run() -> None:
        while not ended.is_set():
            source.poll(0.05)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(30)


def _gzip_producer(world: KafkaWorld) -> Any:
    from kafka import KafkaProducer

    return KafkaProducer(bootstrap_servers=world.bootstrap, compression_type="gzip")
