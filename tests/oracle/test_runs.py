"""Reconciliation in the log: what interface.md says, computed by hand.

Two classes, no doubt, and fresh workers of p = 2/3 unless a run says otherwise. Where a base is
[0, 0] the odds of "1" against "0" are those of the votes alone.
"""

from __future__ import annotations

from math import log
from typing import Any

import pytest

from .script import Said, Script

RESOLVED, REVISED, REOPENED = "label.resolved", "label.revised", "label.reopened"
DAY = 86_400.0


@pytest.fixture
def p() -> Script:
    """Nothing resolves."""
    return Script(resolve={"confidence": 1})


def odds(p: Script, task: str = "t") -> float:
    shares = p.task(task)["probabilities"]
    return float(shares["1"] / shares["0"])


def status(p: Script, name: str = "r") -> tuple[str, str | None]:
    row = p.run_row(name)
    return row["status"], row["reason"]


# --- weights ----------------------------------------------------------------------------------


def test_an_adopted_task_is_its_base_plus_its_votes_with_the_runs_p(p: Script) -> None:
    p.vote("t", "w", "1")
    p.vote("t", "v", "0")
    p.run({"t": [0, log(3)]}, {"w": 0.9, "v": 0.6})
    assert p.outcome == "applied"
    assert odds(p) == pytest.approx(3 * 9 * (4 / 6))
    assert p.task("t")["algorithm"] == "sorted_sbic"


def test_a_vote_of_a_worker_whom_the_run_does_not_name_keeps_its_own_p(p: Script) -> None:
    p.vote("t", "w", "1")
    p.vote("t", "v", "1")
    p.run({"t": [0, 0]}, {"w": 0.9})
    assert odds(p) == pytest.approx(9 * 2)


def test_a_vote_from_upto_on_weighs_with_its_own_p(p: Script) -> None:
    p.vote("t", "w", "1")
    upto = p.offset
    p.vote("t", "v", "1")
    p.run({"t": [0, 0]}, {"w": 0.9, "v": 0.9}, upto=upto)
    assert odds(p) == pytest.approx(9 * 2)
    p.vote("t", "u", "1")
    assert odds(p) == pytest.approx(9 * 2 * 2)
    assert p.task("t")["algorithm"] == "sorted_sbic"


def test_workers_are_judged_by_what_the_run_says_of_their_tasks(p: Script) -> None:
    p.vote("t", "w", "1")
    p.vote("x", "w", "1")
    p.run({"t": [0, 0], "x": [0, 0]}, {"w": 0.75})
    assert p.worker("w")["accuracy"] == pytest.approx((0.75 + 0.75 + 2) / 5)
    p.vote("y", "w", "1")
    share = (0.75 + 0.75 + 2) / 5
    assert odds(p, "y") == pytest.approx(share / (1 - share))


def test_a_task_that_the_run_does_not_name_keeps_its_prior_as_base(p: Script) -> None:
    p.vote("t", "w", "1")
    p.vote("x", "v", "1")
    p.run({"t": [0, 1]}, {"v": 0.9})
    assert odds(p, "x") == pytest.approx(9)
    assert p.task("x")["algorithm"] == "fast_sbic"


def test_tasks_and_workers_that_nobody_knows_are_passed_over(p: Script) -> None:
    p.vote("t", "w", "1")
    p.run({"t": [0, 0], "nobody's": [0, 5]}, {"nobody": 0.9})
    assert status(p) == ("adopted", None)
    assert [row["task"] for row in p.fold.task_labels()] == ["t"]
    assert [row["worker"] for row in p.fold.worker_quality()] == ["w"]


def test_the_runs_p_is_clipped(p: Script) -> None:
    p.vote("t", "w", "1")
    p.run({"t": [0, 0]}, {"w": 1})
    assert p.task("t")["probabilities"]["1"] == pytest.approx(1 - 1e-6, abs=1e-12)


# --- after adoption ---------------------------------------------------------------------------


def test_a_retracted_vote_is_a_term_left_out(p: Script) -> None:
    p.vote("t", "w", "1")
    p.vote("t", "v", "1")
    p.run({"t": [0, log(3)]}, {"w": 0.9, "v": 0.8})
    p.retract("t", "w")
    assert odds(p) == pytest.approx(3 * 4)


