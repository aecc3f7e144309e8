"""Batches fill, within bounds; and progress is told while there is any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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


def test_a_batch_with_nothing_in_its_way_does_not_wait() -> None:
    clock = Clock()
    source = Scripted(clock, Polled(records=_records(A, 0)), Polled(records=_records(A, 1)))
    intake = Intake(source, clock, batch_size=100, batch_wait_s=1.0, busy=lambda: False)
    assert _offsets(intake.poll(0.5)) == {A: [0]}
    assert _offsets(intake.poll(0.5)) == {A: [1]}


def test_a_batch_waits_no_longer_than_the_one_before_it_takes() -> None:
    clock = Clock()
    source = Scripted(clock, *(Polled(records=_records(A, offset)) for offset in range(100)))
    intake = Intake(source, clock, 1000, batch_wait_s=1.0, busy=lambda: clock.now < 0.0095)
    assert _offsets(intake.poll(0.5)) == {A: list(range(10))}


def test_a_batch_that_is_not_full_waits_for_more_records() -> None:
    clock = Clock()
    source = Scripted(
        clock,
        Polled(records=_records(A, 0, 1), membership=1),
        Polled(records=_records(B, 7), membership=2),
        Polled(records=_records(A, 2), membership=3),
    )
    polled = Intake(source, clock, batch_size=100, batch_wait_s=0.02).poll(0.5)
    assert _offsets(polled) == {A: [0, 1, 2], B: [7]}
    assert polled.membership == 1  # the one under which the first of them came
    assert 0.02 <= clock.now < 0.03


def test_a_full_batch_does_not_wait() -> None:
    clock = Clock()
    source = Scripted(clock, Polled(records=_records(A, 0, 1)), Polled(records=_records(A, 2)))
    polled = Intake(source, clock, batch_size=2, batch_wait_s=1.0).poll(0.5)
    assert _offsets(polled) == {A: [0, 1]}


def test_a_batch_of_few_large_records_is_full_too() -> None:
    clock = Clock()
    large = {A: [Record(*A, 0, 0, None, b"x" * BATCH_BYTES)]}
    source = Scripted(clock, Polled(records=large), Polled(records=_records(A, 1)))
    polled = Intake(source, clock, batch_size=100, batch_wait_s=1.0).poll(0.5)
    assert _offsets(polled) == {A: [0]}


def test_nothing_waits_where_nothing_came() -> None:
    clock = Clock()
    source = Scripted(clock)
    Intake(source, clock, batch_size=2, batch_wait_s=1.0).poll(0.5)
    assert source.timeouts == [0.5]


def test_records_of_a_partition_that_is_taken_away_meanwhile_are_dropped() -> None:
    clock = Clock()
    source = Scripted(
        clock,
        Polled(records={**_records(A, 0), **_records(B, 5)}, membership=1),
        Polled(assigned=[B], revoked=[A, B], membership=2),
        Polled(records=_records(B, 5)),
    )
    intake = Intake(source, clock, batch_size=100, batch_wait_s=1.0)
    polled = intake.poll(0.5)
    assert (polled.assigned, polled.revoked) == ([B], [A, B])
    assert _offsets(polled) == {}
    assert polled.membership == 2


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
