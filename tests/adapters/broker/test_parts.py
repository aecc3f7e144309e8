"""The small parts: partitioner, reduced dead letters, watchdog, compressed streams."""

from __future__ import annotations

import gzip
import random
import threading
from hashlib import sha256

import pytest
from kafka.partitioner.default import murmur2 as clients_murmur2
from kafka.record.default_records import DefaultRecordBatch

from connector.adapters.kafka.decompress import decompressing
from connector.adapters.kafka.letters import REDUCTIONS, bare, reduced, without_value
from connector.adapters.kafka.partitioner import murmur2, partition_for
from connector.adapters.kafka.watchdog import Watchdog
from connector.domain.errors import Refused
from connector.domain.records import Outgoing

HEADERS = (
    ("error-code", b"of the record itself"),
    ("trace", b"t"),
    ("error-code", b"invalid_json"),
    ("origin-offset", b"7"),
)
LETTER = Outgoing(7, 0, "dead", b"key", b"value", HEADERS)


def test_keys_go_to_the_partitions_that_every_client_sends_them_to() -> None:
    rng = random.Random(1)
    for length in range(50):
        key = rng.randbytes(length)
        assert murmur2(key) == clients_murmur2(key) & 0xFFFFFFFF
    assert [partition_for(key, 5) for key in (b"rte", b"temp", b"dog")] == [
        (clients_murmur2(key) & 0x7FFFFFFF) % 5 for key in (b"rte", b"temp", b"dog")
    ]


def test_a_letter_without_its_value_keeps_all_else() -> None:
    digest = sha256(b"value").hexdigest().encode()
    assert without_value(LETTER) == LETTER._replace(
        value=None, headers=(*HEADERS, ("value-omitted", b"5"), ("value-sha256", digest))
    )


def test_a_bare_letter_says_why_and_whence_in_our_own_words() -> None:
    letter = bare(LETTER)
    assert (letter.key, letter.value) == (None, None)
    found = dict(letter.headers)
    assert found["error-code"] == b"invalid_json"
    assert found["origin-offset"] == b"7"
    assert found["key-omitted"] == b"3"
    assert found["headers-omitted"] == b"2"
    assert "trace" not in found


def test_only_as_much_is_left_out_as_must_be() -> None:
    assert reduced(LETTER, 1000, "dead") == LETTER
    large = LETTER._replace(value=b"v" * 2000)
    assert reduced(large, 1000, "dead") == REDUCTIONS[0](large)
    larger = large._replace(key=b"k" * 2000)
    assert reduced(larger, 1000, "dead") == REDUCTIONS[1](larger)
    with pytest.raises(Refused, match="labels"):
        reduced(large._replace(topic="labels"), 1000, "dead")


def test_the_watchdog_calls_once_where_something_hangs() -> None:
    called: list[str] = []
    told = threading.Event()

    def on_hang(what: str) -> None:
        called.append(what)
        told.set()

    watchdog = Watchdog(0.1, on_hang, ticks=5)
    watchdog.start()
    with watchdog.watch("the commit"):
        assert told.wait(20)
    assert called == ["the commit has not returned for 0 s"]


def test_the_watchdog_is_silent_while_things_return() -> None:
    called: list[str] = []
    watchdog = Watchdog(60, called.append)
    watchdog.start()
    for _ in range(3):
        with watchdog.watch("the commit"):
            pass
    watchdog.close()
    assert called == []


def test_a_cut_off_stream_is_an_error_and_not_a_short_batch() -> None:
    stream = decompressing(DefaultRecordBatch.CODEC_GZIP, gzip.compress(b"x" * 1000)[:-12])
    pieces = iter(lambda: stream.read(2000), b"")
    with pytest.raises(EOFError):
        list(pieces)


def test_a_stream_gives_no_more_than_it_is_asked_for() -> None:
    stream = decompressing(DefaultRecordBatch.CODEC_GZIP, gzip.compress(b"\0" * 10_000_000))
    assert len(stream.read(1000)) <= 1000
