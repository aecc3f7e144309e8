"""The service's own pipeline over a log that lies in a file: one shard a partition, one store."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from connector.domain.records import Cursor, Outgoing, TopicPartition
from connector.engine.messages import Topics
from connector.engine.shard import Shard
from connector.pipeline.batch import process
from connector.pipeline.publisher import MAX_MESSAGES
from connector.ports import Store

from .entries import Entry

BATCH = 1000
EXAMPLES = 3


@dataclass(frozen=True)
class DeadLetter:
    """A record that could not be used, and where it came from."""

    code: str
    message: str
    file: str
    line: int


@dataclass
class Counts:
    """What became of the records: received = applied + duplicates + stale + dead."""

    received: int = 0
    applied: int = 0
    duplicates: int = 0
    stale: int = 0
    dead: int = 0
    messages: int = 0
    dead_codes: dict[str, int] = field(default_factory=dict)
    examples: list[DeadLetter] = field(default_factory=list)
    """The first few of each code."""


class Fold:
    """Takes records in file order.

    A partition's records go through in batches, and partitions are folded side by side.  Only
    where a project lives depends on the order between partitions; so a declaration is folded
    after everything before it and before everything after it.

    Args:
        store: empty.
        topics: where messages go.
        on_message: gets every outgoing message.
        trim: whether messages leave the outbox once `on_message` has them.
    """

    def __init__(
        self,
        store: Store,
        topics: Topics,
        on_message: Callable[[Outgoing], None] | None = None,
        trim: bool = True,
    ) -> None:
        self._store = store
        self._topics = topics
        self._on_message = on_message
        self._trim = trim
        self._waiting: dict[TopicPartition, list[Entry]] = {}
        self._shards: dict[TopicPartition, Shard] = {}
        self.projects: dict[str, TopicPartition] = {}
        """In order of declaration, with where they live."""
        self.counts = Counts()

    def feed(self, entries: Iterable[Entry]) -> None:
        """Fold all of them. Raises DependencyError."""
        with _rare_collections():
            self._feed(entries)
        self._finish()

    def _feed(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            record = entry.record
            partition = TopicPartition(record.topic, record.partition)
            if _declares(entry):
                self._flush()
                self._fold(partition, [entry])
                continue
            held = self._waiting.get(partition)
            if held is None:
                held = self._waiting[partition] = []
            held.append(entry)
            if len(held) >= BATCH:
                del self._waiting[partition]
                self._fold(partition, held)
        self._flush()

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, {}
        for partition, entries in waiting.items():
            self._fold(partition, entries)

    def _fold(self, partition: TopicPartition, entries: Sequence[Entry]) -> None:
        shard = self._shards.get(partition)
        if shard is None:
            shard = self._shards[partition] = Shard(partition, None, self._topics)
        held = len(shard.projects)
        start = Cursor(shard.next_offset)
        published = start if self._trim else Cursor(0)
        records = [e.record for e in entries]
        messages = process(self._store, shard, records, published)
        for name in shard.projects if len(shard.projects) > held else ():
            self.projects.setdefault(name, partition)
        if messages is not None:
            self._hand_on(messages, entries)
            return
        # More than one record's worth: they are in the store.
        until = Cursor(shard.next_offset)
        while start < until:
            page = self._store.outbox(partition, start, MAX_MESSAGES)
            self._hand_on(page, entries)
            if len(page) < MAX_MESSAGES:
                break
            start = Cursor(page[-1].offset, page[-1].sequence + 1)

    def _hand_on(self, messages: Sequence[Outgoing], entries: Sequence[Entry]) -> None:
        self.counts.messages += len(messages)
        for message in messages:
            if message.topic == self._topics.dead:
                self._note_dead(message, entries)
            if self._on_message is not None:
                self._on_message(message)

    def _note_dead(self, message: Outgoing, entries: Sequence[Entry]) -> None:
        # Ours come last: the original record may have had headers of the same name.
        why = {name: content or b"" for name, content in message.headers[-5:]}
        code = why["error-code"].decode()
        seen = self.counts.dead_codes[code] = self.counts.dead_codes.get(code, 0) + 1
        if seen > EXAMPLES:
            return
        entry = next(e for e in entries if e.record.offset == message.offset)
        text = why["error-message"].decode()
        self.counts.examples.append(DeadLetter(code, text, entry.file, entry.line))

    def _finish(self) -> None:
        counts = self.counts
        for partition, shard in self._shards.items():
            if self._trim:
                with self._store.transaction(partition) as transaction:
                    transaction.trim_outbox(partition, Cursor(shard.next_offset))
            row = self._store.progress(partition)
            assert row is not None
            counts.received += row.received
            counts.applied += row.applied
            counts.duplicates += row.duplicates
            counts.stale += row.stale
            counts.dead += row.dead


@contextmanager
def _rare_collections() -> Iterator[None]:
    """State only grows here and holds no cycles: looking for them costs a sixth of the time."""
    before = gc.get_threshold()
    gc.set_threshold(200_000, 50, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _declares(entry: Entry) -> bool:
    value = entry.record.value
    if value is not None and b"project.declared" in value:
        return True
    return any(c == b"project.declared" for _, c in entry.record.headers)