def test_a_task_without_a_counting_vote_from_before_upto_has_its_prior_again(p: Script) -> None:
    p.vote("t", "w", "1")
    p.run({"t": [0, log(3)]}, {"w": 0.9})
    p.vote("t", "v", "1")
    p.retract("t", "w")
    assert odds(p) == pytest.approx(2)
    assert p.task("t")["algorithm"] == "fast_sbic"
    p.retract("t", "v")
    assert odds(p) == pytest.approx(1)


def test_a_vote_retracted_between_snapshot_and_adoption_is_left_out_too(p: Script) -> None:
    p.vote("t", "w", "1")
    p.vote("t", "v", "1")
    upto = p.offset
    p.retract("t", "w")
    p.run({"t": [0, log(3)]}, {"w": 0.9, "v": 0.8}, upto=upto)
    assert odds(p) == pytest.approx(3 * 4)


def test_a_replacing_vote_has_its_own_p(p: Script) -> None:
    p.vote("t", "w", "1")
    p.vote("t", "v", "1")
    p.run({"t": [0, log(3)]}, {"w": 0.9, "v": 0.8})
    p.vote("t", "w", "0")
    assert odds(p) == pytest.approx(3 * 4 / 2)


def test_blocking_leaves_terms_out_and_unblocking_puts_them_back(p: Script) -> None:
    p.vote("t", "w", "1")
    p.run({"t": [0, log(3)]}, {"w": 0.9})
    p.block("w")
    assert odds(p) == pytest.approx(1)
    assert p.task("t")["algorithm"] == "fast_sbic"
    p.unblock("w")
    assert odds(p) == pytest.approx(3 * 9)
    assert p.task("t")["algorithm"] == "sorted_sbic"


def test_gold_stays_and_beneath_it_lies_the_run(p: Script) -> None:
    p.vote("t", "w", "1")
    p.gold("t", "0")
    assert p.run({"t": [0, log(3)]}, {"w": 0.9}) == []
    assert p.task("t")["label"] == "0"
    assert p.task("t")["algorithm"] == "sorted_sbic"
    assert p.worker("w")["accuracy"] == pytest.approx(2 / 4)
    p.gold("t", None)
    assert odds(p) == pytest.approx(3 * 9)


def test_a_changed_class_prior_moves_the_base(p: Script) -> None:
    p.vote("t", "w", "1")
    p.run({"t": [0, log(3)]}, {"w": 0.9})
    p.declare(resolve={"confidence": 1}, model={"class_prior": [1, 4]})
    assert odds(p) == pytest.approx(3 * 9 * 4)


def test_a_tasks_own_prior_moves_its_base_and_shields_it(p: Script) -> None:
    p.vote("t", "w", "1")
    p.run({"t": [0, log(3)]}, {"w": 0.9})
    p.event("task.added", task="t", prior=[1, 2])
    assert odds(p) == pytest.approx(3 * 9 * 2)
    p.declare(resolve={"confidence": 1}, model={"class_prior": [1, 4]})
    assert odds(p) == pytest.approx(3 * 9 * 2)
    p.event("task.added", task="t", prior=[1, 8])
    assert odds(p) == pytest.approx(3 * 9 * 8)


def test_an_added_class_has_its_log_prior_as_base() -> None:
    p = Script("ab", "categorical", resolve={"confidence": 1})
    p.vote("t", "w", "a")
    p.run({"t": [log(1 / 2), log(1 / 2)]}, {"w": 0.8})
    p.declare("abc", resolve={"confidence": 1})
    shares = p.task("t")["probabilities"]
    # The others' prior went from 1/2 to 1/3; the vote weighs 0.8 against 0.1 twice.
    assert shares["a"] == pytest.approx(0.8)
    assert shares["c"] == pytest.approx(0.1)


def test_a_prior_that_goes_with_a_new_class_gives_its_part_of_the_base_back() -> None:
    p = Script("ab", "categorical", resolve={"confidence": 1})
    p.event("task.added", task="t", prior=[1, 3])
    p.vote("t", "w", "a")
    p.run({"t": [log(1 / 4), log(3 / 4)]}, {"w": 0.8})
    p.declare("abc", resolve={"confidence": 1})
    shares = p.task("t")["probabilities"]
    assert shares["a"] == pytest.approx(0.8)
    assert shares["b"] == pytest.approx(0.1)


