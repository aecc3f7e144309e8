"""One batch of one partition: decode, apply, store, in one database transaction."""

from __future__ import annotations

from collections.abc import Sequence

from connector.domain.decode import decode
from connector.domain.errors import InputError
from connector.domain.events import Event
from connector.domain.records import Cursor, Outgoing, Record, TopicPartition
from connector.engine.shard import Shard
from connector.ports import Store

from .failpoints import failpoint
from .publisher import MAX_MESSAGES

START = Cursor(0)


def decoded(records: Sequence[Record]) -> list[Event | InputError]:
    """Each record's event, or why it is none."""
    events: list[Event | InputError] = []
    for r in records:
        try:
            events.append(decode(r.value, r.headers))
        except InputError as error:
            events.append(error)
    return events


def process(
    store: Store,
    shard: Shard,
    records: Sequence[Record],
    published: Cursor = START,
) -> list[Outgoing] | None:
    """Fold records into the shard and the database, all or nothing.

    Args:
        store: where the partition's state lies.
        shard: its state in memory; not to be used again if this raises.
        records: in order of offset, none before `shard.next_offset`.
        published: the outbox is trimmed up to here.

    Returns:
        The messages to publish, or None: too many to hold, read them from the outbox.

    Raises:
        Fenced: another process went on with the partition; nothing was written.
        DependencyError: the database is away, or the commit's outcome is unknown.
    """
    source: TopicPartition = shard.source
    events = decoded(records)
    failpoint("after_decode")
    with store.transaction(source) as transaction:
        transaction.advance(shard.next_offset, records[-1].offset + 1)
        shard.prefetch(transaction, events)
        for record, event in zip(records, events, strict=True):
            shard.apply(transaction, record, event)
        failpoint("after_apply")
        changes = shard.collect()
        transaction.save(changes)
        transaction.trim_outbox(source, published)
        failpoint("before_database_commit")
    failpoint("after_database_commit")
    shard.settle_memory()
    if shard.take_spilled() or len(changes.outgoing) > MAX_MESSAGES:
        return None
    return changes.outgoing
