"""The end of a run, folded and written in a thread of its own.

It may touch every task of a project, which takes seconds to minutes.  Meanwhile its partition
rests and the loop serves the others.  Everything is read and worked out first, from what is
committed; then all of it is written in one transaction, since SQLite has one writer at a time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress

from connector.domain.events import Event
from connector.domain.records import Outgoing, Record
from connector.engine.shard import Shard
from connector.ports import Store

from .batch import fold
from .failpoints import failpoint

ONE_AT_A_TIME = threading.Lock()
"""Each holds a project's rows in memory; a second one waits."""


class Abandoned(Exception):
    """The partition was given away, or is recovered, before anything was written."""


class Adoption:
    """One record's fold and write.

    Args:
        store: connections of its own are made beside those of the loop.
        shard: of the partition; nobody else may use it until this is done.
        record: the end of a run, or what a person has decided about one.
        event: the record decoded.
        begun: when, by the loop's clock.
        on_done: called from the thread when it has ended.

    Attributes:
        error: how it ended; None: well, or not yet.
        messages: to be published; None: too many to hold, read them from the outbox.
        expected: the offset that the database must be at.
    """

    def __init__(
        self,
        store: Store,
        shard: Shard,
        record: Record,
        event: Event,
        begun: float,
        on_done: Callable[[], None],
    ) -> None:
        self.shard = shard
        self.begun = begun
        self.expected = shard.next_offset
        self.error: BaseException | None = None
        self.messages: Sequence[Outgoing] | None = None
        self._store = store
        self._record = record
        self._event = event
        self._on_done = on_done
        self._state = threading.Lock()
        self._cancelled = False
        self._writing = False
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="adoption", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    @property
    def done(self) -> bool:
        """Whether it has ended."""
        return self._ended.is_set()

    def cancel(self, wait_s: float) -> None:
        """Write nothing any more; where that is too late, wait for the writing to end."""
        with self._state:
            self._cancelled = True
            writing = self._writing
        if writing:
            self._ended.wait(wait_s)

    def _run(self) -> None:
        try:
            with ONE_AT_A_TIME:
                self._fold_and_write()
        except BaseException as error:
            self.error = error
        finally:
            self._ended.set()
            with suppress(Exception):  # the loop may have ended meanwhile
                self._on_done()

    def _fold_and_write(self) -> None:
        self._go_on()
        store = self._store.another()
        try:
            with store.lookups() as storage, self.shard.deferring() as saved:
                last = fold(storage, self.shard, [self._record], [self._event])
            self._go_on(writing=True)
            with store.transaction(self.shard.source) as transaction:
                transaction.advance(self.expected, self.shard.next_offset)
                for changes in (*saved, last):
                    transaction.save(changes)
                failpoint("before_database_commit")
            failpoint("after_database_commit")
        finally:
            store.close()
        if not self.shard.take_spilled():
            self.messages = last.outgoing

    def _go_on(self, *, writing: bool = False) -> None:
        with self._state:
            if self._cancelled:
                raise Abandoned
            self._writing = writing