def test_classes_in_another_order_keep_their_bases() -> None:
    p = Script("ab", "categorical", resolve={"confidence": 1})
    p.vote("t", "w", "a")
    p.run({"t": [log(3), 0]}, {"w": 0.8})
    p.declare("ba", "categorical", resolve={"confidence": 1})
    assert p.task("t")["probabilities"]["a"] == pytest.approx(12 / 13)


# --- a second run -----------------------------------------------------------------------------


def test_a_second_run_takes_the_place_of_the_first(p: Script) -> None:
    p.vote("t", "w", "1")
    p.vote("x", "v", "1")
    p.run({"t": [0, 1], "x": [0, 2]}, {"w": 0.9, "v": 0.9})
    p.run({"t": [0, log(5)]}, {"w": 0.6}, name="s", algorithm="dawid_skene")
    assert odds(p) == pytest.approx(5 * 1.5)
    assert p.task("t")["algorithm"] == "dawid_skene"
    # It named neither x nor its worker: prior and own p, not those of the run before.
    assert odds(p, "x") == pytest.approx(2)
    assert p.task("x")["algorithm"] == "fast_sbic"


def test_a_run_without_a_larger_upto_is_refused(p: Script) -> None:
    p.vote("t", "w", "1")
    p.run({"t": [0, log(3)]}, {"w": 0.9}, upto=2)
    p.run({"t": [0, 9]}, {"w": 0.6}, name="s", upto=2)
    assert (p.outcome, p.code()) == ("dead", "run_outdated")
    assert status(p, "s") == ("refused", "run_outdated")
    assert odds(p) == pytest.approx(3 * 9)


# --- messages ---------------------------------------------------------------------------------


def unguarded() -> Script:
    """Resolves at three votes that agree; no run is held."""
    return Script(
        resolve={"confidence": 0.85, "reopen_confidence": 0.75},
        reconcile={"max_flip_fraction": 1},
    )


def test_tasks_are_judged_in_order_of_first_appearance_and_told_with_the_runs_algorithm() -> None:
    p = unguarded()
    p.votes("b", "111")
    p.votes("a", "11")
    p.vote("c", "w", "1")
    said = p.run({"c": [0, 0], "a": [0, 3], "b": [9, 0]}, algorithm="dawid_skene")
    assert said == [Said(REVISED, "0", "confident", 2), Said(RESOLVED, "1", "confident", 1)]
    values: list[Any] = [message.value for message in p.fold.messages[-2:]]
    assert [value["task"] for value in values] == ["b", "a"]
    assert {value["algorithm"] for value in values} == {"dawid_skene"}
    assert p.task("c")["updated_at"] == p.task("b")["resolved_at"]


def test_a_task_that_the_run_leaves_unsure_is_reopened() -> None:
    p = unguarded()
    p.votes("t", "111")
    assert p.run({"t": [log(4), 0]}) == [Said(REOPENED, "1", "open", 2)]
    p = unguarded()
    p.votes("t", "111")
    assert p.run({"t": [log(16), 0]}) == [Said(REOPENED, "0", "open", 2)]


def test_records_of_gold_tasks_follow_the_run() -> None:
    p = Script()
    p.votes("t", "11")
    p.gold("t", "1")
    before = p.fold.calibration()[0]["b"]
    p.run({"t": [0, log(50)]})
    assert p.fold.projects["p"].records["t"] == pytest.approx((log(200), 1))
    assert p.fold.calibration()[0]["b"] != before


# --- the guard --------------------------------------------------------------------------------


def resolved(labels: str = "11111") -> Script:
    """Tasks t0, t1, ..., each resolved by one vote."""
    p = Script(resolve={"confidence": 0.6, "min_labels": 1})
    for number, label in enumerate(labels):
        p.vote(f"t{number}", f"w{number}", label)
    return p


def test_a_run_that_flips_a_fifth_of_the_resolved_tasks_is_adopted() -> None:
    p = resolved()
    assert p.run({"t0": [9, 0]}) == [Said(REVISED, "0", "confident", 2)]
    assert p.run_row()["adopted_at"] == p.task("t0")["resolved_at"] == 8_000_000


def test_a_run_that_flips_more_is_held_and_changes_nothing() -> None:
    p = resolved()
    before = p.fold.task_labels(), p.fold.worker_quality()
    assert p.run({"t0": [9, 0], "t1": [9, 0]}, {"w0": 0.9}) == []
    assert p.outcome == "applied"
    assert p.run_row()["status"] == "held"
    assert (p.fold.task_labels(), p.fold.worker_quality()) == before


