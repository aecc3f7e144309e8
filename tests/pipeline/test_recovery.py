"""Where a partition goes on: D by the database, K by the group, and what the log still has."""

from __future__ import annotations

import pytest

from connector.domain.errors import Refused
from connector.domain.records import Cursor, TopicPartition
from connector.pipeline.recovery import Resume, resume

P = TopicPartition("annotations", 0)


def decide(
    D: int | None, K: Cursor | None, first: int = 0, end: int = 100, rebuild: bool = False
) -> Resume:
    return resume(P, D, K, first, end, rebuild)


def test_a_new_group_on_an_empty_database_begins_at_the_start() -> None:
    assert decide(None, None) == Resume(0, None, Cursor(0), None, 0)


def test_nothing_is_published_where_both_agree() -> None:
    assert decide(40, Cursor(40)) == Resume(40, None, Cursor(40), None, 0)


def test_what_lies_between_is_published_first() -> None:
    assert decide(40, Cursor(30)) == Resume(40, (Cursor(30), Cursor(40)), Cursor(30), None, 0)


def test_a_record_that_is_half_published_goes_on_at_its_sequence() -> None:
    assert decide(31, Cursor(30, 20_000)).publish == (Cursor(30, 20_000), Cursor(31))


def test_without_a_group_offset_the_whole_outbox_is_published() -> None:
    assert decide(40, None).publish == (Cursor(0), Cursor(40))


def test_a_group_reset_to_0_applies_nothing_twice() -> None:
    assert decide(40, Cursor(0)).read_from == 40


def test_a_group_offset_below_the_logs_start_alone_loses_nothing() -> None:
    assert decide(40, Cursor(3), first=10).publish == (Cursor(3), Cursor(40))


@pytest.mark.parametrize("D", [None, 10])
def test_a_database_behind_the_group_is_refused_with_what_to_do(D: int | None) -> None:
    with pytest.raises(Refused, match="--rebuild"):
        decide(D, Cursor(30))
    with pytest.raises(Refused, match="--rebuild"):
        decide(D, Cursor(D or 0, 5))


def test_rebuild_applies_again_and_publishes_only_what_comes_after() -> None:
    assert decide(None, Cursor(30), rebuild=True) == Resume(0, None, Cursor(30), Cursor(30), 0)
    assert decide(10, Cursor(30), rebuild=True) == Resume(10, None, Cursor(30), Cursor(30), 0)


@pytest.mark.parametrize("D", [None, 10])
def test_records_that_the_log_no_longer_has_are_missed_aloud(D: int | None) -> None:
    with pytest.raises(Refused, match="were deleted"):
        decide(D, None, first=20)
    assert decide(D, None, first=20, rebuild=True).skipped == 20 - (D or 0)


def test_a_log_that_ends_before_the_database_is_another_log() -> None:
    for rebuild in (False, True):
        with pytest.raises(Refused, match="another cluster"):
            decide(101, Cursor(101), rebuild=rebuild)


def test_a_group_offset_past_the_logs_end_says_nothing_of_what_is_published() -> None:
    """Taken at its word, the next records would be applied and never published."""
    with pytest.raises(Refused, match="past the topic's end"):
        decide(100, Cursor(200))
    found = decide(100, Cursor(200), rebuild=True)
    assert found == Resume(100, (Cursor(0), Cursor(100)), Cursor(0), None, 0)
