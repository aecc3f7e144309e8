"""Stated confidence and its slope, against algorithms.md and by hand."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from . import model
from .script import Script


def equal_votes(n: int, K: int, p: float = 2 / 3) -> model.PerClass:
    prior = {str(x): 1 / K for x in range(K)}
    return model.stated(prior, [("0", p)] * n, 0.1)


# --- doubt ------------------------------------------------------------------------------------


def test_without_doubt_the_posterior_is_stated() -> None:
    q = model.stated({"a": 0.5, "b": 0.5}, [("a", 0.8), ("a", 0.8), ("b", 0.6)], 0)
    assert q["a"] == pytest.approx(16 * 0.4 / (16 * 0.4 + 0.6))


def test_doubt_of_two_classes_takes_misleading_votes_as_coin_flips() -> None:
    q = model.stated({"a": 0.5, "b": 0.5}, [("a", 0.8), ("a", 0.8)], 0.1)
    good, coin = 0.9 * (0.5 * 0.64 + 0.5 * 0.04), 0.1 * 0.25
    w = coin / (good + coin)
    assert q["a"] == pytest.approx((1 - w) * 16 / 17 + w * 0.5)


def test_doubt_of_more_classes_takes_misleading_votes_as_an_urn() -> None:
    q = model.stated({"a": 0.5, "b": 0.3, "c": 0.2}, [("a", 0.8), ("b", 0.6), ("a", 0.7)], 0.2)
    m = {
        "a": 0.5 * 0.8 * 0.2 * 0.7,
        "b": 0.3 * 0.1 * 0.6 * 0.15,
        "c": 0.2 * 0.1 * 0.2 * 0.15,
    }
    # The urn has 10/3 balls per class and gets one more of the colour drawn.
    urn = (10 / 3 / 10) * (10 / 3 / 11) * ((10 / 3 + 1) / 12)
    good = 0.8 * sum(m.values())
    w = 0.2 * urn / (0.2 * urn + good)
    expected = (1 - w) * m["a"] / sum(m.values()) + w * 0.5
    assert q["a"] == pytest.approx(expected)


def test_the_urn_counts_at_most_ten_votes() -> None:
    assert equal_votes(60, 3)["0"] > 0.99
    g_ten = model.log_dirichlet_multinomial([10, 0, 0], 10)
    w = model.misleading({"a": 5.0, "b": 0.0, "c": 0.0}, ["a"] * 12, 0.5)
    A = model.log_sum_exp({"a": 5.0, "b": 0.0, "c": 0.0})
    assert w == pytest.approx(model.sigmoid(g_ten - 2 * math.log(3) - A))


@pytest.mark.parametrize("K", range(2, 11))
@pytest.mark.parametrize("p", [2 / 3, 0.8, 0.99])
def test_agreeing_votes_never_lower_the_stated_top(K: int, p: float) -> None:
    tops = [equal_votes(n, K, p)["0"] for n in [*range(30), 60, 100, 300, 1000]]
    for before, after in pairwise(tops):
        assert after >= before - 1e-12


def test_a_tie_within_1e_9_goes_to_the_earlier_class() -> None:
    assert model.top_of({"b": 0.5 - 4e-10, "a": 0.5 + 4e-10}) == "b"
    assert model.top_of({"b": 0.5 - 4e-9, "a": 0.5 + 4e-9}) == "a"


# --- the slope --------------------------------------------------------------------------------


def test_the_slope_acts_on_the_logit_of_the_top_and_scales_the_others() -> None:
    q = model.sloped({"a": 0.8, "b": 0.15, "c": 0.05}, 0.5)
    assert q["a"] == pytest.approx(2 / 3)  # the root of 4 to 1
    assert q["b"] / q["c"] == pytest.approx(3)
    assert sum(q.values()) == pytest.approx(1)


def test_the_slope_leaves_a_top_of_at_most_one_half() -> None:
    for q in ({"a": 0.5, "b": 0.3, "c": 0.2}, {"a": 0.45, "b": 0.3, "c": 0.25}):
        assert model.sloped(q, 0.5) == q


def test_z_is_clipped_to_20_and_probabilities_still_sum_to_1() -> None:
    for q in ({"a": 1.0, "b": 0.0, "c": 0.0}, {"a": 1 - 1e-16, "b": 1e-16, "c": 0.0}):
        sloped = model.sloped(q, 0.5)
        assert sloped["a"] == pytest.approx(model.sigmoid(10))
        assert sum(sloped.values()) == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize(("K", "b0"), [(2, 0.9), (3, 0.6)])
def test_newton_finds_the_root_of_the_posteriors_slope(K: int, b0: float) -> None:
    records = {"x": (2.0, 1), "y": (3.0, 0), "z": (-0.5, 1)}
    b = model.learn_slope(records, 1.0, K)
    G = -(b - b0) / 0.0625 + sum((hit - model.sigmoid(b * z)) * z for z, hit in records.values())
    assert abs(G) < 1e-9


def test_the_slope_stays_within_its_bounds() -> None:
    assert model.learn_slope({str(n): (20.0, 0) for n in range(400)}, 1.0, 2) == 0.05
    assert model.learn_slope({str(n): (0.1, 1) for n in range(9000)}, 1.0, 2) == 3


# --- records ----------------------------------------------------------------------------------


def b_of(p: Script) -> float:
    return p.fold.projects["p"].b


def records_of(p: Script) -> dict[str, tuple[float, int]]:
    return p.fold.projects["p"].records


def record_of(p: Script, task: str) -> list[float]:
    return list(records_of(p)[task])


def test_without_a_record_b_is_1_and_nothing_is_changed() -> None:
    p = Script()
    p.gold("g", "1")
    p.votes("g", "1")
    assert (b_of(p), records_of(p)) == (1, {})
    p.votes("t", "11")
    assert p.task("t")["confidence"] == pytest.approx(4 / 5)


def test_without_a_record_not_even_the_clip_of_z_acts() -> None:
    p = Script(model={"worker_prior": [1e6, 1e-6]})
    p.votes("t", "11")
    assert p.task("t")["confidence"] > 1 - 2e-12  # the clip would make it 1 - 2e-9


def test_a_gold_task_with_two_votes_has_a_record_of_its_shadow() -> None:
    p = Script()
    p.gold("g", "1")
    p.votes("g", "00")
    assert record_of(p, "g") == pytest.approx([math.log(4), 0])
    assert b_of(p) == pytest.approx(model.learn_slope({"g": (math.log(4), 0)}, 1.0, 2))
    assert b_of(p) < 0.9


def test_a_record_is_replaced_at_the_next_vote_and_moves_to_the_end() -> None:
    p = Script()
    for name in "gh":
        p.gold(name, "1")
        p.votes(name, "11")
    assert list(records_of(p)) == ["g", "h"]
    p.votes("g", "1", start=3)
    assert list(records_of(p)) == ["h", "g"]
    assert record_of(p, "g") == pytest.approx([math.log(8), 1])


def test_a_new_slope_is_used_at_a_tasks_next_event_only() -> None:
    p = Script()
    p.votes("t", "11")
    p.gold("g", "1")
    p.votes("g", "00")
    assert p.task("t")["confidence"] == pytest.approx(4 / 5)
    p.votes("t", "1", start=3)
    assert p.task("t")["confidence"] == pytest.approx(model.sigmoid(b_of(p) * math.log(8)))


def test_the_slope_changes_before_the_task_is_judged() -> None:
    p = Script()
    p.votes("g", "11")
    p.gold("g", "0")
    assert b_of(p) < 1
    p.gold("g", None)
    assert (b_of(p), records_of(p)) == (1, {})
    assert p.task("g")["confidence"] == pytest.approx(4 / 5)


def test_a_record_goes_with_too_few_votes() -> None:
    p = Script()
    p.gold("g", "1")
    p.votes("g", "11")
    p.block("g-w1")
    assert records_of(p) == {}
    p.unblock("g-w1")
    assert list(records_of(p)) == ["g"]
    p.retract("g", "g-w2")
    assert records_of(p) == {}


def test_after_a_removal_newton_runs_over_those_that_remain() -> None:
    p = Script()
    for name in "gh":
        p.gold(name, "1")
        p.votes(name, "00")
    p.gold("g", None)
    assert b_of(p) == pytest.approx(model.learn_slope({"h": (math.log(4), 0)}, 1.0, 2))


def test_changed_gold_and_a_changed_prior_replace_the_record() -> None:
    p = Script()
    p.gold("g", "1")
    p.votes("g", "11")
    p.gold("g", "0")
    assert record_of(p, "g") == pytest.approx([math.log(4), 0])
    p.event("task.added", task="g", prior=[1, 2])
    assert record_of(p, "g") == pytest.approx([math.log(8), 0])


def test_what_concerns_no_vote_leaves_the_order_of_records() -> None:
    p = Script()
    for name in "gh":
        p.gold(name, "1")
        p.votes(name, "11")
    p.event("task.added", task="g", max_labels=9)
    p.event("task.withdrawn", task="g")
    p.skip("g", "somebody")
    assert list(records_of(p)) == ["g", "h"]


def test_a_declaration_changes_no_record() -> None:
    p = Script("abc")
    p.gold("g", "a")
    p.votes("g", "aa")
    before, b = dict(records_of(p)), b_of(p)
    p.declare("abcd", resolve={"confidence": 0.9}, model={"class_prior": [4, 1, 1, 1]})
    assert (records_of(p), b_of(p)) == (before, b)


def test_calibrate_false_drops_all_records_and_true_again_waits_for_events() -> None:
    p = Script()
    p.gold("g", "1")
    p.votes("g", "00")
    p.declare(resolve={"calibrate": False})
    assert (b_of(p), records_of(p)) == (1, {})
    p.votes("g", "0", start=3)
    p.declare()
    assert records_of(p) == {}
    p.votes("g", "0", start=4)
    assert list(records_of(p)) == ["g"]


def test_the_500_last_updated_records_are_kept() -> None:
    p = Script()
    for number in range(501):
        p.gold(f"g{number}", "1")
        p.votes(f"g{number}", "11")
    assert len(records_of(p)) == 500
    assert "g0" not in records_of(p)


def test_the_view_shows_the_hits_among_gold_tasks_resolved_at_the_stop_value() -> None:
    p = Script(resolve={"confidence": 0.7})
    for name, labels in (("g", "111"), ("h", "1111"), ("i", "000"), ("j", "10")):
        p.gold(name, "1")
        p.votes(name, labels)
    (row,) = p.fold.calibration()
    b = b_of(p)
    assert (row["b"], row["gold_tasks"], row["resolved"], row["right"]) == (b, 4, 3, 2)
    stated = [model.sigmoid(b * math.log(odds)) for odds in (8, 16, 8)]
    assert row["stated_mean"] == pytest.approx(sum(stated) / 3)