def test_a_held_run_can_be_approved_once() -> None:
    p = resolved()
    p.run({"t0": [9, 0], "t1": [9, 0]})
    assert len(p.event("reconciliation.approved", run="r")) == 2
    assert status(p) == ("adopted", None)
    p.event("reconciliation.approved", run="r")
    assert p.outcome == "duplicates"
    p.event("reconciliation.rejected", run="r")
    assert p.outcome == "duplicates"


def test_a_held_run_can_be_rejected() -> None:
    p = resolved()
    p.run({"t0": [9, 0], "t1": [9, 0]})
    assert p.event("reconciliation.rejected", run="r") == []
    assert p.run_row()["status"] == "rejected"
    p.event("reconciliation.approved", run="r")
    assert p.outcome == "duplicates"


def test_nobody_can_approve_what_is_not_held(p: Script) -> None:
    p.event("reconciliation.approved", run="r")
    assert p.outcome == "duplicates"


def test_an_approved_run_meets_the_votes_that_came_meanwhile() -> None:
    p = resolved()
    p.run({"t0": [9, 0], "t1": [9, 0]}, {"w0": 0.9})
    p.retract("t1", "w1")
    p.vote("t0", "x", "1")
    p.event("reconciliation.approved", run="r")
    shares = p.task("t0")["probabilities"]
    assert log(shares["0"] / shares["1"]) == pytest.approx(9 - log(9) - log(2))
    assert p.task("t1")["algorithm"] == "fast_sbic"


def test_an_approved_run_is_refused_if_a_newer_one_was_adopted() -> None:
    p = resolved()
    p.run({"t0": [9, 0], "t1": [9, 0]})
    p.run({}, name="s")
    assert status(p, "s") == ("adopted", None)
    assert p.event("reconciliation.approved", run="r") == []
    assert (p.outcome, p.code()) == ("dead", "run_outdated")
    assert status(p) == ("refused", "run_outdated")


def test_an_experts_verdict_counts_as_resolved_but_never_flips() -> None:
    p = Script(
        resolve={"confidence": 0.9, "max_labels": 2, "ambiguity": 0.9, "reopen_confidence": 0},
        assign={"experts": ["anna"]},
    )
    for task in ("s", "t"):
        p.votes(task, "10")
        p.vote(task, "anna", "1")
        assert p.task(task)["status"] == "adjudicated"
    p.run({"t": [9, 0], "s": [9, 0]})
    assert status(p) == ("adopted", None)
    assert p.task("t")["label"] == "1"


def test_gold_counts_as_resolved_but_never_flips() -> None:
    p = resolved("1111")
    p.gold("t0", "1")
    p.gold("t5", "1")
    # Of five resolved tasks t1 would flip; t0 is gold.
    assert len(p.run({"t0": [9, 0], "t1": [9, 0]})) == 1


def test_without_a_resolved_task_there_is_nothing_to_guard(p: Script) -> None:
    p.vote("t", "w", "1")
    p.declare(resolve={"confidence": 1}, reconcile={"max_flip_fraction": 0})
    p.run({"t": [9, 0]})
    assert status(p) == ("adopted", None)


# --- parts ------------------------------------------------------------------------------------


def test_parts_may_come_in_any_order_with_others_between(p: Script) -> None:
    p.vote("t", "w", "1")
    p.vote("x", "w", "1")
    upto = p.offset
    p.part("r", 1, tasks=[{"task": "x", "base": [0, 2]}])
    p.vote("t", "v", "1")
    p.part("r", 0, workers=[{"worker": "w", "p": 0.9, "flag": None, "flag_reason": None}])
    p.part("r", 2, tasks=[{"task": "t", "base": [0, log(3)]}])
    p.completed("r", upto, 3)
    assert odds(p) == pytest.approx(3 * 9 * 2)


def test_a_run_with_a_part_missing_is_refused(p: Script) -> None:
    p.vote("t", "w", "1")
    p.part("r", 1, tasks=[{"task": "t", "base": [0, 2]}])
    p.completed("r", 2, 2)
    assert (p.outcome, p.code()) == ("dead", "run_parts_missing")
    assert status(p) == ("refused", "run_parts_missing")
    p.part("r", 0, tasks=[])
    assert p.outcome == "duplicates"
    p.completed("r", 2, 2)
    assert p.outcome == "duplicates"
    assert odds(p) == pytest.approx(2)


