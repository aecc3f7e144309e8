"""Fold a log through the product's own batches, with whatever may happen between them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from connector.domain.records import Cursor, Outgoing, Record, TopicPartition
from connector.engine.messages import Topics
from connector.engine.shard import Shard
from connector.pipeline.batch import process
from connector.ports import Store
from tests.oracle import fold as oracle


def records_of(log: Sequence[oracle.Record], topic: str = "annotations") -> list[Record]:
    """The oracle's records as the product reads them."""
    return [
        Record(topic, r.partition, r.offset, r.timestamp_ms * 1000, r.key, r.value, r.headers)
        for r in log
    ]


def folded(
    store: Store,
    records: Sequence[Record],
    *,
    seed: int = 0,
    largest: int = 50,
    restarts: float = 0.2,
    held: int = 200_000,
) -> list[Outgoing]:
    """Fold in batches of random size, now and then from a shard that is read anew.

    Partitions take turns as the log has them, since what one of them knows of another's projects
    depends on that.

    Returns:
        every message, in order.
    """
    rng = random.Random(seed)
    messages: list[Outgoing] = []
    shards: dict[int, Shard] = {}
    for number, run in groupby(records, key=lambda r: r.partition):
        rest = list(run)
        source = TopicPartition(records[0].topic, number)
        while rest:
            if number not in shards or rng.random() < restarts:
                shards[number] = Shard(source, store.progress(source), Topics(), held=held)
            size = rng.randint(1, largest)
            batch, rest = rest[:size], rest[size:]
            start, shard = Cursor(shards[number].next_offset), shards[number]
            made = process(store, shard, batch)
            if made is None:  # some were saved on the way
                made = store.outbox(source, start, 10**9)
            messages += made
    return messages


def sent(messages: Sequence[Outgoing], topic: str) -> list[tuple[Any, Any, Any]]:
    """Key, value and headers of one topic's messages."""
    return [(m.key, m.value, m.headers) for m in messages if m.topic == topic]
