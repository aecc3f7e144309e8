"""Which method a run uses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aggregators import COLA, METHODS, SortedSBIC
from connector.reconcile import fitting
from connector.reconcile.choosing import best, candidates, choose
from connector.reconcile.fitting import Unsound, fit
from connector.reconcile.result import compute

from .crowds import crowd, snapshot


@pytest.mark.parametrize(
    ("kind", "K", "default", "others"),
    [
        ("binary", 2, "sorted_sbic", {"cola", "dawid_skene"}),
        ("categorical", 3, "sorted_sbic", {"dawid_skene"}),
        ("ordinal", 3, "cola", {"sorted_sbic", "dawid_skene"}),
    ],
)
def test_the_default_follows_the_kind_and_gold_is_asked_from_fifty_on(
    kind: str, K: int, default: str, others: set[str]
) -> None:
    votes, truth = crowd(K, tasks=70)
    few = snapshot(votes, K, kind=kind, truth=dict(enumerate(truth[:49])))
    choice = choose(few, "auto")
    assert (choice.algorithm, dict(choice.errors)) == (default, {})
    assert "49 gold tasks are too few" in choice.why
    many = snapshot(votes, K, kind=kind, truth=dict(enumerate(truth[:50])))
    assert set(choose(many, "auto").errors) == {default, *others}
    assert candidates(many)[0] == default


def wrongs(n: int, count: int, start: int = 0) -> Any:
    wrong = np.zeros(n, dtype=bool)
    wrong[start : start + count] = True
    return wrong


def test_only_a_lead_of_two_standard_errors_leaves_the_default() -> None:
    """It is right on k tasks more, and on none less.

    The lead is k/100, with a standard error of sqrt(k (100 - k) / 99)/100. Four suffice:
    0.04 against twice 0.0197; three do not: 0.03 against twice 0.0171.
    """
    three = {"cola": wrongs(100, 20), "dawid_skene": wrongs(100, 17)}
    four = {"cola": wrongs(100, 20), "dawid_skene": wrongs(100, 16)}
    assert best(three, "cola")[0] == "cola"
    assert "within two standard errors" in best(three, "cola")[1]
    assert best(four, "cola")[0] == "dawid_skene"
    assert "more than two standard errors" in best(four, "cola")[1]


def test_a_lead_that_is_won_on_some_tasks_and_lost_on_others_is_worth_less() -> None:
    """A larger lead, but by 20 tasks against 15 others."""
    apart = {"cola": wrongs(100, 20), "dawid_skene": wrongs(100, 15, start=50)}
    assert best(apart, "cola")[0] == "cola"


def test_of_equals_the_default_stays() -> None:
    same = {"sorted_sbic": wrongs(60, 5), "cola": wrongs(60, 5)}
    assert best(same, "sorted_sbic")[0] == "sorted_sbic"


def test_candidates_are_judged_on_gold_that_they_have_not_seen() -> None:
    """Gold that contradicts every vote: who had seen it would make no mistakes."""
    votes, truth = crowd(2, tasks=60, good=0.95)
    against = {i: 1 - truth[i] for i in range(50)}
    choice = choose(snapshot(votes, 2, truth=against), "auto")
    assert min(choice.errors.values()) > 0.9


def test_the_chosen_method_is_fitted_again_with_the_gold() -> None:
    votes, truth = crowd(2, tasks=60, good=0.7)
    s = snapshot(votes, 2, truth=dict(enumerate(truth[:50])))
    result = compute(s, "auto")
    seen = fit(s, result.algorithm, gold=True)
    np.testing.assert_array_equal(result.probas, seen.probas)
    assert dict(result.gold_errors).keys() == {"sorted_sbic", "cola", "dawid_skene"}
    assert result.why


def test_what_is_asked_for_is_used() -> None:
    votes, truth = crowd(2, tasks=60)
    s = snapshot(votes, 2, truth=dict(enumerate(truth[:50])))
    assert choose(s, "dawid_skene").algorithm == "dawid_skene"
    assert compute(s, "dawid_skene").algorithm == "dawid_skene"


def test_a_bound_that_falls_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    votes, _ = crowd(3)
    s = snapshot(votes, 3, kind="ordinal")

    class Falling(COLA):
        elbo_history_ = np.array([-10.0, -5.0, -5.1])

        def _report(self, *_: Any) -> dict[str, Any]:
            return {"worker_cluster_probas_": np.eye(9)}

    monkeypatch.setitem(METHODS, "cola", Falling)
    with pytest.raises(Unsound, match=r"the bound fell from -5 to -5\.1 in sweep 3"):
        fit(s, "cola", gold=False)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_not_finite_is_refused(monkeypatch: pytest.MonkeyPatch, value: float) -> None:
    votes, _ = crowd(2)

    class Broken(SortedSBIC):
        def _solve(self, *arguments: Any) -> Any:
            found = super()._solve(*arguments)
            found.extra["log_weights_"][4, 1] = value
            return found

    monkeypatch.setitem(METHODS, "sorted_sbic", Broken)
    with pytest.raises(Unsound, match="log-weight of 1 tasks is not finite"):
        fit(snapshot(votes, 2), "sorted_sbic", gold=False)


def test_a_project_too_large_for_a_method_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    votes, _ = crowd(4)
    s = snapshot(votes, 4, kind="ordinal")
    monkeypatch.setattr(fitting, "COLA_CLASSES", 3)
    monkeypatch.setattr(fitting, "DAWID_SKENE_CELLS", 100)
    assert candidates(s) == ["sorted_sbic"]
    for method in ("cola", "dawid_skene"):
        with pytest.raises(Unsound, match=r"classes|confusion matrices"):
            fit(s, method, gold=False)