def test_a_part_that_comes_again_is_a_duplicate(p: Script) -> None:
    p.part("r", 0, tasks=[])
    assert p.outcome == "applied"
    p.part("r", 0, tasks=[])
    assert p.outcome == "duplicates"


def test_parts_without_an_end_are_dropped_after_a_day(p: Script) -> None:
    part = {"type": "reconciliation.part", "project": "p", "run": "r", "part": 0, "tasks": []}
    end = {"type": "reconciliation.completed", "project": "p", "upto": 1, "parts": 1}
    end |= {"algorithm": "cola"}
    p.send(part, seconds=10)
    p.send(b"nonsense", seconds=10 + DAY - 0.001)
    p.send(part, seconds=0)
    assert p.outcome == "duplicates"
    p.send(b"nonsense", seconds=10 + DAY)
    p.send(end | {"run": "r"}, seconds=0)
    assert status(p) == ("refused", "run_parts_missing")


def test_a_held_run_waits_for_longer_than_a_day() -> None:
    p = resolved("1")
    p.run({"t0": [9, 0]})
    approved = {"type": "reconciliation.approved", "project": "p", "run": "r"}
    assert len(p.send(approved, seconds=10 * DAY)) == 1


def test_runs_of_two_projects_do_not_mix(p: Script) -> None:
    declared = {"type": "project.declared", "kind": "binary", "classes": ["0", "1"]}
    p.send(declared | {"project": "q"})
    p.vote("t", "w", "1")
    part = {"type": "reconciliation.part", "run": "r", "part": 0}
    p.send(part | {"project": "q", "tasks": [{"task": "t", "base": [0, 5]}]})
    p.completed("r", 3)
    assert status(p) == ("refused", "run_parts_missing")


# --- other reasons ----------------------------------------------------------------------------


def test_a_failed_run_changes_nothing(p: Script) -> None:
    p.vote("t", "w", "1")
    p.event("reconciliation.completed", run="r", upto=2, parts=0, error="the bound fell")
    assert p.outcome == "applied"
    assert status(p) == ("failed", "the bound fell")
    assert p.run_row()["algorithm"] is None
    assert p.task("t")["algorithm"] == "fast_sbic"


def test_a_base_for_another_number_of_classes_is_refused(p: Script) -> None:
    p.vote("t", "w", "1")
    p.run({"t": [0, 1, 2]})
    assert status(p) == ("refused", "run_other_classes")


def test_a_run_from_before_the_classes_changed_is_refused() -> None:
    p = Script("ab", "categorical")
    p.vote("t", "w", "a")
    upto = p.offset
    p.declare("ba", "categorical")
    p.run({"t": [0, 1]}, upto=upto)
    assert status(p) == ("refused", "run_other_classes")
    p.run({"t": [0, 1]}, name="s")
    assert status(p, "s") == ("adopted", None)


def test_a_run_may_name_the_classes_that_it_is_for() -> None:
    p = Script("ab", "categorical")
    p.vote("t", "w", "a")
    upto = p.offset
    p.declare("ba", "categorical")
    p.run({"t": [0, 1]}, upto=upto, classes=["a", "b"])
    assert status(p) == ("refused", "run_other_classes")
    p.run({"t": [0, 1]}, name="s", upto=upto, classes=["b", "a"])
    assert status(p, "s") == ("adopted", None)


def test_a_held_run_is_refused_when_the_classes_have_changed_since() -> None:
    p = Script("ab", "categorical", resolve={"confidence": 0.6, "min_labels": 1})
    p.vote("t", "w", "a")
    p.run({"t": [0, 9]})
    p.declare("abc", resolve={"confidence": 0.6, "min_labels": 1})
    p.event("reconciliation.approved", run="r")
    assert status(p) == ("refused", "run_other_classes")


# --- views ------------------------------------------------------------------------------------


def test_a_run_is_shown_with_what_its_job_said(p: Script) -> None:
    said: dict[str, Any] = {
        "parameters": {"alpha": 2},
        "summary": {"bound": -1.5, "seconds": 3},
    }
    p.run({}, version="0.3", seed=7, algorithm="cola", **said)
    row = {"project": "p", "run": "r", "upto": 1, "algorithm": "cola", "version": "0.3"}
    row |= {"seed": 7, "bound": -1.5, "parts": 2, "status": "adopted", "reason": None}
    assert p.run_row() == row | said | {"adopted_at": 3_000_000}


