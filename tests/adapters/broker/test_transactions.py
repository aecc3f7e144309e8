"""What a publish writes, and when others see it."""

from __future__ import annotations

from hashlib import sha256

import pytest

from connector.domain.errors import DependencyError, Fenced, Refused
from connector.domain.records import Cursor, Outgoing, TopicPartition

from .worlds import World, joined


def message(topic: str, text: str, offset: int = 0, sequence: int = 0) -> Outgoing:
    return Outgoing(offset, sequence, topic, b"key", text.encode(), (("ce_id", b"1"),))


def test_a_publish_is_seen_whole_by_a_subscriber(world: World) -> None:
    first, second = world.topic(), world.topic(2)
    sink = world.sink()
    sink.publish([message(first, "a"), message(second, "b"), message(first, "c")], {}, None)
    assert [record.value for record in world.read(first)] == [b"a", b"c"]
    (record,) = world.read(second)
    assert (record.key, record.value, record.headers) == (b"key", b"b", (("ce_id", b"1"),))


def test_messages_of_one_key_keep_their_order_over_many_publishes(world: World) -> None:
    topic = world.topic(3)
    sink = world.sink()
    for start in range(0, 100, 10):
        sink.publish([message(topic, str(n)) for n in range(start, start + 10)], {}, None)
    assert [record.value for record in world.read(topic)] == [str(n).encode() for n in range(100)]


def test_the_cursor_rides_in_the_transaction_with_its_sequence(world: World) -> None:
    annotations, resolved = world.topic(), world.topic()
    world.produce(annotations, b"vote")
    source = world.source(annotations)
    membership = joined(source).membership
    here = TopicPartition(annotations, 0)
    assert source.committed(here) is None
    sink = world.sink()
    sink.publish([message(resolved, "a")], {here: Cursor(0, 20_000)}, membership)
    assert source.committed(here) == Cursor(0, 20_000)
    sink.publish([], {here: Cursor(1)}, membership)
    assert source.committed(here) == Cursor(1, 0)


def test_what_a_killed_process_left_open_is_never_seen(world: World) -> None:
    annotations, resolved = world.topic(), world.topic()
    source = world.source(annotations)
    membership = joined(source).membership
    here = TopicPartition(annotations, 0)
    world.sink().publish([message(resolved, "before")], {here: Cursor(3)}, membership)
    killed = world.sink()
    world.die_before_commit(killed, [message(resolved, "torn")], {here: Cursor(7)}, membership)

    world.sink().publish([message(resolved, "after")], {}, membership)

    assert [r.value for r in world.read(resolved)] == [b"before", b"after"]
    # It was really there: who does not wait for commits sees it.
    assert b"torn" in [r.value for r in world.read(resolved, committed=False)]
    assert source.committed(here) == Cursor(3)


def test_the_committed_cursor_is_not_read_past_an_open_transaction(world: World) -> None:
    annotations = world.topic()
    source = world.source(annotations, committed_timeout_s=1.0)
    membership = joined(source).membership
    here = TopicPartition(annotations, 0)
    world.die_before_commit(world.sink(), [], {here: Cursor(7)}, membership)
    with pytest.raises(DependencyError):
        source.committed(here)
    world.sink()  # ends what its former self left open
    assert source.committed(here) is None


def test_a_record_of_an_open_transaction_holds_back_those_after_it(world: World) -> None:
    annotations = world.topic()
    world.produce(annotations, b"one")
    world.die_before_commit(world.sink("job"), [message(annotations, "open")], {}, None)
    world.produce(annotations, b"two")
    source = world.source(annotations)
    joined(source)
    assert source.bounds(TopicPartition(annotations, 0)) == (0, 1)
    world.sink("job")
    assert source.bounds(TopicPartition(annotations, 0))[1] >= 3


def test_a_sink_that_another_one_replaced_is_fenced_and_writes_nothing(world: World) -> None:
    topic = world.topic()
    zombie = world.sink()
    zombie.publish([message(topic, "a")], {}, None)
    world.sink().publish([message(topic, "b")], {}, None)
    with pytest.raises(Fenced):
        zombie.publish([message(topic, "zombie")], {}, None)
    assert [record.value for record in world.read(topic)] == [b"a", b"b"]


