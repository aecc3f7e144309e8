"""One batch of one partition: decode, apply, store.

`fold` and `write` are the two halves, so that one batch can be written while the next is folded;
`process` does both in one transaction.
"""

from __future__ import annotations

from collections.abc import Sequence

from connector.domain.decode import decode
from connector.domain.errors import InputError
from connector.domain.events import (
    Declared,
    Event,
    ReconciliationApproved,
    ReconciliationCompleted,
    ReconciliationRejected,
    WorkerBlocked,
    WorkerUnblocked,
)
from connector.domain.records import Cursor, Outgoing, Record
from connector.domain.rows import Changes
from connector.engine.shard import Shard
from connector.engine.storage import Storage
from connector.ports import Store

from .failpoints import failpoint
from .publisher import MAX_MESSAGES

START = Cursor(0)

ADOPTING = (ReconciliationCompleted, ReconciliationApproved, ReconciliationRejected)
"""Events that read the storage for what others before them have changed."""

WIDE = (Declared, WorkerBlocked, WorkerUnblocked, *ADOPTING)
"""Events that may touch more tasks than are held at once, and so save in between."""


def decoded(records: Sequence[Record]) -> list[Event | InputError]:
    """Each record's event, or why it is none."""
    events: list[Event | InputError] = []
    for r in records:
        try:
            events.append(decode(r.value, r.headers))
        except InputError as error:
            events.append(error)
    failpoint("after_decode")
    return events


def first_adopting(events: Sequence[Event | InputError]) -> int | None:
    """Where in the batch the first end of a run is, or decision about one."""
    if set(ADOPTING).isdisjoint(map(type, events)):
        return None
    return next(n for n, e in enumerate(events) if isinstance(e, ADOPTING))


def is_wide(shard: Shard, events: Sequence[Event | InputError]) -> bool:
    """Whether the batch must be folded inside the transaction that writes it."""
    return not set(WIDE).isdisjoint(map(type, events)) or shard.reads_much(events)


def fold(
    storage: Storage,
    shard: Shard,
    records: Sequence[Record],
    events: Sequence[Event | InputError],
) -> Changes:
    """Apply a batch to the shard; what it changed is still to be written.

    The shard is ahead of the database from here on: if writing fails it is not to be used again.
    """
    shard.prefetch(storage, events)
    for record, event in zip(records, events, strict=True):
        shard.apply(storage, record, event)
    failpoint("after_apply")
    return shard.collect()


def write(store: Store, expected: int, changes: Changes, published: Cursor = START) -> None:
    """Write a folded batch, all or nothing.

    Args:
        store: where the partition's state lies.
        expected: the offset that the database must be at.
        changes: what `fold` gave.
        published: the outbox is trimmed up to here.

    Raises:
        Fenced: another process went on with the partition; nothing was written.
        DependencyError: the database is away, or the commit's outcome is unknown.
    """
    with store.transaction(changes.source) as transaction:
        transaction.advance(expected, changes.progress.next_offset)
        transaction.save(changes)
        transaction.trim_outbox(changes.source, published)
        failpoint("before_database_commit")
    failpoint("after_database_commit")


def process(
    store: Store,
    shard: Shard,
    records: Sequence[Record],
    published: Cursor = START,
    events: Sequence[Event | InputError] | None = None,
) -> list[Outgoing] | None:
    """Fold and write in one transaction, which look-ups see too.

    Args:
        store: where the partition's state lies.
        shard: its state in memory; not to be used again if this raises.
        records: in order of offset, none before `shard.next_offset`.
        published: the outbox is trimmed up to here.
        events: the records decoded, where that has been done.

    Returns:
        The messages to publish, or None: too many to hold, read them from the outbox.

    Raises:
        Fenced: another process went on with the partition; nothing was written.
        DependencyError: the database is away, or the commit's outcome is unknown.
    """
    events = decoded(records) if events is None else events
    with store.transaction(shard.source) as transaction:
        transaction.advance(shard.next_offset, records[-1].offset + 1)
        changes = fold(transaction, shard, records, events)
        transaction.save(changes)
        transaction.trim_outbox(shard.source, published)
        failpoint("before_database_commit")
    failpoint("after_database_commit")
    shard.settle_memory()
    if shard.take_spilled() or len(changes.outgoing) > MAX_MESSAGES:
        return None
    return changes.outgoing