def test_workers_and_clusters_are_shown_as_the_last_adopted_run_saw_them(p: Script) -> None:
    p.vote("t", "w", "1")
    p.vote("t", "v", "1")
    w = {"worker": "w", "p": 0.9, "flag": "spammer", "flag_reason": "always 1", "cluster": 2}
    w["confusion"] = [[1, 1, 3.0], [0, 0, 2.5], [1, 0, 1.0]]
    p.part("r", 0, workers=[w])
    p.part("r", 1, clusters=[{"cluster": 2, "confusion": [["0", "1", 4]]}])
    p.completed("r", 3, 2)
    row = p.worker("w")
    assert (row["cluster"], row["flag"], row["flag_reason"]) == (2, "spammer", "always 1")
    assert p.worker("v")["cluster"] is None
    rates = {
        (row["true_class"], row["given_class"]): (row["expected_count"], row["rate"])
        for row in p.fold.worker_confusion()
    }
    assert rates == {("1", "1"): (3, 0.75), ("0", "0"): (2.5, 1), ("1", "0"): (1, 0.25)}
    (row,) = p.fold.cluster_confusion()
    assert (row["cluster"], row["true_class"], row["given_class"], row["rate"]) == (2, "0", "1", 1)
    p.run({}, {"v": 0.9}, name="s")
    assert p.worker("w")["flag"] is None
    assert p.fold.worker_confusion() == p.fold.cluster_confusion() == []


# --- fields -----------------------------------------------------------------------------------

GOOD_PART: dict[str, object] = {"run": "r", "part": 0, "tasks": [{"task": "t", "base": [0, 1]}]}
GOOD_END: dict[str, object] = {"run": "r", "upto": 1, "parts": 1, "algorithm": "cola"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("run", None), ("run", ""), ("run", 1.5), ("part", -1), ("part", 1.0), ("part", None)),
        *(("tasks", {}), ("tasks", [1]), ("tasks", [{"base": [0, 1]}]), ("tasks", [{"task": "t"}])),
        *(("tasks", [{"task": "t", "base": "0"}]), ("tasks", [{"task": "t", "base": [None]}])),
        *(("workers", [{"worker": "w"}]), ("workers", [{"worker": "w", "p": 1.5}])),
        *(("workers", [{"p": 0.5}]), ("workers", [{"worker": "w", "p": 0.5, "flag": 1}])),
        ("workers", [{"worker": "w", "p": 0.5, "confusion": [[0, 1]]}]),
        *(("clusters", []), ("bare", 1)),
    ],
)
def test_a_part_is_checked(p: Script, name: str, value: object) -> None:
    part = GOOD_PART | {name: value}
    if name in ("workers", "bare"):
        del part["tasks"]
    p.event("reconciliation.part", **part)
    assert p.outcome == "dead"
    assert p.code() == "invalid_field"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("run", None), ("upto", None), ("upto", -1), ("upto", "1"), ("parts", None)),
        *(("parts", 1.5), ("algorithm", None), ("algorithm", 1), ("summary", []), ("seed", "0")),
        *(("error", 1), ("parameters", "none"), ("classes", "01"), ("classes", [None])),
    ],
)
def test_an_end_is_checked(p: Script, name: str, value: object) -> None:
    p.event("reconciliation.completed", **(GOOD_END | {name: value}))
    assert p.outcome == "dead"
    assert p.code() == "invalid_field"


def test_a_number_beyond_all_doubles_is_invalid_wherever_it_is(p: Script) -> None:
    end = b'{"type":"reconciliation.completed","project":"p","run":"r","upto":1,"parts":0,'
    p.send(end + b'"algorithm":"cola","summary":{"a":[1e400]}}')
    assert p.outcome == "dead"
    assert p.code() == "invalid_field"


def test_a_run_that_claims_to_have_read_what_comes_after_it_is_no_event(p: Script) -> None:
    p.run({}, upto=p.offset + 9)
    assert (p.outcome, p.code()) == ("dead", "invalid_field")
    assert p.fold.reconciliation_runs() == []


def test_a_run_may_have_more_parts_than_it_says_and_count_them_from_one(p: Script) -> None:
    p.vote("t", "w", "1")
    p.part("r", 1, tasks=[{"task": "t", "base": [0, log(3)]}])
    p.part("r", 2, workers=[])
    p.completed("r", 2, 1)
    assert odds(p) == pytest.approx(3 * 2)
