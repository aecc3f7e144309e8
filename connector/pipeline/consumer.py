"""The loop: poll, recover what was assigned, fold what arrived, hand on what is to be published.

It owns one `Shard` a partition.  Whatever goes wrong with the database or the broker ends in the
same way: the shard is dropped and the partition recovered from what the database and the group
say, so that there is one path to be right and not many.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

import structlog

from connector.domain.errors import DependencyError, Fenced, InputError, Refused
from connector.domain.events import Event
from connector.domain.records import Cursor, Outgoing, Record, TopicPartition
from connector.engine.messages import Topics
from connector.engine.shard import Shard
from connector.ports import Clock, Polled, Sink, Source, Store

from .adoption import Abandoned, Adoption
from .adoptions import Adoptions
from .batch import decoded, first_adopting, fold, is_wide, process, write
from .failpoints import failpoint
from .publisher import Publication
from .publishing import RETRY_S, Publishing
from .reach import Reach
from .recovery import resume
from .timekeeper import Timekeeper
from .writer import CLOSE_WAIT_S, Writer

log = structlog.get_logger("crowdresolve")

REVOKE_WAIT_S = 5.0
OVERTAKEN_TRIES = 10
ADOPTED_WAIT_S = 60.0


@dataclass(frozen=True)
class Options:
    """What the loop may be told.

    Attributes:
        topics: where messages go.
        transactional: the sink commits cursors itself (exactly_once).
        rebuild: accept what `recovery.resume` would refuse.
        held: objects a partition may hold in memory between batches.
        drain_s: how long publishing may take to finish at the end.
    """

    topics: Topics = field(default_factory=Topics)
    transactional: bool = True
    rebuild: bool = False
    held: int = 200_000
    drain_s: float = 4.0


class Consumer:
    """One process of the group.

    Args:
        source, store, clock: see `connector.ports`. The source calls `on_revoke`.
        make_sink: a new sink; called again after an outcome that nobody knows.
        options: see `Options`.
        on_progress: called after each batch with the partition, its records and messages.
        timekeeper: tells quiet partitions the time; without it leases wait for other records.
    """

    def __init__(
        self,
        source: Source,
        store: Store,
        make_sink: Callable[[], Sink],
        clock: Clock,
        options: Options | None = None,
        on_progress: Callable[[TopicPartition, int, int], None] | None = None,
        timekeeper: Timekeeper | None = None,
    ) -> None:
        self._source = source
        self._store = store
        self._clock = clock
        self._options = options or Options()
        self._publishing = Publishing(make_sink, store, source, clock, self._options.transactional)
        self._reach = Reach(clock)
        self._on_progress = on_progress
        self._timekeeper = timekeeper
        self._shards: dict[TopicPartition, Shard] = {}
        self._fresh: dict[TopicPartition, int] = {}
        """Partitions that have not folded a batch since their recovery, and how often another
        process overtook them since."""
        self._owned: set[TopicPartition] = set()
        self._failed: dict[TopicPartition, tuple[float, int]] = {}
        self._membership: object = None
        self._trimmed: dict[TopicPartition, Cursor] = {}
        self._writer = Writer()
        self._adoptions = Adoptions(store, clock, source.wake)
        self._busy = threading.Lock()
        self._gone: set[TopicPartition] = set()
        self._lost: set[TopicPartition] = set()
        self._stopping = threading.Event()

    # -- from other threads

    def stop(self) -> None:
        """Ask the loop to end; safe from a signal handler."""
        self._stopping.set()

    def on_revoke(self, partitions: Collection[TopicPartition], lost: bool) -> None:
        """Called by the source on its I/O thread before the group goes on without us.

        Lost partitions belong to somebody else already: nothing is waited for, and the loop ends.
        """
        failpoint("during_revoke")
        # A batch in progress may finish, so that the next owner finds a database at rest.
        held = self._busy.acquire(timeout=0.0 if lost else REVOKE_WAIT_S)
        try:
            self._gone.update(partitions)
            if lost:
                self._lost.update(partitions)
            else:
                self._writer.wait(REVOKE_WAIT_S)
            for partition in partitions:
                self._adoptions.cancel(partition, 0.0 if lost else REVOKE_WAIT_S)
            self._publishing.revoke(partitions, 0.0 if lost else REVOKE_WAIT_S)
        finally:
            if held:
                self._busy.release()

    # -- the loop

    def run(self) -> None:
        """Consume until `stop`.

        Raises:
            Fenced, Refused, ConfigurationError: it must not go on, and says why.
            DependencyError: at the start, when the broker cannot be reached.
        """
        try:
            self.open()
            while not self._stopping.is_set():
                self.step()
            self.finish()
        finally:
            self.close()

    def open(self) -> None:
        """Connect. Raises DependencyError, ConfigurationError."""
        self._publishing.open()
        self._source.open()
        log.info("consumer_started", rebuild=self._options.rebuild)

    def finish(self) -> None:
        """Let what is committed to the database go out, as far as that is quick."""
        self._settle()
        self._adoptions.cancel_all(self._options.drain_s)
        self._settle_adoptions()
        if not self._publishing.publisher.drain(self._options.drain_s):
            log.info("publishing_left_for_restart")
        self._trim()
        self._publishing.commit_sent(self._owned)

    def close(self) -> None:
        """Give everything up; never raises."""
        self._writer.close()
        self._adoptions.cancel_all(CLOSE_WAIT_S)
        self._publishing.close()
        if self._timekeeper is not None:
            self._timekeeper.close()
        self._source.close()
        log.info("consumer_stopped")

    def describe(self) -> str:
        """Where each partition stands, for people who debug."""
        shards = {f"{p.topic}/{p.partition}": s.next_offset for p, s in self._shards.items()}
        return f"folding {shards}, waiting {sorted(self._failed)}"

    def step(self, timeout_s: float = 0.5) -> None:
        """One turn of the loop."""
        if self._writer.done:
            self._settle()
        self._settle_adoptions()
        if self._publishing.failed():
            self._republish()
        try:
            polled = self._source.poll(0.05 if self._failed else timeout_s)
        except DependencyError as error:
            log.warning("broker_away", retry_in_s=1.0, reason=str(error))
            self._clock.sleep(1.0)
            return
        self._membership = polled.membership
        self._reach.note(polled.reachable)
        if self._lost:
            raise _taken_over(self._lost)
        self._take_over(polled)
        for partition, records in polled.records.items():
            if self._timekeeper is not None:
                self._timekeeper.heard(partition)
            if partition in self._adoptions:
                continue  # fetched before it was paused; it comes again
            if partition in self._shards:
                self._fold(partition, records)
        if not polled.records:
            self._trim()
        self._publishing.commit_sent(self._owned)
        self._retry_failed()
        if self._timekeeper is not None:
            self._tell_time(self._timekeeper)

    def _tell_time(self, keeper: Timekeeper) -> None:
        """Let leases end on partitions where nothing arrives."""
        due: dict[TopicPartition, int | None] = {}
        for partition, shard in list(self._shards.items()):
            if partition in self._adoptions or not keeper.is_quiet(partition):
                continue
            if not shard.leases_read:
                try:
                    with self._store.lookups() as storage:
                        shard.read_leases(storage)
                except DependencyError as error:
                    self._fail(partition, error)
                    continue
            due[partition] = shard.next_expiry
        keeper.tell(due)

    def _take_over(self, polled: Polled) -> None:
        for partition in polled.revoked:
            self._let_go(partition)
        for partition in polled.assigned:
            self._let_go(partition)
            self._owned.add(partition)
            with self._busy:
                self._gone.discard(partition)
            self._recover(partition)

    def _let_go(self, partition: TopicPartition) -> None:
        self._adoptions.drop(partition, 0.0)
        self._owned.discard(partition)
        self._failed.pop(partition, None)
        self._fresh.pop(partition, None)
        self._publishing.forget(partition)
        self._trimmed.pop(partition, None)
        if self._shards.pop(partition, None) is not None:
            log.info("partition_revoked", topic=partition.topic, partition=partition.partition)

    # -- one partition

    def _recover(self, partition: TopicPartition) -> None:
        self._settle()
        self._adoptions.drop(partition, ADOPTED_WAIT_S)
        try:
            self._check_partitions(partition)
            row = self._store.progress(partition)
            D = None if row is None else row.next_offset
            K = self._source.committed(partition)
            first, end = self._source.bounds(partition)
            for _ in range(20):  # a broker that has just come back may not know its end yet
                if max(D or 0, K.offset if K else 0) <= end or self._stopping.is_set():
                    break
                self._clock.sleep(0.25)
                first, end = self._source.bounds(partition)
        except DependencyError as error:
            self._fail(partition, error)
            return
        plan = resume(partition, D, K, first, end, self._options.rebuild)
        shard = Shard(
            partition,
            row,
            self._options.topics,
            held=self._options.held,
            publish_from=plan.publish_from,
        )
        self._shards[partition] = shard
        self._fresh.setdefault(partition, 0)
        self._failed.pop(partition, None)
        self._publishing.publisher.admit(partition, plan.published)
        if plan.publish is not None:
            start, until = plan.publish
            self._publishing.submit(Publication(partition, None, start, until, self._membership))
        self._source.seek(partition, plan.read_from)
        if plan.skipped:
            log.warning(
                "records_missing",
                topic=partition.topic,
                partition=partition.partition,
                records=plan.skipped,
            )
        log.info(
            "partition_assigned",
            topic=partition.topic,
            partition=partition.partition,
            database_offset=D,
            group_offset=None if K is None else K.offset,
            lag=end - plan.read_from,
        )

    def _fold(self, partition: TopicPartition, records: Sequence[Record]) -> None:
        """Fold a batch while the one before it is being written, then have it written too."""
        shard = self._shards[partition]
        records = [r for r in records if r.offset >= shard.next_offset]
        if not records:
            return
        events = decoded(records)
        at = first_adopting(events)
        if at is None:
            self._fold_batch(partition, shard, records, events)
            return
        if at:
            self._fold_batch(partition, shard, records[:at], events[:at])
        self._adopt(partition, shard, records[at], events[at])

    def _fold_batch(
        self,
        partition: TopicPartition,
        shard: Shard,
        records: Sequence[Record],
        events: Sequence[Event | InputError],
    ) -> None:
        if shard.overfull or is_wide(shard, events):
            self._fold_alone(partition, shard, records, events)
            return
        expected = shard.next_offset
        try:
            with self._busy:
                if partition in self._gone:
                    return
                with self._store.lookups() as storage:
                    changes = fold(storage, shard, records, events)
        except DependencyError as error:
            self._fail(partition, error)
            return
        except BaseException:
            self._shards.pop(partition, None)
            raise
        self._settle()
        if self._shards.get(partition) is not shard:
            return  # the batch before it was not written; both come again
        published = self._publishing.publisher.published(partition)
        due = self._publication(shard, expected, changes.outgoing)

        def job() -> None:
            write(self._store, expected, changes, published)
            self._publish(due, len(records))

        with self._busy:
            if partition not in self._gone:
                self._writer.submit(partition, job)

    def _fold_alone(
        self,
        partition: TopicPartition,
        shard: Shard,
        records: Sequence[Record],
        events: Sequence[Event | InputError],
    ) -> None:
        """Fold and write in one transaction: what is saved on the way must be seen on the way."""
        self._settle()
        if self._shards.get(partition) is not shard:
            return
        expected = shard.next_offset
        try:
            with self._busy:
                if partition in self._gone:
                    return
                published = self._publishing.publisher.published(partition)
                messages = process(self._store, shard, records, published, events)
        except DependencyError as error:
            self._fail(partition, error)
            return
        except Fenced as error:
            self._overtaken(partition, error)
            return
        except BaseException:
            self._shards.pop(partition, None)
            raise
        self._fresh.pop(partition, None)
        self._publish(self._publication(shard, expected, messages), len(records))

    def _adopt(
        self, partition: TopicPartition, shard: Shard, record: Record, event: Event | InputError
    ) -> None:
        """Let a run's end be folded beside the loop; what comes after it is read again then."""
        self._settle()
        if self._shards.get(partition) is not shard:
            return
        assert not isinstance(event, InputError)
        self._source.pause(partition)
        with self._busy:
            if partition in self._gone:
                return
            self._adoptions.begin(partition, shard, record, event)

    def _settle_adoptions(self) -> None:
        """Draw the consequences of adoptions that have ended."""
        for partition, adoption in self._adoptions.ended():
            if self._shards.get(partition) is adoption.shard:
                self._adopted(partition, adoption)

    def _adopted(self, partition: TopicPartition, adoption: Adoption) -> None:
        error, shard = adoption.error, adoption.shard
        if error is None:
            self._fresh.pop(partition, None)
            shard.settle_memory()
            self._publish(self._publication(shard, adoption.expected, adoption.messages), 1)
            self._source.seek(partition, shard.next_offset)
            log.info(
                "run_ended",
                topic=partition.topic,
                partition=partition.partition,
                seconds=round(self._clock.monotonic() - adoption.begun, 3),
            )
        elif isinstance(error, DependencyError):
            self._fail(partition, error)
        elif isinstance(error, Fenced):
            self._overtaken(partition, error)
        else:
            self._shards.pop(partition, None)
            if not isinstance(error, Abandoned):
                raise error

    def _settle(self) -> None:
        """Wait for the batch that is being written, and draw the consequences."""
        written = self._writer.settle()
        if written is None or written.partition not in self._owned:
            return
        partition, error = written
        if error is None:
            self._fresh.pop(partition, None)
        elif isinstance(error, DependencyError):
            self._fail(partition, error)
        elif isinstance(error, Fenced):
            self._overtaken(partition, error)
        else:
            self._shards.pop(partition, None)
            raise error

    def _publication(
        self, shard: Shard, expected: int, messages: Sequence[Outgoing] | None
    ) -> Publication | None:
        """What is to be published of a batch.

        None: all of it is out (`--rebuild`), and the group's cursor must not go back.
        """
        start, until = Cursor(expected), Cursor(shard.next_offset)
        if shard.publish_from is not None:
            if until <= shard.publish_from:
                return None
            start = shard.publish_from
            shard.publish_from = None
        return Publication(shard.source, messages, start, until, self._membership)

    def _publish(self, due: Publication | None, records: int) -> None:
        """Hand on a batch that is written. Also called from the writer's thread."""
        if due is None:
            return
        self._publishing.submit(due)
        if self._on_progress is not None:
            self._on_progress(due.partition, records, len(due.messages or ()))

    def _trim(self) -> None:
        """Where nothing arrives, empty the outbox of what is out.

        Otherwise the next batch does it.  An operator who sets the group back would else see the
        last batch's messages again.
        """
        self._settle()
        for partition in list(self._shards):
            if partition in self._adoptions:
                continue
            published = self._publishing.publisher.published(partition)
            if published <= self._trimmed.get(partition, Cursor(0)):
                continue
            try:
                with self._busy:
                    if partition in self._gone:
                        continue
                    with self._store.transaction(partition) as transaction:
                        transaction.trim_outbox(partition, published)
            except DependencyError as error:
                log.info("outbox_not_trimmed", reason=str(error))
            self._trimmed[partition] = published

    def _overtaken(self, partition: TopicPartition, error: Fenced) -> None:
        """The compare-and-swap failed: the database has gone on without this process.

        Right after an assignment it was the former owner's last batch; look again.  Later it can
        only be that this process was thought dead and its partition given away.
        """
        tries = self._fresh.get(partition)
        if tries is None or tries >= OVERTAKEN_TRIES:
            raise _taken_over([partition]) from error
        self._fresh[partition] = tries + 1
        self._shards.pop(partition, None)
        log.info("overtaken", topic=partition.topic, partition=partition.partition, tries=tries)
        self._recover(partition)

    def _fail(self, partition: TopicPartition, error: DependencyError) -> None:
        """Stop the partition until the database or broker answers again."""
        self._shards.pop(partition, None)
        self._source.pause(partition)
        _, tries = self._failed.get(partition, (0.0, 0))
        wait = RETRY_S[min(tries, len(RETRY_S) - 1)]
        self._failed[partition] = (self._clock.monotonic() + wait, tries + 1)
        log.warning(
            "partition_waits",
            topic=partition.topic,
            partition=partition.partition,
            retry_in_s=wait,
            reason=str(error),
        )

    def _retry_failed(self) -> None:
        now = self._clock.monotonic()
        for partition in [p for p, (due, _) in self._failed.items() if due <= now]:
            if partition in self._owned and not self._stopping.is_set():
                self._recover(partition)

    def _check_partitions(self, partition: TopicPartition) -> None:
        present = self._source.partitions()
        known = self._store.partitions(partition.topic, present)
        if known != present:
            raise Refused(
                f"topic {partition.topic} has {present} partitions, but this database was made"
                f" from {known}: records of one project would now come on two partitions. Make a"
                f" new topic with {present} partitions, send the old one's records to it in order,"
                " and start with an empty database (--database, --topic-annotations)."
            )

    def _republish(self) -> None:
        """An outcome that nobody knows: a new producer, and every partition recovered."""
        self._settle()
        self._publishing.reopen(self._stopping)
        for partition in list(self._owned):
            self._shards.pop(partition, None)
            self._source.pause(partition)
            self._failed[partition] = (self._clock.monotonic(), 0)


def _taken_over(partitions: Collection[TopicPartition]) -> Fenced:
    names = ", ".join(f"{p.topic}/{p.partition}" for p in sorted(partitions))
    return Fenced(
        f"The group has given {names} to another process while this one was stopped or cut off:"
        " they are taken over. What this process still held is refused by the database and by"
        " Kafka, and done by whoever has them now. Start it again; it will join the group."
    )
