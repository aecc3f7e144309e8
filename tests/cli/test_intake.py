"""Batches fill, within bounds; and progress is told while there is any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import structlog
from structlog.testing import capture_logs

from connector.cli.intake import BATCH_BYTES, Intake
from connector.cli.progress import Progress
from connector.domain.records import Cursor, Record, TopicPartition
from connector.ports import Polled

A = TopicPartition("annotations", 0)
B = TopicPartition("annotations", 1)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class Scripted:
    """A source whose polls are given; each takes its whole timeout if it brings nothing."""

    def __init__(self, clock: Clock, *polls: Polled) -> None:
        self.clock = clock
        self.polls = list(polls)
        self.timeouts: list[float] = []
        self.end = 100

    def open(self) -> None: ...

    def poll(self, timeout_s: float) -> Polled:
        self.timeouts.append(timeout_s)
        polled = self.polls.pop(0) if self.polls else Polled()
        self.clock.now += 0.001 if polled.records else timeout_s
        return polled

    def committed(self, partition: TopicPartition) -> Cursor | None:
        return None

    def bounds(self, partition: TopicPartition) -> tuple[int, int]:
        return 0, self.end

    def seek(self, partition: TopicPartition, offset: int) -> None: ...

    def pause(self, partition: TopicPartition) -> None: ...

    def commit(self, cursors: Mapping[TopicPartition, Cursor]) -> None: ...

    def partitions(self) -> int:
        return 2

    def wake(self) -> None: ...

    def close(self) -> None: ...


def _records(partition: TopicPartition, *offsets: int) -> dict[TopicPartition, Sequence[Record]]:
    return {partition: [Record(*partition, offset, 0, None, b"x") for offset in offsets]}


def _offsets(polled: Polled) -> dict[TopicPartition, list[int]]:
    return {p: [r.offset for r in records] for p, records in polled.records.items()}


def test_what_comes_after_a_pause_does_not_wait() -> None:
    clock = Clock()
    source = Scripted(clock, Polled(records=_records(A, 0)), Polled(records=_records(A, 1)))
    intake = Intake(source, clock, batch_size=100, batch_wait_s=0.02)
    assert _offsets(intake.poll(0.5)) == {A: [0]}
    clock.now += 0.02
    before = clock.now
    assert _offsets(intake.poll(0.5)) == {A: [1]}
    assert clock.now == before + 0.001


def test_a_batch_begins_no_sooner_than_its_wait_after_one_that_was_not_full() -> None:
    clock = Clock()
    source = Scripted(clock, *(Polled(records=_records(A, n, n + 1)) for n in range(0, 100, 2)))
    intake = Intake(source, clock, batch_size=100, batch_wait_s=0.02)
    begun = []
    for _ in range(10):
        intake.poll(0.5)
        begun.append(clock.now)
    assert min(b - a for a, b in pairwise(begun)) >= 0.02


def test_nothing_waits_for_long_after_a_wake() -> None:
    clock = Clock()
    source = Scripted(clock, Polled(records=_records(A, 0)))
    intake = Intake(source, clock, batch_size=100, batch_wait_s=10.0)
    intake.poll(0.5)
    intake.wake()
    before = clock.now
    intake.poll(0.0)
    assert clock.now == before


def test_after_a_full_batch_nothing_waits() -> None:
    clock = Clock()
    source = Scripted(clock, Polled(records=_records(A, 0, 1)), Polled(records=_records(A, 2)))
    intake = Intake(source, clock, batch_size=2, batch_wait_s=1.0)
    assert _offsets(intake.poll(0.5)) == {A: [0, 1]}
    assert _offsets(intake.poll(0.5)) == {A: [2]}
    assert clock.now < 0.01


def test_a_batch_of_few_large_records_is_full_too() -> None:
    clock = Clock()
    large = {A: [Record(*A, 0, 0, None, b"x" * BATCH_BYTES)]}
    source = Scripted(clock, Polled(records=large), Polled(records=_records(A, 1)))
    intake = Intake(source, clock, batch_size=100, batch_wait_s=1.0)
    assert _offsets(intake.poll(0.5)) == {A: [0]}
    assert _offsets(intake.poll(0.5)) == {A: [1]}
    assert clock.now < 0.01


def test_nothing_waits_where_nothing_came() -> None:
    clock = Clock()
    source = Scripted(clock)
    Intake(source, clock, batch_size=2, batch_wait_s=1.0).poll(0.5)
    assert source.timeouts == [0.5]


def test_a_change_of_what_is_ours_is_told_at_once() -> None:
    clock = Clock()
    source = Scripted(clock, Polled(assigned=[A]), Polled(records=_records(A, 0)))
    polled = Intake(source, clock, batch_size=100, batch_wait_s=1.0).poll(0.5)
    assert (polled.assigned, polled.records) == ([A], {})


def test_progress_is_logged_every_ten_seconds_and_only_while_there_is_some() -> None:
    structlog.reset_defaults()
    clock = Clock()
    source = Scripted(clock, Polled(records=_records(A, 38, 39)))
    intake = Intake(source, clock, batch_size=1, batch_wait_s=0.0)
    progress = Progress(intake, clock)
    intake.on_poll = progress.tick
    with capture_logs() as lines:
        for _ in range(100):
            intake.poll(0.5)  # nothing is done with the records: no progress
        assert lines == []
        progress.note(A, 60, 20)
        progress.note(A, 40, 10)
        for _ in range(60):
            intake.poll(0.5)
    (line,) = lines
    assert line["event"] == "progress"
    assert (line["records"], line["batches"], line["messages"]) == (100, 2, 30)
    assert 9.0 < line["records_per_s"] <= 10.0
    assert line["lag"] == 60
