"""What waits to be published goes out in order of its partition, and no partition waits long."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from connector.adapters.memory.store import MemoryStore
from connector.domain.records import Cursor, Outgoing, TopicPartition
from connector.domain.rows import Changes, ProgressRow
from connector.pipeline import publisher
from connector.pipeline.publisher import Publication, Publisher

WIDE, QUICK = TopicPartition("annotations", 0), TopicPartition("annotations", 1)


class Noting:
    """A sink that notes the transactions."""

    def __init__(self) -> None:
        self.sent: list[tuple[list[tuple[int, int]], dict[TopicPartition, Cursor]]] = []

    def open(self) -> None:
        pass

    def publish(
        self,
        messages: Sequence[Outgoing],
        cursors: Mapping[TopicPartition, Cursor],
        membership: object,
    ) -> None:
        self.sent.append(([(m.offset, m.sequence) for m in messages], dict(cursors)))

    def close(self) -> None:
        pass


def outgoing(offset: int, sequence: int) -> Outgoing:
    return Outgoing(offset, sequence, "labels.resolved", b"k", b"{}", ())


def test_a_record_with_many_messages_lets_other_partitions_go_between(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(publisher, "MAX_MESSAGES", 10)
    store = MemoryStore()
    with store.transaction(WIDE) as transaction:
        transaction.advance(0, 1)
        made = [outgoing(0, n) for n in range(25)]
        counters = ProgressRow(*WIDE, 1, 0, 1, 1, 0, 0, 0)
        transaction.save(Changes(WIDE, counters, outgoing=made))
    sink = Noting()
    publishing = Publisher(sink, store)
    for partition in (WIDE, QUICK):
        publishing.admit(partition, Cursor(0))
    after = [outgoing(1, 0)]
    publishing.submit(Publication(WIDE, None, Cursor(0), Cursor(1), 0))
    publishing.submit(Publication(WIDE, after, Cursor(1), Cursor(2), 1))
    publishing.submit(Publication(QUICK, [outgoing(7, 0)], Cursor(7), Cursor(8), 2))
    publishing.start()
    assert publishing.drain(10.0)
    publishing.stop()
    assert sink.sent == [
        ([(0, n) for n in range(10)], {WIDE: Cursor(0, 10)}),
        ([(7, 0)], {QUICK: Cursor(8)}),
        ([(0, n) for n in range(10, 20)], {WIDE: Cursor(0, 20)}),
        ([(0, n) for n in range(20, 25)], {WIDE: Cursor(1)}),
        ([(1, 0)], {WIDE: Cursor(2)}),
    ]
