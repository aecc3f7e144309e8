"""Votes, retractions, skips, blocks, tasks: what interface.md says, computed by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .script import Script

EARLY, LATE = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"


@pytest.fixture
def p() -> Script:
    return Script(resolve={"confidence": 1})


def share(p: Script, task: str, label: str = "1") -> float:
    return float(p.task(task)["probabilities"][label])


# --- weights ----------------------------------------------------------------------------------


def test_a_first_vote_weighs_with_the_prior_accuracy(p: Script) -> None:
    p.vote("t", "w", "1")
    assert share(p, "t") == pytest.approx(2 / 3)
    assert p.worker("w")["accuracy"] == pytest.approx((2 / 3 + 2) / 4)


def test_a_vote_weighs_with_what_the_workers_other_tasks_say_now(p: Script) -> None:
    p.vote("x", "w", "1")
    p.vote("x", "other", "1")  # x is 4/5 now
    p.vote("y", "w", "1")
    assert share(p, "x") == pytest.approx(4 / 5)
    assert share(p, "y") == pytest.approx((4 / 5 + 2) / 4)


def test_a_wrong_answer_is_uniform_over_the_other_classes() -> None:
    p = Script("abc")
    p.votes("t", "aa")
    # 2/3 against 1/6, twice: 16 to 1 to 1.
    assert share(p, "t", "a") == pytest.approx(16 / 18)
    assert share(p, "t", "c") == pytest.approx(1 / 18)


def test_a_class_prior_is_the_base(p: Script) -> None:
    p = Script(model={"class_prior": [1, 3]})
    p.vote("t", "w", "0")
    assert share(p, "t", "0") == pytest.approx(2 / 5)  # 1/4 * 2/3 against 3/4 * 1/3


def test_p_is_clipped() -> None:
    p = Script(model={"worker_prior": [1e6, 1e-6]})
    p.vote("t", "w", "1")
    assert share(p, "t") == pytest.approx(1 - 1e-6, abs=1e-12)


def test_a_worker_interval_is_that_of_its_beta(p: Script) -> None:
    p.event("annotation.skipped", task="t", worker="w")
    row = p.worker("w")
    # Beta(2, 1): the distribution function is x squared.
    assert row["lower"] == pytest.approx(0.025**0.5)
    assert row["upper"] == pytest.approx(0.975**0.5)


# --- the same worker again --------------------------------------------------------------------


def test_a_higher_revision_replaces(p: Script) -> None:
    p.vote("t", "w", "1", revision=1)
    p.vote("t", "w", "0", revision=2)
    assert p.outcome == "applied"
    assert p.votes_on("t") == {"w": "0"}


def test_a_higher_revision_replaces_with_the_same_label_too(p: Script) -> None:
    p.vote("t", "w", "1", revision=1)
    p.vote("t", "w", "1", revision=2)
    assert p.outcome == "applied"


def test_an_equal_revision_is_a_duplicate_whatever_its_label(p: Script) -> None:
    p.vote("t", "w", "1", revision=1)
    p.vote("t", "w", "0", revision=1)
    assert p.outcome == "duplicates"
    assert p.votes_on("t") == {"w": "1"}


def test_a_lower_revision_is_stale(p: Script) -> None:
    p.vote("t", "w", "1", revision=1)
    p.vote("t", "w", "0", revision=-(2**63))
    assert p.outcome == "stale"


def test_times_decide_where_one_vote_has_no_revision(p: Script) -> None:
    p.vote("t", "w", "1", revision=9, at=EARLY)
    p.vote("t", "w", "0", at=LATE)
    assert p.outcome == "applied"
    p.vote("t", "w", "1", revision=10, at=EARLY)
    assert p.outcome == "stale"


def test_revisions_come_before_times(p: Script) -> None:
    p.vote("t", "w", "1", revision=1, at=LATE)
    p.vote("t", "w", "0", revision=2, at=EARLY)
    assert p.outcome == "applied"


def test_the_same_instant_in_another_zone_is_equal(p: Script) -> None:
    p.vote("t", "w", "1", at="2026-01-01T01:00:00.0000019+01:00")
    p.vote("t", "w", "0", at="2026-01-01t00:00:00.000001z")
    assert p.outcome == "duplicates"


def test_not_comparable_the_same_label_is_a_duplicate(p: Script) -> None:
    p.vote("t", "w", "1", revision=1)
    p.vote("t", "w", "1", at=EARLY)
    assert p.outcome == "duplicates"


def test_not_comparable_another_label_replaces(p: Script) -> None:
    p.vote("t", "w", "1", revision=1)
    p.vote("t", "w", "0", at=EARLY)
    assert p.votes_on("t") == {"w": "0"}


def test_a_replacing_vote_has_only_its_own_revision_and_time(p: Script) -> None:
    p.vote("t", "w", "1", revision=5)
    p.vote("t", "w", "0")
    p.vote("t", "w", "1", revision=1)
    assert p.outcome == "applied"
    assert p.votes_on("t") == {"w": "1"}


def test_replacing_is_retract_then_vote(p: Script) -> None:
    p.vote("x", "w", "1")
    p.vote("x", "other", "1")
    p.vote("x", "w", "0")
    # Its p is again that of a worker without votes, and it arrived last.
    assert list(p.votes_on("x")) == ["other", "w"]
    assert share(p, "x") == pytest.approx(1 / 2)
    assert p.worker("w")["votes"] == 1


def test_votes_weigh_in_order_of_arrival_with_the_p_of_their_time(p: Script) -> None:
    p.vote("x", "w", "1")
    p.vote("x", "other", "1")
    p.vote("y", "w", "1")
    p.retract("x", "other")  # y keeps the p that it had
    assert share(p, "y") == pytest.approx(0.7)


# --- annotation ids ---------------------------------------------------------------------------


def test_an_annotation_id_belongs_to_the_pair_of_its_first_vote(p: Script) -> None:
    p.vote("t", "w", "1", annotation_id="a")
    p.vote("t", "v", "1", annotation_id="a")
    assert p.code() == "annotation_id_conflict"
    p.retract("t", "w")
    p.vote("u", "w", "1", annotation_id="a")
    assert p.code() == "annotation_id_conflict"


def test_a_duplicate_claims_no_annotation_id(p: Script) -> None:
    p.vote("t", "w", "1")
    p.vote("t", "w", "1", annotation_id="a")
    p.vote("u", "v", "1", annotation_id="a")
    assert p.outcome == "applied"


def test_the_class_is_checked_before_the_annotation_id(p: Script) -> None:
    p.vote("t", "w", "1", annotation_id="a")
    p.vote("u", "w", "no class", annotation_id="a")
    assert p.code() == "unknown_class"


def test_the_annotation_id_is_checked_before_any_comparison(p: Script) -> None:
    p.vote("t", "w", "1", annotation_id="a")
    p.vote("u", "w", "1", revision=2)
    p.vote("u", "w", "1", revision=1, annotation_id="a")
    assert p.code() == "annotation_id_conflict"


# --- retractions ------------------------------------------------------------------------------


def test_a_retraction_takes_the_vote_out_exactly(p: Script) -> None:
    p.votes("t", "10")
    before = p.task("t")["probabilities"]
    p.vote("t", "w", "1")
    p.retract("t", "w")
    assert p.outcome == "applied"
    assert p.task("t")["probabilities"] == before
    assert p.worker("w")["accuracy"] == 2 / 3
    assert p.worker("w")["votes"] == 0


def test_an_older_retraction_is_stale(p: Script) -> None:
    p.vote("t", "w", "1", revision=2)
    p.retract("t", "w", revision=1)
    assert p.outcome == "stale"
    assert p.votes_on("t") == {"w": "1"}


@pytest.mark.parametrize("fields", [{}, {"revision": 2}, {"at": EARLY}])
def test_a_retraction_that_is_not_older_acts(p: Script, fields: dict[str, object]) -> None:
    p.vote("t", "w", "1", revision=2)
    p.retract("t", "w", **fields)
    assert p.votes_on("t") == {}


@pytest.mark.parametrize(("revision", "outcome"), [(2, "stale"), (3, "stale"), (4, "applied")])
def test_after_a_retraction_only_a_newer_vote_counts(
    p: Script, revision: int, outcome: str
) -> None:
    p.vote("t", "w", "1", revision=3)
    p.retract("t", "w")  # remembered with the revision of the vote
    p.vote("t", "w", "0", revision=revision)
    assert p.outcome == outcome


def test_after_a_retraction_arrival_decides_where_nothing_is_comparable(p: Script) -> None:
    p.vote("t", "w", "1", revision=3)
    p.retract("t", "w")
    p.vote("t", "w", "1", at=EARLY)
    assert p.outcome == "applied"


def test_a_retraction_may_come_before_its_vote(p: Script) -> None:
    p.retract("t", "w", revision=3)
    assert p.outcome == "applied"
    p.vote("t", "w", "1", revision=2)
    assert p.outcome == "stale"
    assert p.task("t")["label"] is None


def test_a_stale_vote_is_stale_by_the_retraction_even_beside_a_present_vote(p: Script) -> None:
    p.retract("t", "w", revision=5)
    p.vote("t", "w", "1")
    p.vote("t", "w", "0", revision=4)
    assert p.outcome == "stale"


def test_a_vote_with_the_id_of_a_removed_one_counts_only_if_comparably_newer(p: Script) -> None:
    p.vote("t", "w", "1", annotation_id="a", revision=1)
    p.retract("t", "w")
    p.vote("t", "w", "1", annotation_id="a")
    assert p.outcome == "stale"
    p.vote("t", "w", "1", annotation_id="a", revision=2)
    assert p.outcome == "applied"


def test_another_id_after_a_removed_one_is_compared_as_without(p: Script) -> None:
    p.vote("t", "w", "1", annotation_id="a")
    p.retract("t", "w")
    p.vote("t", "w", "1", annotation_id="b")
    assert p.outcome == "applied"


def test_a_retraction_by_id_alone_removes_the_vote(p: Script) -> None:
    p.vote("t", "w", "1", annotation_id="a")
    p.retract_id("a")
    assert p.votes_on("t") == {}


def test_a_retraction_by_the_id_of_a_replaced_vote_does_not_act(p: Script) -> None:
    p.vote("t", "w", "1", annotation_id="a")
    p.vote("t", "w", "0", annotation_id="b")
    p.retract_id("a")
    assert p.outcome == "applied"  # remembered
    assert p.votes_on("t") == {"w": "0"}
    p.vote("t", "w", "1", annotation_id="a")
    assert p.outcome == "stale"


def test_a_retraction_by_an_unknown_id_is_remembered_under_the_id_alone(p: Script) -> None:
    p.retract_id("a", revision=2)
    p.retract_id("a", revision=2)
    assert p.outcome == "duplicates"
    assert p.fold.task_labels() == []
    p.vote("t", "w", "1", annotation_id="a", at=LATE)
    assert p.outcome == "stale"
    assert p.fold.task_labels() == []
    p.vote("t", "w", "1", annotation_id="a", revision=3)
    assert p.outcome == "applied"


def test_a_retraction_by_id_must_not_contradict_the_owner(p: Script) -> None:
    p.vote("t", "w", "1", annotation_id="a")
    p.retract_id("a", task="u")
    assert p.code() == "annotation_id_conflict"
    p.retract_id("a", worker="v")
    assert p.code() == "annotation_id_conflict"
    p.retract_id("a", task="t", worker="w")
    assert p.votes_on("t") == {}


def test_a_retraction_by_id_names_no_task_and_no_worker(p: Script) -> None:
    p.retract_id("a", task="t", worker="w")
    assert p.outcome == "applied"
    assert p.fold.task_labels() == []
    assert p.fold.worker_quality() == []


def test_retractions_without_a_vote_are_compared_with_the_remembered_one(p: Script) -> None:
    p.retract("t", "w", revision=2)
    outcomes = []
    for fields in (
        {"revision": 1},  # lower
        {"revision": 2, "at": LATE},  # equal
        {},  # nothing new
        {"at": EARLY},  # not comparable, and new
        {"at": EARLY},
        {"revision": 3},
    ):
        p.retract("t", "w", **fields)
        outcomes.append(p.outcome)
    assert outcomes == ["stale", "duplicates", "duplicates", "applied", "duplicates", "applied"]
    # Fields that the newest lacks are kept from the last.
    p.vote("t", "w", "1", at=EARLY)
    assert p.outcome == "stale"


def test_the_newest_retraction_stays_remembered_when_an_older_one_acts(p: Script) -> None:
    p.retract("t", "w", revision=5)
    p.vote("t", "w", "1", at=EARLY)
    p.retract("t", "w", revision=3)  # not comparable with the vote
    assert p.outcome == "applied"
    for fields in ({"revision": 4}, {"at": EARLY}):
        p.vote("t", "w", "1", **fields)
        assert p.outcome == "stale"


def test_a_retraction_names_task_and_worker(p: Script) -> None:
    p.retract("t", "w")
    assert p.task("t")["status"] == "open"
    assert p.worker("w")["votes"] == 0


# --- skips ------------------------------------------------------------------------------------


def test_a_skip_is_a_retraction(p: Script) -> None:
    p.vote("t", "w", "1", revision=2)
    p.skip("t", "w", revision=1)
    assert p.outcome == "stale"
    p.skip("t", "w", revision=2)
    assert p.votes_on("t") == {}
    p.vote("t", "w", "1", revision=2)
    assert p.outcome == "stale"


def test_a_skip_after_an_equal_retraction_still_says_something_new(p: Script) -> None:
    p.retract("t", "w")
    p.skip("t", "w")
    assert p.outcome == "applied"
    p.skip("t", "w")
    assert p.outcome == "duplicates"


def test_a_stale_skip_leaves_no_mark(p: Script) -> None:
    p.retract("t", "w", revision=2)
    p.skip("t", "w", revision=1)
    assert p.outcome == "stale"
    p.skip("t", "w", revision=2)
    assert p.outcome == "applied"


def test_a_newer_vote_ends_a_skip(p: Script) -> None:
    p.skip("t", "w")
    p.vote("t", "w", "1")
    assert p.votes_on("t") == {"w": "1"}
    assert p.fold.projects["p"].skips == set()


# --- blocked workers --------------------------------------------------------------------------


def test_a_blocked_workers_votes_stay_out_of_the_task_but_count_for_the_worker(p: Script) -> None:
    p.block("w")
    p.vote("t", "v", "1")
    p.vote("t", "w", "0")
    assert p.task("t")["votes"] == 1
    assert share(p, "t") == pytest.approx(2 / 3)
    assert p.worker("w")["votes"] == 1
    assert p.worker("w")["accuracy"] == pytest.approx((1 / 3 + 2) / 4)


def test_unblocking_puts_the_votes_back_with_the_weight_that_they_have(p: Script) -> None:
    p.vote("x", "w", "1")
    p.vote("x", "other", "1")
    p.block("w")
    p.vote("y", "w", "1")  # x is 2/3 without w: p = (2/3 + 2) / 4
    p.votes("x", "11")
    p.unblock("w")
    assert share(p, "y") == pytest.approx(2 / 3)
    assert share(p, "x") == pytest.approx(16 / 17)


def test_a_blocked_workers_vote_can_be_replaced_and_retracted(p: Script) -> None:
    p.vote("t", "w", "1")
    p.block("w")
    p.vote("t", "w", "0")
    assert p.votes_on("t") == {"w": "0"}
    updated_at = p.task("t")["updated_at"]
    p.retract("t", "w")
    assert p.votes_on("t") == {}
    assert p.task("t")["updated_at"] == updated_at


def test_a_task_without_a_counting_vote_has_no_label_and_states_the_prior() -> None:
    p = Script(model={"class_prior": [1, 3]})
    p.vote("t", "w", "0")
    p.block("w")
    row = p.task("t")
    assert (row["label"], row["votes"]) == (None, 0)
    assert row["confidence"] == pytest.approx(0.75)


def test_blocking_twice_and_unblocking_the_unblocked_are_duplicates(p: Script) -> None:
    p.unblock("w")
    assert p.outcome == "duplicates"
    assert p.fold.worker_quality() == []
    p.block("w")
    assert p.outcome == "applied"
    assert p.worker("w")["votes"] == 0
    p.event("worker.blocked", worker="w", reason="another")
    assert p.outcome == "duplicates"
    p.unblock("w")
    assert p.outcome == "applied"
    p.unblock("w")
    assert p.outcome == "duplicates"


# --- tasks ------------------------------------------------------------------------------------


def test_a_task_added_again_without_news_is_a_duplicate(p: Script) -> None:
    p.event("task.added", task="t", priority=5, prior=[1, 3], max_labels=4)
    assert p.task("t")["probabilities"] == pytest.approx({"0": 0.25, "1": 0.75})
    p.event("task.added", task="t")
    assert p.outcome == "duplicates"
    p.event("task.added", task="t", priority=5.0, prior=[2, 6], max_labels=4)
    assert p.outcome == "duplicates"
    p.event("task.added", task="t", priority=6)
    assert p.outcome == "applied"
    assert p.task("t")["probabilities"] == pytest.approx({"0": 0.25, "1": 0.75})


def test_a_withdrawn_task_still_takes_votes_and_adding_undoes_it(p: Script) -> None:
    p.event("task.withdrawn", task="t")
    assert p.outcome == "applied"
    p.event("task.withdrawn", task="t")
    assert p.outcome == "duplicates"
    p.vote("t", "w", "1")
    assert p.task("t")["votes"] == 1
    p.event("task.added", task="t")
    assert p.outcome == "applied"


def test_a_tasks_own_prior_is_its_base(p: Script) -> None:
    p.vote("t", "w", "1")
    p.event("task.added", task="t", prior=[3, 1])
    assert share(p, "t") == pytest.approx(2 / 5)


def test_a_prior_of_another_length_is_invalid_but_only_after_project_and_partition(
    p: Script,
) -> None:
    added = {"type": "task.added", "task": "t", "prior": [1, 1, 1]}
    p.send(added | {"project": "nobody's"})
    assert p.code() == "unknown_project"
    p.send(added | {"project": "p"}, partition=1)
    assert p.code() == "wrong_partition"
    p.send(added | {"project": "p"})
    assert p.code() == "invalid_field"


def test_gold_null_for_an_unknown_task_is_a_duplicate_that_names_nothing(p: Script) -> None:
    p.gold("t", None)
    assert p.outcome == "duplicates"
    assert p.fold.task_labels() == []


def test_votes_on_a_gold_task_accumulate_beneath_and_score_their_workers(p: Script) -> None:
    p.gold("t", "1")
    p.votes("t", "00")
    assert p.task("t")["probabilities"] == {"0": 0, "1": 1}
    assert p.worker("t-w1")["accuracy"] == 2 / 4
    p.gold("t", None)
    assert share(p, "t") == pytest.approx(1 / 5)
    assert p.worker("t-w1")["accuracy"] == pytest.approx((4 / 5 + 2) / 4)


# --- rows -------------------------------------------------------------------------------------


def test_history_has_a_row_when_votes_first_reach_1_2_5_10_20_50(p: Script) -> None:
    for number in range(60):
        p.vote(f"t{number}", "w", "1")
    for number in range(20):  # back to 40, and past 50 again
        p.retract(f"t{number}", "w")
    for number in range(20):
        p.vote(f"t{number}", "w", "1")
    rows = p.fold.worker_quality_history()
    assert [row["votes"] for row in rows] == [1, 2, 5, 10, 20, 50]
    assert [row["at"] for row in rows] == [n * 1_000_000 for n in (1, 2, 5, 10, 20, 50)]
    assert rows[0]["accuracy"] == pytest.approx(2 / 3)


def test_agreement_looks_at_resolved_tasks_only() -> None:
    p = Script(resolve={"confidence": 0.85})
    assert p.vote("open", "w", "1") == []
    assert p.worker("w")["agreement"] is None
    p.votes("x", "1110")
    p.vote("x", "w", "0")
    assert p.worker("w")["agreement"] is None  # reopened
    p.votes("y", "111")
    p.vote("y", "w", "1")
    p.gold("z", "0")
    p.vote("z", "w", "1")
    assert p.worker("w")["agreement"] == 1 / 2


def test_a_worker_is_updated_when_its_votes_or_their_tasks_change(p: Script) -> None:
    p.vote("x", "w", "1")
    p.vote("y", "other", "1")
    assert p.worker("w")["updated_at"] == 1_000_000
    p.vote("x", "other", "1")
    assert p.worker("w")["updated_at"] == 3_000_000
    p.event("task.withdrawn", task="x")
    p.skip("x", "v")
    assert p.worker("w")["updated_at"] == 3_000_000


def test_a_worker_update_that_hangs_on_rounding_is_told_apart(p: Script) -> None:
    p.vote("x", "w", "1")
    p.vote("x", "other", "1")
    p.vote("x", "other", "1", revision=1)  # not comparable: a duplicate
    p.vote("x", "third", "0", revision=1)
    p.vote("x", "third", "0", revision=2)  # the same weights, at the most in another order
    (row, *_) = p.fold.worker_updates()
    assert (row["worker"], row["earliest"], row["latest"]) == ("w", 4_000_000, 5_000_000)


def test_a_task_is_updated_by_what_touches_or_changes_it(p: Script) -> None:
    p.block("blocked")
    times = []
    steps: list[Callable[[], object]] = [
        lambda: p.vote("t", "w", "1"),
        lambda: p.vote("t", "w", "1"),  # a duplicate
        lambda: p.vote("t", "blocked", "1"),
        lambda: p.unblock("blocked"),
        lambda: p.skip("t", "somebody"),
        lambda: p.event("task.withdrawn", task="t"),
        lambda: p.event("task.added", task="t"),
    ]
    for step in steps:
        step()
        times.append(p.task("t")["updated_at"] // 1_000_000)
    assert times == [2, 2, 2, 5, 5, 7, 8]


def test_progress_counts_present_votes_and_pairs_that_ever_voted() -> None:
    p = Script(resolve={"max_labels": 2, "ambiguity": 0.7})
    p.votes("amb", "10")
    p.votes("cap", "11")
    p.vote("open", "w", "1")
    p.retract("open", "w")
    p.gold("gold", "1")
    (row,) = p.fold.project_progress()
    assert (row["tasks"], row["open"], row["resolved"], row["ambiguous"]) == (4, 1, 3, 1)
    assert (row["votes"], row["budget_used"]) == (4, 5)
    assert row["mean_confidence"] == pytest.approx((1 / 2 + 4 / 5 + 1) / 3)


def test_every_record_is_received_and_counted_once(p: Script) -> None:
    p.vote("t", "w", "1", revision=1)
    p.vote("t", "w", "1", revision=1)
    p.vote("t", "w", "1", revision=0)
    p.send(b"nonsense")
    p.send(b"nonsense", partition=3)
    assert p.fold.event_accounting() == [
        {
            "topic": "annotations",
            "partition": 0,
            "received": 5,
            "applied": 2,
            "duplicates": 1,
            "stale": 1,
            "dead": 1,
        },
        {
            "topic": "annotations",
            "partition": 3,
            "received": 1,
            "applied": 0,
            "duplicates": 0,
            "stale": 0,
            "dead": 1,
        },
    ]
