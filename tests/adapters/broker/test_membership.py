"""Who reads which partition, from where, and what happens when that changes."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

import pytest

from connector.adapters.kafka.source import KafkaSource
from connector.adapters.memory.source import MemorySource
from connector.domain.errors import Fenced, Refused
from connector.domain.records import Cursor, Outgoing, TopicPartition
from connector.ports import Polled, Source

from .worlds import World, joined, polled_until, records_of


class Moves:
    """What a source's hook was told, and what the loop saw."""

    def __init__(self) -> None:
        self.hooked: list[tuple[list[TopicPartition], bool]] = []
        self.owned: set[TopicPartition] = set()

    def hook(self, partitions: Sequence[TopicPartition], lost: bool) -> None:
        self.hooked.append((sorted(partitions), lost))

    def follow(self, source: Source, polled: Polled, start: int = 0) -> None:
        self.owned -= set(polled.revoked)
        self.owned |= set(polled.assigned)
        for partition in polled.assigned:
            source.seek(partition, start)


def settled(members: Sequence[tuple[Source, Moves]], sizes: list[int], seconds: float = 40) -> None:
    """Poll all until their shares are of these sizes."""
    deadline = time.monotonic() + seconds
    while sorted(len(moves.owned) for _, moves in members) != sizes:
        assert time.monotonic() < deadline, [moves.owned for _, moves in members]
        for source, moves in members:
            moves.follow(source, source.poll(0.1))


def test_nothing_is_delivered_before_seek(world: World) -> None:
    topic = world.topic()
    for n in range(5):
        world.produce(topic, str(n).encode())
    source = world.source(topic)
    joined(source, start=None)
    for _ in range(10):
        assert source.poll(0.05).records == {}
    source.seek(TopicPartition(topic, 0), 2)
    assert [record.value for record in records_of(source, 3)] == [b"2", b"3", b"4"]


def test_reading_begins_where_the_loop_sought_whatever_the_group_has_committed(
    world: World,
) -> None:
    topic = world.topic()
    for n in range(5):
        world.produce(topic, str(n).encode())
    here = TopicPartition(topic, 0)
    source = world.source(topic)
    membership = joined(source, start=3).membership
    world.sink().publish([], {here: Cursor(5)}, membership)
    assert [record.offset for record in records_of(source, 2)] == [3, 4]
    source.seek(here, 1)
    assert [record.offset for record in records_of(source, 4)] == [1, 2, 3, 4]


def test_what_was_fetched_before_a_seek_is_not_delivered_after_it(world: World) -> None:
    topic = world.topic()
    for n in range(30):
        world.produce(topic, str(n).encode())
    source = world.source(topic, batch_size=10)
    joined(source)
    assert [record.offset for record in records_of(source, 10)] == list(range(10))
    source.seek(TopicPartition(topic, 0), 25)
    assert [record.offset for record in records_of(source, 5)] == list(range(25, 30))


def test_a_poll_keeps_to_the_batch_size_and_bytes(world: World) -> None:
    topic = world.topic()
    for _ in range(12):
        world.produce(topic, b"x" * 1000)
    source = world.source(topic, batch_size=5, batch_bytes=2500)
    joined(source)
    sizes: list[int] = []
    while sum(sizes) < 12:
        polls = polled_until(source, lambda polled: bool(polled.records))
        sizes.append(sum(len(records) for records in polls[-1].records.values()))
    assert sizes == [3, 3, 3, 3]


def test_a_record_larger_than_the_batch_bytes_comes_alone(world: World) -> None:
    topic = world.topic()
    for _ in range(3):
        world.produce(topic, b"x" * 5000)
    source = world.source(topic, batch_bytes=1000)
    joined(source)
    for offset in range(3):
        assert [record.offset for record in records_of(source, 1)] == [offset]


def test_gaps_that_transactions_leave_are_stepped_over(world: World) -> None:
    topic = world.topic()
    world.die_before_commit(world.sink("job"), [_to(topic, b"aborted")], {}, None)
    job = world.sink("job")
    job.publish([_to(topic, b"committed")], {}, None)
    world.produce(topic, b"plain")
    source = world.source(topic)
    joined(source)
    found = records_of(source, 2)
    assert [record.value for record in found] == [b"committed", b"plain"]
    first, end = source.bounds(TopicPartition(topic, 0))
    assert first == 0
    assert end == found[-1].offset + 1


def test_two_members_share_and_take_over_and_the_hook_is_told(world: World) -> None:
    topic = world.topic(4)
    moves, others = Moves(), Moves()
    one = world.source(topic, on_revoke=moves.hook)
    settled([(one, moves)], [4])
    assert moves.hooked == []
    two = world.source(topic, on_revoke=others.hook)
    settled([(one, moves), (two, others)], [2, 2])
    assert moves.owned.isdisjoint(others.owned)
    everything = sorted(moves.owned | others.owned)
    assert everything == [TopicPartition(topic, n) for n in range(4)]
    assert moves.hooked == [(everything, False)]

    before = sorted(others.owned)
    two.close()
    assert others.hooked == [(before, False)]
    settled([(one, moves)], [4])


