"""The outbox: read by cursor, trimmed behind it."""

from __future__ import annotations

import threading

from connector.domain.records import Cursor, Outgoing, TopicPartition

from .conftest import Database
from .rows import P0, P1, Store, message, write

OTHER = TopicPartition("other", 0)
MESSAGES = [message(offset, sequence) for offset in (3, 4, 7) for sequence in range(3)]


def fill(store: Store, at: TopicPartition = P0, messages: list[Outgoing] = MESSAGES) -> None:
    write(store, 0, 10, at, outgoing=messages)


def trim(store: Store, following: int, before: Cursor, of: TopicPartition = P0) -> None:
    with store.transaction(P0) as transaction:
        transaction.advance(following - 1, following)
        transaction.trim_outbox(of, before)


def test_pages_from_a_cursor_in_order(store: Store) -> None:
    fill(store)
    assert store.outbox(P0, Cursor(0), 100) == MESSAGES
    assert store.outbox(P0, Cursor(3), 2) == MESSAGES[:2]
    assert store.outbox(P0, Cursor(3, 2), 2) == MESSAGES[2:4]
    assert store.outbox(P0, Cursor(4, 3), 100) == MESSAGES[6:]
    assert store.outbox(P0, Cursor(5), 100) == MESSAGES[6:]
    assert store.outbox(P0, Cursor(8), 100) == []


def test_a_partition_sees_its_own_alone(store: Store) -> None:
    fill(store)
    fill(store, OTHER, [message(1)])
    assert store.outbox(P1, Cursor(0), 100) == []
    assert store.outbox(OTHER, Cursor(0), 100) == [message(1)]


def test_trimming_drops_what_lies_before_the_cursor(store: Store) -> None:
    fill(store)
    trim(store, 11, Cursor(3, 1))
    assert store.outbox(P0, Cursor(0), 100) == MESSAGES[1:]
    trim(store, 12, Cursor(4))
    assert store.outbox(P0, Cursor(0), 100) == MESSAGES[3:]
    trim(store, 13, Cursor(2))
    assert store.outbox(P0, Cursor(0), 100) == MESSAGES[3:]
    trim(store, 14, Cursor(99))
    assert store.outbox(P0, Cursor(0), 100) == []


def test_what_comes_after_a_trimming_is_trimmed_in_its_turn(store: Store) -> None:
    fill(store)
    trim(store, 11, Cursor(11))
    write(store, 11, 12, outgoing=[message(11), message(11, 1)])
    trim(store, 13, Cursor(11, 1))
    assert store.outbox(P0, Cursor(0), 100) == [message(11, 1)]


def test_a_trimming_that_was_rolled_back_is_done_again(db: Database) -> None:
    store = db.open()
    fill(store)
    try:
        with store.transaction(P0) as transaction:
            transaction.advance(10, 11)
            transaction.trim_outbox(P0, Cursor(5))
            raise KeyError
    except KeyError:
        pass
    assert store.outbox(P0, Cursor(0), 100) == MESSAGES
    trim(store, 11, Cursor(5))
    assert store.outbox(P0, Cursor(0), 100) == MESSAGES[6:]


def test_another_partition_can_be_trimmed(store: Store) -> None:
    fill(store)
    fill(store, OTHER, [message(1), message(2)])
    trim(store, 11, Cursor(2), of=OTHER)
    assert store.outbox(OTHER, Cursor(0), 100) == [message(2)]
    assert store.outbox(P0, Cursor(0), 100) == MESSAGES


def test_it_is_read_from_another_thread_while_the_store_writes(store: Store) -> None:
    fill(store, messages=[])
    done = threading.Event()
    lengths: list[int] = []

    def read() -> None:
        while True:
            last = done.is_set()
            lengths.append(len(store.outbox(P0, Cursor(0), 10_000)))
            if last:
                return

    reader = threading.Thread(target=read)
    reader.start()
    for step in range(10, 40):
        write(store, step, step + 1, outgoing=[message(step, i) for i in range(50)])
    done.set()
    reader.join(30)
    assert lengths[-1] == 1500
    assert lengths == sorted(lengths)
    assert all(length % 50 == 0 for length in lengths), "a transaction was seen in part"
