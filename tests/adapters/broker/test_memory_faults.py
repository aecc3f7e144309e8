"""The failures that the in-memory broker has on request, for the tests of others."""

from __future__ import annotations

import pytest

from connector.adapters.memory.broker import Fault, MemoryBroker
from connector.adapters.memory.sink import MemoryPlainSink, MemorySink
from connector.adapters.memory.source import MemorySource
from connector.domain.errors import ConfigurationError, DependencyError, Fenced
from connector.domain.records import Cursor, Outgoing, TopicPartition

HERE = TopicPartition("in", 0)
MESSAGES = [Outgoing(0, n, "out", b"k", str(n).encode(), ()) for n in range(4)]


class Scene:
    def __init__(self) -> None:
        self.broker = MemoryBroker(clock=lambda: 5)
        for topic in ("in", "out"):
            self.broker.create_topic(topic)
        self.source = MemorySource(self.broker, group="g", topic="in", committed_timeout_s=0.0)
        self.source.open()
        self.membership = self.source.poll(0).membership
        self.sink = self.opened()

    def opened(self) -> MemorySink:
        sink = MemorySink(self.broker, transactional_id="g-one")
        sink.open()
        return sink

    def publish(self) -> None:
        self.sink.publish(MESSAGES, {HERE: Cursor(1)}, self.membership)

    def seen(self) -> int:
        return len(self.broker.read("out"))


@pytest.fixture
def scene() -> Scene:
    return Scene()


def test_lost_writes_nothing(scene: Scene) -> None:
    scene.broker.faults.append(Fault.LOST)
    with pytest.raises(DependencyError):
        scene.publish()
    assert (scene.seen(), scene.source.committed(HERE)) == (0, None)


def test_unknown_writes_everything_and_says_it_does_not_know(scene: Scene) -> None:
    scene.broker.faults.append(Fault.UNKNOWN)
    with pytest.raises(DependencyError):
        scene.publish()
    assert (scene.seen(), scene.source.committed(HERE)) == (4, Cursor(1))


def test_held_stays_open_until_the_id_is_used_again(scene: Scene) -> None:
    scene.broker.faults.append(Fault.HELD)
    with pytest.raises(DependencyError):
        scene.publish()
    with pytest.raises(DependencyError):
        scene.source.committed(HERE)
    assert scene.seen() == 0
    assert len(scene.broker.read("out", committed=False)) == 4
    scene.sink = scene.opened()
    assert scene.source.committed(HERE) is None
    scene.publish()
    assert (scene.seen(), scene.source.committed(HERE)) == (4, Cursor(1))


def test_held_ends_with_the_brokers_own_timeout(scene: Scene) -> None:
    scene.broker.faults.append(Fault.HELD)
    with pytest.raises(DependencyError):
        scene.publish()
    scene.broker.expire_transactions()
    assert scene.source.committed(HERE) is None
    with pytest.raises(DependencyError):
        scene.publish()


def test_fenced_writes_nothing(scene: Scene) -> None:
    scene.broker.faults.append(Fault.FENCED)
    with pytest.raises(Fenced):
        scene.publish()
    assert (scene.seen(), scene.source.committed(HERE)) == (0, None)


def test_after_a_fault_only_a_new_sink_publishes(scene: Scene) -> None:
    scene.broker.faults.append(Fault.LOST)
    with pytest.raises(DependencyError):
        scene.publish()
    with pytest.raises(DependencyError):
        scene.publish()
    scene.sink = scene.opened()
    scene.publish()
    assert scene.seen() == 4


def test_without_transactions_half_of_the_messages_may_be_out(scene: Scene) -> None:
    sink = MemoryPlainSink(scene.broker)
    sink.open()
    scene.broker.faults.append(Fault.LOST)
    with pytest.raises(DependencyError):
        sink.publish(MESSAGES, {}, None)
    assert scene.seen() == 2


def test_a_cursor_can_be_reset_and_can_expire(scene: Scene) -> None:
    scene.publish()
    scene.broker.set_cursor("g", HERE, Cursor(0))
    assert scene.source.committed(HERE) == Cursor(0)
    scene.broker.set_cursor("g", HERE, None)
    assert scene.source.committed(HERE) is None


def test_a_missing_topic_is_named(scene: Scene) -> None:
    with pytest.raises(ConfigurationError, match="absent"):
        MemorySource(scene.broker, group="g", topic="absent").open()
    with pytest.raises(ConfigurationError, match="absent"):
        scene.sink.publish([MESSAGES[0]._replace(topic="absent")], {}, None)


def test_time_is_the_brokers(scene: Scene) -> None:
    scene.broker.produce("in", b"a")
    scene.broker.produce("in", b"b", timestamp=9)
    assert [record.timestamp for record in scene.broker.read("in")] == [5, 9]
