"""What a report says is to be done."""

from __future__ import annotations

from typing import Any

import msgspec

from aggregators.quality import FLAGS
from connector.domain.config import Assign, Declaration, ProjectConfig, effective
from connector.domain.ids import Id
from connector.reports.advice import GOLD, advice
from connector.reports.meanings import MEANINGS

DONE = {"tasks": 9, "open": 0, "ambiguous": 0, "votes": 30, "budget_used": 30}


def config(budget: int | None = None) -> ProjectConfig:
    assign = msgspec.structs.replace(Assign(), budget=budget)
    return effective(Declaration(kind="binary", classes=[Id("0"), Id("1")], assign=assign))


def said(budget: int | None = None, gold: int = GOLD, reconciled: bool = True, **row: Any) -> str:
    return " ".join(advice(DONE | row, config(budget), gold, reconciled=reconciled))


def test_a_project_that_wants_nothing_is_told_so() -> None:
    assert said() == "All tasks are resolved."
    assert said(open=3) == ""


def test_what_stands_in_the_way_is_named_with_what_mends_it() -> None:
    assert "`annotation.submitted`" in said(tasks=0)
    assert said(open=1, budget=30).startswith("The budget is used up and 1 task is open")
    assert said(open=1, budget=31) == ""
    assert said(open=2, ambiguous=2).startswith("2 tasks are ambiguous")
    assert "(`task.gold`; there are 49)" in said(open=1, gold=GOLD - 1)
    assert "`crowdresolve reconcile`" in said(open=1, reconciled=False)
    assert said(open=1, reconciled=False, votes=0) == ""


def test_every_flag_says_what_it_means_and_what_to_do() -> None:
    assert tuple(MEANINGS) == FLAGS
    for meaning in MEANINGS.values():
        assert meaning.says[0].islower()
        assert meaning.do[0].isupper()
        assert not meaning.says.endswith(".")
        assert not meaning.do.endswith(".")