def test_a_member_that_the_broker_took_for_dead_loses_its_partitions_and_joins_again(
    world: World,
) -> None:
    topic = world.topic()
    world.produce(topic, b"vote")
    moves = Moves()
    source = world.source(topic, on_revoke=moves.hook)
    outdated = joined(source).membership
    here = TopicPartition(topic, 0)
    world.evict(source)
    polls = polled_until(source, lambda polled: bool(polled.assigned))
    assert [here] in [list(polled.revoked) for polled in polls]
    assert moves.hooked == [([here], True)]
    with pytest.raises(Fenced):
        world.sink().publish([], {here: Cursor(1)}, outdated)
    assert source.committed(here) is None
    world.sink().publish([], {here: Cursor(1)}, polls[-1].membership)
    assert source.committed(here) == Cursor(1)


def test_a_publisher_that_holds_rows_of_a_former_generation_is_fenced(world: World) -> None:
    topic, resolved = world.topic(2), world.topic()
    moves, others = Moves(), Moves()
    one = world.source(topic, on_revoke=moves.hook)
    outdated = joined(one).membership
    moves.owned = {TopicPartition(topic, n) for n in range(2)}
    two = world.source(topic, on_revoke=others.hook)
    settled([(one, moves), (two, others)], [1, 1])
    (moved,) = others.owned
    with pytest.raises(Fenced):
        world.sink().publish([_to(resolved, b"late")], {moved: Cursor(9)}, outdated)
    assert two.committed(moved) is None
    assert world.read(resolved) == []


def test_what_the_hook_raises_reaches_the_loop(world: World) -> None:
    topic = world.topic(2)

    def broken(partitions: Sequence[TopicPartition], lost: bool) -> None:
        raise ArithmeticError("a bug in the pipeline")

    one = world.source(topic, on_revoke=broken)
    joined(one)
    two = world.source(topic)
    polled: list[BaseException] = []
    deadline = time.monotonic() + 30
    while not polled and time.monotonic() < deadline:
        two.poll(0.05)
        try:
            one.poll(0.05)
        except ArithmeticError as error:
            polled.append(error)
    assert polled


def test_an_offset_that_the_log_does_not_have_stops_the_reader(world: World) -> None:
    topic = world.topic()
    for n in range(6):
        world.produce(topic, str(n).encode())
    source = world.source(topic)
    here = TopicPartition(topic, 0)
    joined(source, start=100)
    with pytest.raises(Refused, match="rebuild"):
        records_of(source, 1)
    world.delete_before(topic, 4)
    assert source.bounds(here) == (4, 6)
    source.seek(here, 1)
    with pytest.raises(Refused, match="rebuild"):
        records_of(source, 1)
    source.seek(here, 4)
    assert [record.offset for record in records_of(source, 2)] == [4, 5]


def test_a_paused_partition_delivers_nothing_until_it_is_sought(world: World) -> None:
    topic = world.topic()
    source = world.source(topic)
    joined(source)
    here = TopicPartition(topic, 0)
    source.pause(here)
    source.pause(TopicPartition("another", 0))
    world.produce(topic, b"vote")
    for _ in range(6):
        assert source.poll(0.05).records == {}
    source.seek(here, 0)
    assert [record.value for record in records_of(source, 1)] == [b"vote"]


def test_wake_cuts_a_poll_short(world: World) -> None:
    topic = world.topic()
    source = world.source(topic)
    assert isinstance(source, KafkaSource | MemorySource)  # `wake` is no part of the port
    joined(source)
    timer = threading.Timer(0.3, source.wake)
    timer.start()
    source.poll(3600)  # longer than any test may take
    timer.join()


def test_seeking_a_partition_of_another_is_a_mistake(world: World) -> None:
    source = world.source(world.topic())
    joined(source)
    with pytest.raises(ValueError, match="not assigned"):
        source.seek(TopicPartition("another", 0), 0)


def test_added_partitions_are_counted(world: World) -> None:
    topic = world.topic(1)
    source = world.source(topic)
    assert source.partitions() == 1
    world.add_partitions(topic, 3)
    assert source.partitions() == 3


def test_without_transactions_cursors_are_committed_by_the_source(world: World) -> None:
    annotations, resolved = world.topic(), world.topic()
    source = world.source(annotations)
    joined(source)
    here = TopicPartition(annotations, 0)
    sink = world.plain_sink()
    sink.publish([_to(resolved, b"a"), _to(resolved, b"b")], {here: Cursor(1)}, None)
    assert [record.value for record in world.read(resolved)] == [b"a", b"b"]
    assert source.committed(here) is None
    source.commit({here: Cursor(1, 5)})
    assert source.committed(here) == Cursor(1, 5)


def test_an_outdated_member_commits_nothing(world: World) -> None:
    topic = world.topic()
    source = world.source(topic)
    joined(source)
    here = TopicPartition(topic, 0)
    world.evict(source)
    source.commit({here: Cursor(4)})
    assert world.source(topic).committed(here) is None


def _to(topic: str, value: bytes) -> Outgoing:
    return Outgoing(0, 0, topic, b"key", value, ())