def test_after_a_failure_the_sink_is_not_used_again(world: World) -> None:
    topic = world.topic()
    zombie = world.sink()
    world.sink()
    with pytest.raises(Fenced):
        zombie.publish([message(topic, "zombie")], {}, None)
    with pytest.raises(DependencyError):
        zombie.publish([message(topic, "again")], {}, None)


def test_a_cursor_of_no_member_is_refused(world: World) -> None:
    annotations = world.topic()
    sink = world.sink()
    with pytest.raises(Fenced):
        sink.publish([], {TopicPartition(annotations, 0): Cursor(1)}, None)


def test_a_dead_letter_that_is_too_large_goes_without_its_value(world: World) -> None:
    resolved, dead = world.topic(), world.topic(max_message_bytes=4000)
    sink = world.sink(dead_topic=dead)
    letters = [
        message(resolved, "before"),
        Outgoing(1, 0, dead, b"k", b"x" * 9000, (("error-code", b"invalid_json"),)),
        Outgoing(2, 0, dead, b"k", b"small", (("error-code", b"invalid_json"),)),
        message(resolved, "after"),
    ]
    sink.publish(letters, {}, None)
    large, small = world.read(dead)
    assert (large.key, large.value) == (b"k", None)
    assert dict(large.headers) == {
        "error-code": b"invalid_json",
        "value-omitted": b"9000",
        "value-sha256": sha256(b"x" * 9000).hexdigest().encode(),
    }
    assert small.value == b"small"
    assert [record.value for record in world.read(resolved)] == [b"before", b"after"]
    sink.publish([message(resolved, "later")], {}, None)
    assert len(world.read(resolved)) == 3


def test_many_dead_letters_of_many_sizes_each_lose_only_what_they_must(world: World) -> None:
    dead = world.topic(max_message_bytes=4000)
    sizes = [10, 9000, 3000, 5000, 20_000, 100, 8000]
    letters = [Outgoing(n, 0, dead, b"k", b"x" * size, ()) for n, size in enumerate(sizes)]
    for sink in (world.sink(dead_topic=dead), world.plain_sink(dead_topic=dead)):
        sink.publish(letters, {}, None)
    # The plain one may repeat what had arrived before a letter was refused.
    found = [len(record.value) if record.value else None for record in world.read(dead)]
    expected = [10, None, 3000, None, None, 100, None]
    assert found[:7] == expected
    assert found[-5:] == expected[-5:]
    assert set(found) == set(expected)


def test_a_dead_letter_whose_key_and_headers_are_too_large_still_says_why(world: World) -> None:
    dead = world.topic(max_message_bytes=4000)
    sink = world.sink(dead_topic=dead)
    headers = (("junk", b"j" * 9000), ("error-code", b"invalid_json"), ("origin-offset", b"5"))
    sink.publish([Outgoing(5, 0, dead, b"k" * 9000, None, headers)], {}, None)
    (letter,) = world.read(dead)
    assert (letter.key, letter.value) == (None, None)
    found = dict(letter.headers)
    assert found["error-code"] == b"invalid_json"
    assert found["origin-offset"] == b"5"
    assert found["key-omitted"] == b"9000"
    assert found["headers-omitted"] == b"1"


def test_another_message_that_is_too_large_is_refused_by_name(world: World) -> None:
    resolved = world.topic(max_message_bytes=4000)
    sink = world.sink(dead_topic="another")
    with pytest.raises(Refused, match=resolved):
        sink.publish([Outgoing(0, 0, resolved, b"rte/t1", b"x" * 9000, ())], {}, None)
    assert world.read(resolved) == []


def test_a_dead_letter_without_key_and_value_arrives(world: World) -> None:
    dead = world.topic()
    letter = Outgoing(0, 0, dead, None, None, (("error-code", b"invalid_json"), ("null", None)))
    world.sink(dead_topic=dead).publish([letter], {}, None)
    world.plain_sink(dead_topic=dead).publish([letter], {}, None)
    assert [(r.key, r.value) for r in world.read(dead)] == [(None, None)] * 2


def test_a_batch_above_the_limit_of_messages_below_it_arrives_whole(world: World) -> None:
    resolved = world.topic(max_message_bytes=4000)
    texts = [f"{n:03d}" + "x" * 500 for n in range(100)]
    sink = world.sink()
    sink.publish([message(resolved, text) for text in texts], {}, None)
    sink.publish([message(resolved, "later")], {}, None)
    found = [record.value for record in world.read(resolved)]
    assert found == [text.encode() for text in [*texts, "later"]]
