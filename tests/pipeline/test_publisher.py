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


def gathered(monkeypatch: pytest.MonkeyPatch, wait_s: float, *ends: int) -> list[int]:
    """Where the transactions end that batches with these ends go out in."""
    monkeypatch.setattr(publisher, "GATHER_S", wait_s)
    sink = Noting()
    publishing = Publisher(sink, MemoryStore())
    publishing.admit(QUICK, Cursor(0))
    publishing.start()
    start = 0
    for end in ends:
        publishing.submit(Publication(QUICK, [outgoing(end - 1, 0)], Cursor(start), Cursor(end), 0))
        start = end
    assert publishing.drain(10.0)
    publishing.stop()
    assert [offset for sent, _ in sink.sent for offset, _ in sent] == [end - 1 for end in ends]
    return [cursors[QUICK].offset for _, cursors in sink.sent]


def test_batches_of_a_backlog_go_out_together(monkeypatch: pytest.MonkeyPatch) -> None:
    assert gathered(monkeypatch, 60.0, 1000, 2000, 3000, 4000) == [4000]


def test_the_end_of_a_backlog_is_not_waited_for_any_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    assert gathered(monkeypatch, 60.0, 1000, 1010) == [1010]
    assert gathered(monkeypatch, 0.001, 1000) == [1000]
