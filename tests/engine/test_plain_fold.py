"""The engine, record by record, against the plain fold: messages, counters, time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from connector.adapters.memory.store import MemoryStore
from connector.domain.records import Cursor, TopicPartition
from connector.engine.messages import Topics
from connector.engine.shard import Shard
from connector.pipeline.batch import decoded, process
from tests import compare
from tests.engine.plain_chooser import CHOICES
from tests.oracle import fold as oracle
from tests.oracle.fold import PlainFold
from tests.oracle.logs import random_log
from tests.pipeline.folding import records_of, sent


class NothingStored:
    """A storage that has nothing: all there is was made by the records so far."""

    def project(self, name: str) -> None:
        return None

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} was asked of a storage that has nothing")


def assert_as_the_plain_fold(log: Sequence[oracle.Record], fold: PlainFold) -> None:
    """Record by record."""
    shard = Shard(TopicPartition("annotations", 0), None, Topics())
    for plain, record in zip(log, records_of(log), strict=True):
        want = fold.feed(plain)
        shard.apply(NothingStored(), record, decoded([record])[0])
        got = shard.take_outgoing()
        assert len(got) == len(want), f"offset {record.offset}: {record.value!r}"
        for w, g in zip(want, got, strict=True):
            found = compare.difference(
                compare.wanted(w), compare.published(g.key, g.value, g.headers)
            )
            assert found is None, f"offset {record.offset}: {record.value!r}{found}"
    row = fold.event_accounting()[0]
    progress = shard.progress()
    for name in ("received", "applied", "duplicates", "stale", "dead"):
        assert getattr(progress, name) == row[name], name


@pytest.mark.parametrize("seed", range(40))
def test_any_log_gives_the_messages_of_the_plain_fold(seed: int) -> None:
    assert_as_the_plain_fold(random_log(seed, 400), PlainFold())


@pytest.mark.parametrize("seed", range(40))
def test_any_crowd_that_asks_is_answered_as_by_the_plain_fold(seed: int) -> None:
    log = random_log(seed, 400, assignments=0.2 + 0.6 * (seed % 2), choices=CHOICES)
    assert_as_the_plain_fold(log, PlainFold(choices=CHOICES))


@pytest.mark.parametrize("seed", range(20))
def test_any_log_with_runs_gives_the_messages_of_the_plain_fold(seed: int) -> None:
    log = random_log(seed, 300, runs=0.04, assignments=0.3 * (seed % 2), choices=CHOICES)
    fold, store = PlainFold(choices=CHOICES), MemoryStore()
    shard = Shard(TopicPartition("annotations", 0), None, Topics())
    for plain, record in zip(log, records_of(log), strict=True):
        want = fold.feed(plain)
        process(store, shard, [record])
        got = [m for m in store.outbox(shard.source, Cursor(0), 10**6) if m.offset == record.offset]
        assert len(got) == len(want), f"offset {record.offset}: {record.value!r}"
        for w, g in zip(want, got, strict=True):
            found = compare.difference(
                compare.wanted(w), compare.published(g.key, g.value, g.headers)
            )
            assert found is None, f"offset {record.offset}: {record.value!r}{found}"
    compare.assert_views(fold, store.view)


def test_a_long_log_of_many_votes_on_few_tasks_does_not_drift() -> None:
    log = random_log(1234, 4000, tasks=12, workers=30)
    fold = PlainFold()
    shard = Shard(TopicPartition("annotations", 0), None, Topics())
    for plain, record in zip(log, records_of(log), strict=True):
        fold.feed(plain)
        shard.apply(NothingStored(), record, decoded([record])[0])
    compare.assert_messages(fold, "labels.resolved", sent(shard.take_outgoing(), "labels.resolved"))
