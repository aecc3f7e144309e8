"""A replay that is kept in a database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from connector.adapters.sql import queries
from connector.adapters.sql.database import engine
from connector.adapters.sql.store import open_store
from connector.domain.errors import Refused
from connector.domain.records import Cursor, TopicPartition
from connector.replay import replay
from tests import compare
from tests.engine.plain_chooser import CHOICES
from tests.oracle.fold import PlainFold
from tests.oracle.logs import random_log

from .files import Kept, wrapped, write_csv, write_jsonl

VOTES = [(f"t{i % 40}", f"w{i % 11}", i * i % 3) for i in range(1500)]


@pytest.fixture
def view(database_url: str) -> Iterator[Callable[[str], list[dict[str, Any]]]]:
    reader = engine(database_url)

    def rows(name: str) -> list[dict[str, Any]]:
        columns, found = queries.view(reader, name)
        return [dict(zip(columns, row, strict=True)) for row in found]

    yield rows
    reader.dispose()


def test_it_holds_what_is_in_memory_without_one(
    database_url: str, view: Callable[[str], list[dict[str, Any]]], tmp_path: Path
) -> None:
    votes = write_csv(tmp_path / "v.csv", VOTES)
    kept, memory = Kept(votes, database=database_url), Kept(votes)
    assert kept.labels == memory.labels
    assert kept.workers == memory.workers
    assert kept.messages == memory.messages
    assert view("worker_quality") == memory.workers["v"]
    # Their messages are in the hands of whoever asked for them, so nothing waits to be published.
    store = open_store(database_url)
    assert store.outbox(TopicPartition("annotations", 0), Cursor(0), 10) == []
    store.close()


def test_a_log_with_offsets_leaves_a_database_that_the_service_can_go_on_with(
    database_url: str, view: Callable[[str], list[dict[str, Any]]], tmp_path: Path
) -> None:
    log = random_log(31, 800, partitions=2, gaps=0.05, runs=0.03, assignments=0.2, choices=CHOICES)
    fold = PlainFold(choices=CHOICES)
    for record in log:
        fold.feed(record)
    kept = Kept(write_jsonl(tmp_path / "log.jsonl", wrapped(log)), database=database_url)
    compare.assert_views(fold, view)
    store = open_store(database_url)
    waiting = []
    for partition in (0, 1):
        source = TopicPartition("annotations", partition)
        row = store.progress(source)
        assert row is not None
        assert row.next_offset == 1 + max(r.offset for r in log if r.partition == partition)
        waiting += store.outbox(source, Cursor(0), 10_000)
    store.close()
    assert sorted(map(repr, waiting)) == sorted(map(repr, kept.messages))


def test_a_database_that_holds_results_is_refused_and_left_as_it_is(
    database_url: str, view: Callable[[str], list[dict[str, Any]]], tmp_path: Path
) -> None:
    votes = write_csv(tmp_path / "v.csv", VOTES[:50])
    with replay([votes], database=database_url):
        pass
    before = {name: view(name) for name in compare.KEYS}
    with (
        pytest.raises(Refused, match="holds results already"),
        replay([votes], database=database_url),
    ):
        pass
    assert {name: view(name) for name in compare.KEYS} == before
