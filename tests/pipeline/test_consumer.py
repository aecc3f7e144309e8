"""The loop on the in-memory adapters: what is folded is published, once, whatever happens."""

from __future__ import annotations

import pytest

from connector.adapters.memory.broker import Fault
from connector.domain.errors import Fenced, Refused
from connector.domain.records import Cursor, TopicPartition
from connector.engine.messages import Topics
from connector.engine.shard import Shard
from connector.pipeline.batch import process
from connector.pipeline.consumer import Consumer
from tests.oracle.logs import random_log

from .world import TOPIC, World

P0 = TopicPartition(TOPIC, 0)
GROUP = "crowdresolve"


def some_log(world: World, seed: int = 1, size: int = 200) -> None:
    world.send([r.value for r in random_log(seed, size, cloudevents=0.0)])


def lost(consumer: Consumer) -> None:
    """The process is gone: nothing more of it is written, and the group notices."""
    consumer.close()


def refused(world: World, what: str) -> None:
    """A consumer that will not go on, and says so."""
    consumer = world.consumer()
    with pytest.raises(Refused, match=what):
        world.run(consumer)
    lost(consumer)


def test_what_arrives_is_folded_and_published() -> None:
    world = World()
    some_log(world)
    world.run(world.consumer())
    world.assert_exact()


def test_a_consumer_that_starts_again_goes_on_where_it_was() -> None:
    world = World()
    some_log(world, 2)
    first = world.consumer("a")
    world.run(first)
    lost(first)
    some_log(world, 3)
    world.run(world.consumer("a"))
    world.assert_exact()


@pytest.mark.parametrize("fault", [Fault.LOST, Fault.UNKNOWN, Fault.HELD])
def test_an_outcome_that_nobody_knows_is_found_out(fault: Fault) -> None:
    world = World()
    consumer = world.consumer()
    for seed in range(4):
        world.broker.faults.append(fault)
        some_log(world, seed, 60)
        world.run(consumer)
    world.assert_exact()


def test_what_was_committed_but_not_published_is_published_by_the_next() -> None:
    world = World()
    some_log(world, 5)
    first = world.consumer("a")
    world.broker.faults.extend([Fault.LOST] * 50)
    for _ in range(30):
        first.step(0.005)
    lost(first)
    world.broker.faults.clear()
    row = world.store.progress(P0)
    assert row is not None
    assert row.next_offset == 200
    world.run(world.consumer("b"))
    world.assert_exact()


def test_a_group_reset_to_0_applies_nothing_twice() -> None:
    world = World()
    some_log(world, 6)
    first = world.consumer()
    world.run(first)
    lost(first)
    before = len(world.broker.read("labels.resolved"))
    world.broker.set_cursor(GROUP, P0, Cursor(0))
    some_log(world, 7, 20)
    world.run(world.consumer())
    fold = world.fold()
    row = world.store.progress(P0)
    assert row is not None
    assert row.received == fold.event_accounting()[0]["received"]
    assert len(world.broker.read("labels.resolved")) >= before


def test_a_database_that_was_emptied_is_refused_and_rebuilt_without_publishing_twice() -> None:
    world = World()
    some_log(world, 8)
    first = world.consumer()
    world.run(first)
    lost(first)
    emptied = World()
    world.store = emptied.store
    refused(world, "--rebuild")
    some_log(world, 9, 50)
    world.run(world.consumer(rebuild=True))
    world.assert_exact()


def test_a_group_offset_past_the_end_loses_nothing_under_rebuild() -> None:
    world = World()
    some_log(world, 16, 60)
    first = world.consumer()
    world.run(first)
    first.finish()
    lost(first)
    world.broker.set_cursor(GROUP, P0, Cursor(160))
    refused(world, "past the topic's end")
    second = world.consumer(rebuild=True)
    for _ in range(20):
        second.step(0.005)
    second.finish()
    assert world.broker.cursor(GROUP, P0) == Cursor(60)
    some_log(world, 17, 60)
    world.run(second)
    world.assert_exact()


def test_records_that_were_deleted_before_they_were_folded_are_refused() -> None:
    world = World()
    some_log(world, 10)
    world.broker.delete_before(P0, 50)
    refused(world, "were deleted")


def test_two_partitions_move_between_two_consumers() -> None:
    world = World(partitions=2)
    for n in (0, 1):
        values = [
            r.value
            for r in random_log(20 + n, 150, projects=1, cloudevents=0.0)
            if r.value is not None
        ]
        project = b'"p"' if n == 0 else b'"p2"'
        world.send([v.replace(b'"p"', project) for v in values], partition=n)
    a, b = world.consumer("a"), world.consumer("b")
    world.run(a, b)
    lost(a)
    world.send([b"{}", b"[]"], partition=0)
    world.send([b"{}"], partition=1)
    world.run(b)
    c = world.consumer("c")
    world.send([b"1"], partition=0)
    world.run(b, c)
    world.assert_exact()


def test_another_process_of_the_same_instance_ends_this_one() -> None:
    world = World()
    first = world.consumer("a")
    some_log(world, 11, 40)
    world.run(first)
    world.consumer("a")
    some_log(world, 12, 40)

    def go_on() -> None:
        for _ in range(100):
            first.step(0.005)
            first.finish()

    with pytest.raises(Fenced):
        go_on()


def test_a_changed_number_of_partitions_stops_with_what_to_do() -> None:
    world = World()
    some_log(world, 13, 20)
    first = world.consumer()
    world.run(first)
    lost(first)
    world.broker.create_topic(TOPIC, 2)
    refused(world, "2 partitions")


def test_a_zombie_is_refused_by_the_database() -> None:
    """It folded batches, was thought dead, and wakes up with a batch in its hands."""
    world = World()
    some_log(world, 14, 50)
    world.run(zombie := world.consumer("zombie"))
    held = Shard(P0, world.store.progress(P0), Topics())
    some_log(world, 15, 50)
    records = [r for r in world.broker.read(TOPIC) if r.offset >= held.next_offset]
    lost(zombie)
    world.run(world.consumer("heir"))
    with pytest.raises(Fenced):
        process(world.store, held, records)
    world.assert_exact()
