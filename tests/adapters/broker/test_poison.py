"""What a producer can send, and a service must get past.

On the real broker alone: it decides what it lets in.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from unittest import mock

import kafka.record.default_records as encoding
import pytest
from kafka import KafkaProducer
from kafka.errors import CorruptRecordError, InvalidRecordError, UnknownError

from connector.adapters.kafka import batches
from connector.adapters.kafka.parsing import LATEST_TIME
from connector.domain.records import Record

from .worlds import KafkaWorld, joined, records_of

pytestmark = pytest.mark.services


class RawName(str):
    """A header key that is not UTF-8."""

    __slots__ = ()

    def encode(self, *_: object) -> bytes:
        return b"\xff\xfe-name"


def read(world: KafkaWorld, topic: str, count: int) -> list[Record]:
    source = world.source(topic)
    joined(source)
    return records_of(source, count)


def compressed_as(
    world: KafkaWorld,
    topic: str,
    codec: str,
    encode: Callable[[bytes], bytes] | None = None,
    value: bytes = b"v" * 1000,
) -> None:
    """Send a record whose batch `encode` compresses."""
    producer = KafkaProducer(
        bootstrap_servers=world.bootstrap, compression_type=codec, max_request_size=1 << 30
    )
    usual = getattr(encoding, f"{codec}_encode")
    try:
        with mock.patch.object(encoding, f"{codec}_encode", encode or usual):
            producer.send(topic, value, b"k").get(20)
    finally:
        producer.close(5)


def test_header_keys_that_are_not_utf8_are_escaped(real: KafkaWorld) -> None:
    topic = real.topic()
    real.produce(topic, b"vote", headers=((RawName("x"), b"1"), ("plain", b"2")))
    real.produce(topic, b"next")
    first, second = read(real, topic, 2)
    assert first.headers == (("\\xff\\xfe-name", b"1"), ("plain", b"2"))
    assert (first.value, second.value) == (b"vote", b"next")


def test_null_keys_null_values_and_empty_ones_stay_apart(real: KafkaWorld) -> None:
    topic = real.topic()
    for key, value in ((b"k", None), (None, b"v"), (b"", b"")):
        real.produce(topic, value, key)
    found = [(record.key, record.value) for record in read(real, topic, 3)]
    assert found == [(b"k", None), (None, b"v"), (b"", b"")]


def test_values_of_1_mb_and_of_30_mb_that_gzip_made_small_arrive(real: KafkaWorld) -> None:
    topic = real.topic()
    real.produce(topic, b"x" * 1_000_000)
    compressed_as(real, topic, "gzip", value=b"y" * 30_000_000)
    real.produce(topic, b"next")
    sizes = [len(record.value or b"") for record in read(real, topic, 3)]
    assert sizes == [1_000_000, 30_000_000, 4]


def test_a_record_that_would_fill_the_memory_comes_without_its_value(
    real: KafkaWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "BATCH_BYTES", 3_000_000)
    monkeypatch.setattr(batches, "RECORD_BYTES", 2_000_000)
    topic = real.topic()
    compressed_as(real, topic, "gzip", value=b"x" * 5_000_000)
    real.produce(topic, b"next")
    large, after = read(real, topic, 2)
    assert (large.key, large.value) == (b"k", None)
    assert dict(large.headers)["value-omitted"] == b"5000000"
    assert after.value == b"next"


def test_a_flood_of_headers_is_cut_off(real: KafkaWorld) -> None:
    topic = real.topic()
    real.produce(topic, b"vote", headers=(("", b""),) * 50_000)
    real.produce(topic, b"next")
    flooded, after = read(real, topic, 2)
    assert len(flooded.headers) == 1001
    assert flooded.headers[-1] == ("headers-omitted", b"49000")
    assert after.value == b"next"


@pytest.mark.parametrize("tail", [b"garbage", b""])
def test_what_follows_a_compressed_batch_is_ignored(real: KafkaWorld, tail: bytes) -> None:
    topic = real.topic()
    compressed_as(real, topic, "gzip", lambda data: gzip.compress(data) + tail)
    real.produce(topic, b"next")
    assert [record.value for record in read(real, topic, 2)] == [b"v" * 1000, b"next"]


def test_a_batch_in_several_gzip_members_is_read_whole(real: KafkaWorld) -> None:
    topic = real.topic()
    compressed_as(
        real, topic, "gzip", lambda data: gzip.compress(data[:500]) + gzip.compress(data[500:])
    )
    assert [record.value for record in read(real, topic, 1)] == [b"v" * 1000]


@pytest.mark.parametrize(("codec", "library"), [("lz4", "lz4"), ("zstd", "zstandard")])
def test_other_compressions_are_read(real: KafkaWorld, codec: str, library: str) -> None:
    pytest.importorskip(library)
    topic = real.topic()
    compressed_as(real, topic, codec)
    assert [record.value for record in read(real, topic, 1)] == [b"v" * 1000]


def test_snappy_is_read_however_its_blocks_are_framed(real: KafkaWorld) -> None:
    pytest.importorskip("snappy")
    from kafka.codec import snappy_encode

    topic = real.topic()
    compressed_as(real, topic, "snappy")
    compressed_as(real, topic, "snappy", lambda data: snappy_encode(data, xerial_compatible=False))
    compressed_as(
        real, topic, "snappy", lambda data: snappy_encode(data[:500]) + snappy_encode(data[500:])
    )
    assert [record.value for record in read(real, topic, 3)] == [b"v" * 1000] * 3


def test_what_the_broker_itself_finds_damaged_never_gets_in(real: KafkaWorld) -> None:
    topic = real.topic()
    for damage in (
        lambda data: b"no gzip at all",
        lambda data: gzip.compress(data)[:-6],
        lambda data: gzip.compress(data[:-3]),
        lambda data: zlib.compress(data),
    ):
        with pytest.raises((UnknownError, InvalidRecordError, CorruptRecordError)):
            compressed_as(real, topic, "gzip", damage)
    assert real.read(topic) == []


@pytest.mark.parametrize(("milliseconds", "expected"), [(-5, 0), (1, 1000), (1 << 50, LATEST_TIME)])
def test_absurd_timestamps_are_brought_into_range(
    real: KafkaWorld, milliseconds: int, expected: int
) -> None:
    topic = real.topic()
    real.admin.alter_configs([_any_time(topic)])
    real.producer.send(topic, b"vote", b"k", timestamp_ms=milliseconds).get(10)
    assert [record.timestamp for record in read(real, topic, 1)] == [expected]


def _any_time(topic: str) -> object:
    from kafka.admin import ConfigResource

    forever = str((1 << 63) - 1)
    return ConfigResource("topic", topic, {"message.timestamp.after.max.ms": forever})
