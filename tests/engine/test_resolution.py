"""When a task resolves, is revised, is reopened: each rule as the contract words it."""

from __future__ import annotations

from typing import Any

import pytest

from connector.domain.config import Declaration, ProjectConfig, Resolve, effective
from connector.engine.resolve import Standing, Verdict, judge


def config(**resolve: Any) -> ProjectConfig:
    return effective(
        Declaration(kind="categorical", classes=["a", "b", "c"], resolve=Resolve(**resolve))  # type: ignore[list-item]
    )


CONFIG = config(confidence=0.9, min_labels=2, ambiguity=0.6, reopen_confidence=0.7)


def verdict(
    status: str,
    label: int | None,
    top: int,
    conf: float,
    n: int,
    *,
    truth: int | None = None,
    expert: int | None = None,
    max_labels: int | None = None,
) -> Verdict | None:
    return judge(Standing(status, label, top, conf, n, truth, expert, max_labels), CONFIG)


def test_open_resolves_when_confident_with_enough_labels() -> None:
    assert verdict("open", None, 1, 0.9, 2) == ("label.resolved", "confident", 1)
    assert verdict("open", None, 1, 0.9, 1) is None
    assert verdict("open", None, 1, 0.89, 5) is None


def test_open_is_capped_at_max_labels_or_ambiguous_where_nobody_knows() -> None:
    assert verdict("open", None, 1, 0.6, 3, max_labels=3) == ("label.resolved", "capped", 1)
    assert verdict("open", None, 1, 0.59, 3, max_labels=3) == ("label.resolved", "ambiguous", 1)
    assert verdict("open", None, 1, 0.95, 3, max_labels=3) == ("label.resolved", "confident", 1)


def test_at_max_labels_nothing_reopens() -> None:
    assert verdict("confident", 1, 1, 0.3, 4, max_labels=4) == ("label.revised", "ambiguous", 1)
    assert verdict("capped", 1, 2, 0.65, 4, max_labels=4) == ("label.revised", "capped", 2)
    assert verdict("capped", 1, 1, 0.65, 4, max_labels=4) is None


def test_another_confident_top_revises() -> None:
    assert verdict("confident", 1, 2, 0.9, 3) == ("label.revised", "confident", 2)


def test_another_top_that_is_not_confident_reopens() -> None:
    assert verdict("confident", 1, 2, 0.8, 3) == ("label.reopened", "open", 2)


def test_a_confidence_below_the_reopening_one_reopens() -> None:
    assert verdict("confident", 1, 1, 0.69, 3) == ("label.reopened", "open", 1)
    assert verdict("confident", 1, 1, 0.7, 3) is None


def test_too_few_labels_reopen() -> None:
    assert verdict("confident", 1, 1, 0.99, 1) == ("label.reopened", "open", 1)


def test_another_status_by_the_open_rule_revises() -> None:
    assert verdict("capped", 1, 1, 0.95, 3) == ("label.revised", "confident", 1)


@pytest.mark.parametrize("status", ["confident", "capped", "ambiguous", "adjudicated"])
def test_gold_revises_what_was_resolved_before(status: str) -> None:
    assert verdict(status, 1, 1, 1.0, 3, truth=2) == ("label.revised", "gold", 2)
    assert verdict(status, 2, 2, 1.0, 3, truth=2) == ("label.revised", "gold", 2)


def test_gold_resolves_what_was_open_and_votes_change_nothing() -> None:
    assert verdict("open", None, 2, 1.0, 0, truth=2) == ("label.resolved", "gold", 2)
    assert verdict("gold", 2, 2, 1.0, 9, truth=2) is None


def test_a_truth_that_is_no_longer_known_leaves_the_open_rule() -> None:
    assert verdict("gold", 2, 1, 0.95, 3) == ("label.revised", "confident", 1)
    assert verdict("gold", 2, 1, 0.5, 3) == ("label.reopened", "open", 1)


def test_an_expert_adjudicates_what_is_ambiguous() -> None:
    assert verdict("ambiguous", 1, 1, 0.5, 4, expert=2) == ("label.revised", "adjudicated", 2)
    assert verdict("open", None, 1, 0.5, 4, expert=2) is None


def test_only_an_expert_changes_a_verdict_again() -> None:
    assert verdict("adjudicated", 2, 1, 0.99, 9) is None
    assert verdict("adjudicated", 2, 1, 0.99, 9, expert=2) is None
    assert verdict("adjudicated", 2, 1, 0.99, 9, expert=0) == ("label.revised", "adjudicated", 0)
