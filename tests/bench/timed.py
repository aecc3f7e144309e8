"""`crowdresolve run` with a stopwatch at each of its ports; a process of its own.

    python -m tests.bench.timed SETTINGS.json

SIGTERM ends it; then it prints, as JSON, how many batches there were and the mean milliseconds that
one spent in each place.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from connector.adapters.kafka.client import client_settings
from connector.adapters.kafka.source import KafkaSource
from connector.cli import wiring
from connector.cli.run import tune_interpreter
from connector.domain.records import Cursor, Outgoing, TopicPartition
from connector.ports import Polled, Sink, Source, Store, Transaction
from connector.settings import Settings

FOLDING = "decoding and folding, waiting for the write before it"
WRITING = "writing the rows"
COMMITTING = "database commit"
QUEUED = "waiting for the last Kafka transaction"
PUBLISHING = "Kafka transaction"
PLACES = (FOLDING, WRITING, COMMITTING, QUEUED, PUBLISHING)


class Times:
    """Seconds by place, and when the batch in progress came to the last one."""

    def __init__(self) -> None:
        self.sums = dict.fromkeys(PLACES, 0.0)
        self.batches = 0
        self.records = 0
        self.first: float | None = None
        self.committed: list[float] = []

    def means_ms(self) -> dict[str, float]:
        """Per batch."""
        return {place: 1000 * s / max(1, self.batches) for place, s in self.sums.items()}


class TimedSource:
    """Notes when the first record of a batch came."""

    def __init__(self, inner: Source, times: Times) -> None:
        self._inner = inner
        self._times = times

    def poll(self, timeout_s: float) -> Polled:
        """As the source within."""
        polled = self._inner.poll(timeout_s)
        if polled.records:
            self._times.records += sum(map(len, polled.records.values()))
            if self._times.first is None:
                self._times.first = time.perf_counter()
        return polled

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class TimedStore:
    """Times transactions."""

    def __init__(self, inner: Store, times: Times) -> None:
        self._inner = inner
        self._times = times

    @contextmanager
    def transaction(self, partition: TopicPartition) -> Iterator[Transaction]:
        """As the store within."""
        t = self._times
        begun = time.perf_counter()
        if t.first is not None:
            t.sums[FOLDING] += begun - t.first
            t.first = None
        with self._inner.transaction(partition) as transaction:
            yield transaction
            written = time.perf_counter()
        done = time.perf_counter()
        t.sums[WRITING] += written - begun
        t.sums[COMMITTING] += done - written
        t.batches += 1
        t.committed.append(done)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class TimedSink:
    """Times publishing."""

    def __init__(self, inner: Sink, times: Times) -> None:
        self._inner = inner
        self._times = times

    def publish(
        self,
        messages: Sequence[Outgoing],
        cursors: Mapping[TopicPartition, Cursor],
        membership: object,
    ) -> None:
        """As the sink within. One publication may hold several batches."""
        t = self._times
        begun = time.perf_counter()
        waiting, t.committed = t.committed, []
        self._inner.publish(messages, cursors, membership)
        took = time.perf_counter() - begun
        t.sums[QUEUED] += sum(begun - done for done in waiting)
        t.sums[PUBLISHING] += took * len(waiting)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def main() -> int:
    """Run until SIGTERM."""
    tune_interpreter()
    settings = Settings(**json.loads(Path(sys.argv[1]).read_text()))
    times = Times()
    client = client_settings(
        settings.bootstrap_servers, {}, client_id=f"{settings.group}-{settings.instance}"
    )
    store: Any = TimedStore(wiring.open_database(settings.database), times)
    source: Any = TimedSource(
        KafkaSource(
            client,
            group=settings.group,
            topic=settings.topic_annotations,
            on_revoke=lambda gone, lost: parts.consumer.on_revoke(gone, lost),
            batch_size=settings.batch_size,
        ),
        times,
    )
    make_sink = wiring.sink_maker(settings, client)

    def timed_sink() -> Any:
        return TimedSink(make_sink(), times)

    parts = wiring.assemble(settings, store, source, timed_sink)
    signal.signal(signal.SIGTERM, lambda *_: parts.consumer.stop())
    parts.consumer.run()
    print(json.dumps({"batches": times.batches, "records": times.records} | times.means_ms()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
