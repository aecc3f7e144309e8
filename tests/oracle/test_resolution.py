"""When a task resolves, is revised, is reopened; declarations; messages: computed by hand.

With fresh workers of p = 2/3, two classes and no doubt, d more votes for one label state it with
2^d / (2^d + 1): 2/3, 4/5, 8/9, 16/17, 32/33.
"""

from __future__ import annotations

import pytest

from .script import Said, Script

RESOLVED, REVISED, REOPENED = "label.resolved", "label.revised", "label.reopened"


def make(**resolve: object) -> Script:
    """Resolves at three votes that agree."""
    return Script(resolve={"confidence": 0.85, "reopen_confidence": 0.75} | resolve)


# --- open -------------------------------------------------------------------------------------


def test_a_task_resolves_at_the_confidence() -> None:
    p = make()
    assert p.votes("t", "111") == [Said(RESOLVED, "1", "confident", 1)]
    row = p.task("t")
    assert (row["label"], row["status"], row["version"], row["votes"]) == ("1", "confident", 1, 3)
    assert row["confidence"] == pytest.approx(8 / 9)
    assert row["resolved_at"] == 3_000_000


def test_a_task_waits_for_min_labels() -> None:
    p = make(min_labels=4)
    assert p.votes("t", "111") == []
    assert p.votes("t", "1", start=4) == [Said(RESOLVED, "1", "confident", 1)]


def test_at_max_labels_an_unsure_task_is_capped() -> None:
    assert make(max_labels=3).votes("t", "110") == [Said(RESOLVED, "1", "capped", 1)]


def test_at_max_labels_a_task_below_ambiguity_is_ambiguous() -> None:
    p = make(max_labels=2)
    # A tie: the earlier class is the top.
    assert p.votes("t", "10") == [Said(RESOLVED, "0", "ambiguous", 1)]


def test_confidence_comes_before_the_cap() -> None:
    assert make(max_labels=3).votes("t", "111") == [Said(RESOLVED, "1", "confident", 1)]


def test_a_tasks_own_max_labels_counts_and_touches_it() -> None:
    p = make(max_labels=9)
    p.votes("t", "11")
    said = p.event("task.added", task="t", max_labels=2)
    assert said == [Said(RESOLVED, "1", "capped", 1)]


def test_a_prior_touches_its_task() -> None:
    p = make()
    p.votes("t", "11")
    said = p.event("task.added", task="t", prior=[1, 3])
    assert said == [Said(RESOLVED, "1", "confident", 1)]  # 4 * 3 to 1


# --- resolved, below max_labels ---------------------------------------------------------------


def test_more_votes_for_the_label_say_nothing() -> None:
    p = make()
    p.votes("t", "111")
    assert p.votes("t", "11", start=4) == []
    assert p.task("t")["confidence"] == pytest.approx(32 / 33)
    assert p.task("t")["version"] == 1


def test_a_resolved_task_stays_above_reopen_confidence() -> None:
    p = make()
    p.votes("t", "111")
    assert p.votes("t", "0", start=4) == []  # 4/5
    assert p.task("t")["status"] == "confident"


def test_a_resolved_task_below_reopen_confidence_is_reopened() -> None:
    p = make()
    p.votes("t", "111")
    assert p.votes("t", "00", start=4) == [Said(REOPENED, "1", "open", 2)]
    row = p.task("t")
    assert (row["label"], row["status"], row["resolved_at"]) == ("1", "open", None)


def test_a_reopened_task_resolves_again() -> None:
    p = make()
    p.votes("t", "11100")
    assert p.votes("t", "11", start=6) == [Said(RESOLVED, "1", "confident", 3)]


def test_a_resolved_task_below_min_labels_is_reopened() -> None:
    p = make(min_labels=3)
    p.votes("t", "111")
    assert p.retract("t", "t-w1") == [Said(REOPENED, "1", "open", 2)]


def test_another_sure_top_revises_at_once() -> None:
    p = make(min_labels=1)
    p.votes("t", "111")
    # The votes are replaced by a worker who is nearly always right.
    p.declare(resolve={"confidence": 0.85, "min_labels": 1}, model={"worker_prior": [1000, 1]})
    assert p.vote("t", "sage", "0") == [Said(REVISED, "0", "confident", 2)]


def test_another_unsure_top_reopens() -> None:
    p = make(min_labels=1)
    p.votes("t", "111")
    p.declare(resolve={"confidence": 0.85, "min_labels": 1}, model={"worker_prior": [12, 1]})
    # 12 to 8 for the other class: 0.6, and not the label any more.
    assert p.vote("t", "w", "0") == [Said(REOPENED, "0", "open", 2)]


def test_a_capped_task_below_its_new_cap_keeps_its_status_until_it_is_sure() -> None:
    p = make(max_labels=2)
    assert p.votes("t", "11") == [Said(RESOLVED, "1", "capped", 1)]
    assert p.event("task.added", task="t", max_labels=5) == []
    assert p.task("t")["status"] == "capped"
    assert p.votes("t", "1", start=3) == [Said(REVISED, "1", "confident", 2)]


def test_a_capped_task_below_its_new_cap_and_unsure_is_reopened() -> None:
    p = make(max_labels=2, reopen_confidence=0.85)
    p.votes("t", "11")
    assert p.event("task.added", task="t", max_labels=5) == [Said(REOPENED, "1", "open", 2)]


# --- resolved, at max_labels ------------------------------------------------------------------


def test_at_max_labels_nothing_reopens_another_top_revises() -> None:
    p = make(max_labels=3, ambiguity=0.4)
    assert p.votes("t", "110") == [Said(RESOLVED, "1", "capped", 1)]
    assert p.votes("t", "00", start=4) == [
        Said(REVISED, "0", "capped", 2),  # at the tie, and then no more
    ]
    assert p.task("t")["label"] == "0"


def test_at_max_labels_another_status_revises() -> None:
    p = make(max_labels=3)
    p.votes("t", "110")
    assert p.votes("t", "0", start=4) == [Said(REVISED, "0", "ambiguous", 2)]
    assert p.votes("t", "1111", start=5) == [
        Said(REVISED, "1", "capped", 3),
        Said(REVISED, "1", "confident", 4),
    ]


# --- gold -------------------------------------------------------------------------------------


def test_gold_resolves_an_open_task_with_confidence_1() -> None:
    p = make()
    assert p.gold("t", "1") == [Said(RESOLVED, "1", "gold", 1)]
    row = p.task("t")
    assert (row["label"], row["confidence"], row["votes"]) == ("1", 1, 0)
    assert row["probabilities"] == {"0": 0, "1": 1}


@pytest.mark.parametrize("truth", ["0", "1"])
def test_gold_revises_a_resolved_task_also_with_the_same_label(truth: str) -> None:
    p = make()
    p.votes("t", "111")
    assert p.gold("t", truth) == [Said(REVISED, truth, "gold", 2)]


def test_gold_again_with_another_label_revises_and_with_the_same_is_a_duplicate() -> None:
    p = make()
    p.gold("t", "1")
    assert p.gold("t", "1") == []
    assert p.outcome == "duplicates"
    assert p.gold("t", "0") == [Said(REVISED, "0", "gold", 2)]


def test_votes_change_nothing_on_a_gold_task() -> None:
    p = make(max_labels=3)
    p.gold("t", "1")
    assert p.votes("t", "0000") == []


def test_ungold_follows_the_open_rule_and_revises() -> None:
    p = make()
    p.gold("t", "1")
    p.votes("t", "111")
    assert p.gold("t", None) == [Said(REVISED, "1", "confident", 2)]


def test_ungold_without_enough_votes_reopens_with_the_present_top() -> None:
    p = make()
    p.gold("t", "1")
    p.votes("t", "0")
    assert p.gold("t", None) == [Said(REOPENED, "0", "open", 2)]


# --- experts ----------------------------------------------------------------------------------


def court(**resolve: object) -> Script:
    """An ambiguous task `t`, and experts anna and ben."""
    p = Script(
        resolve={"confidence": 0.85, "max_labels": 2} | resolve,
        assign={"experts": ["anna", "ben"]},
    )
    assert p.votes("t", "10") == [Said(RESOLVED, "0", "ambiguous", 1)]
    return p


def test_an_experts_vote_adjudicates_an_ambiguous_task() -> None:
    p = court()
    assert p.vote("t", "anna", "1") == [Said(REVISED, "1", "adjudicated", 2)]
    assert p.task("t")["confidence"] == pytest.approx(2 / 3)  # as stated


def test_an_experts_vote_adjudicates_with_the_present_label_too() -> None:
    assert court().vote("t", "anna", "0") == [Said(REVISED, "0", "adjudicated", 2)]


def test_only_an_expert_changes_an_adjudicated_task() -> None:
    p = court()
    p.vote("t", "anna", "1")
    assert p.votes("t", "0000000", start=3) == []
    row = p.task("t")
    assert (row["label"], row["status"]) == ("1", "adjudicated")
    assert row["confidence"] == row["probabilities"]["1"] < 0.5
    assert p.vote("t", "ben", "1") == []
    assert p.vote("t", "ben", "0", revision=1) == [Said(REVISED, "0", "adjudicated", 3)]


def test_retracting_an_experts_vote_leaves_the_task_adjudicated() -> None:
    p = court()
    p.vote("t", "anna", "1")
    assert p.retract("t", "anna") == []
    assert p.task("t")["status"] == "adjudicated"


def test_an_expert_does_not_adjudicate_a_task_that_was_not_ambiguous_before() -> None:
    p = court()
    p.votes("u", "1")
    assert p.vote("u", "anna", "0") == [Said(RESOLVED, "0", "ambiguous", 1)]


def test_a_blocked_expert_does_not_adjudicate_not_even_when_unblocked() -> None:
    p = court()
    p.block("anna")
    assert p.vote("t", "anna", "1") == []
    assert p.unblock("anna") == [Said(REVISED, "1", "capped", 2)]


def test_gold_ends_adjudication_and_ungold_follows_the_open_rule() -> None:
    p = court()
    p.vote("t", "anna", "1")
    assert p.gold("t", "1") == [Said(REVISED, "1", "gold", 3)]
    assert p.gold("t", None) == [Said(REVISED, "1", "capped", 4)]


# --- several tasks, declarations --------------------------------------------------------------


def test_blocking_judges_the_workers_tasks_in_order_of_first_appearance() -> None:
    p = make()
    p.vote("b", "x", "1")
    p.vote("a", "x", "1")
    p.votes("a", "11")
    p.votes("b", "11")
    p.vote("a", "v", "0")
    p.vote("b", "w", "0")
    assert {p.task(name)["status"] for name in "ab"} == {"confident"}
    offset = p.offset
    assert p.block("x") == [Said(REOPENED, "1", "open", 2)] * 2
    values = [message.value for message in p.fold.messages[-2:]]
    assert [value["task"] for value in values if isinstance(value, dict)] == ["b", "a"]
    ids = [dict(message.headers)["ce_id"] for message in p.fold.messages[-2:]]
    assert ids == [f"annotations/0/{offset}/{n}".encode() for n in (0, 1)]


def test_an_equal_declaration_is_a_duplicate() -> None:
    p = Script(model={"class_prior": [1, 1]})
    p.declare(model={"class_prior": [3, 3]}, unknown=1)
    assert p.outcome == "duplicates"
    p.declare(closed=False, resolve={"confidence": 0.95, "min_labels": 2})
    assert p.outcome == "duplicates"


def test_a_declaration_is_the_whole_configuration() -> None:
    p = make(min_labels=3)
    p.votes("t", "1111111111")
    p.declare()
    assert p.fold.projects["p"].config.min_labels == 2
    assert p.fold.projects["p"].config.confidence == 0.95


def test_declared_again_the_tasks_are_judged_in_order_of_first_appearance() -> None:
    p = make()
    for task in "ba":
        p.votes(task, "11")
    assert p.declare(resolve={"confidence": 0.79}) == [Said(RESOLVED, "1", "confident", 1)] * 2
    values = [message.value for message in p.fold.messages]
    assert [value["task"] for value in values if isinstance(value, dict)] == ["b", "a"]


def test_a_new_worker_prior_is_for_later_votes() -> None:
    p = make()
    p.votes("t", "1")
    p.declare(model={"worker_prior": [8, 2]})
    assert p.task("t")["confidence"] == pytest.approx(2 / 3)
    p.votes("t", "1", start=2)
    assert p.task("t")["confidence"] == pytest.approx(8 / 9)  # 2 * 4 to 1


def test_a_new_class_prior_is_in_the_base_of_every_task_but_those_with_their_own() -> None:
    p = make()
    p.votes("t", "1")
    p.event("task.added", task="own", prior=[1, 1])
    p.declare(model={"class_prior": [1, 2]})
    assert p.task("t")["confidence"] == pytest.approx(4 / 5)
    assert p.task("own")["confidence"] == 0.5


def test_an_added_class_changes_the_weights_and_ends_own_priors() -> None:
    p = Script("ab", "categorical")
    p.votes("t", "a")
    p.event("task.added", task="own", prior=[3, 1])
    p.declare("abc")
    assert p.task("t")["probabilities"] == pytest.approx({"a": 4 / 6, "b": 1 / 6, "c": 1 / 6})
    assert p.task("own")["probabilities"] == pytest.approx({"a": 1 / 3, "b": 1 / 3, "c": 1 / 3})


def test_classes_in_another_order_keep_own_priors() -> None:
    p = Script("abc")
    p.event("task.added", task="own", prior=[2, 1, 1])
    p.declare("cba")
    assert p.outcome == "applied"
    assert p.task("own")["probabilities"] == {"c": 0.25, "b": 0.25, "a": 0.5}
    assert list(p.task("own")["probabilities"]) == ["c", "b", "a"]


def test_an_exchanged_class_ends_own_priors() -> None:
    p = Script("ab")
    p.event("task.added", task="own", prior=[3, 1])
    p.declare("ac")
    assert p.outcome == "applied"
    assert p.task("own")["probabilities"] == {"a": 0.5, "c": 0.5}


def test_a_class_that_votes_or_gold_name_cannot_be_removed() -> None:
    p = Script("abcd")
    p.vote("t", "w", "a")
    p.gold("g", "b")
    for classes in ("bcd", "acd"):
        p.declare(classes)
        assert p.code() == "project_conflict"
    p.declare("abc")
    assert p.outcome == "applied"
    p.retract("t", "w")
    p.declare("bc", "categorical")
    assert p.outcome == "applied"


def test_neither_kind_nor_an_ordinal_order_can_change() -> None:
    p = Script("abc", "ordinal")
    p.declare("abc", "categorical")
    assert p.code() == "project_conflict"
    p.declare("bac", "ordinal")
    assert p.code() == "project_conflict"
    p.declare("axbc", "ordinal")
    assert p.outcome == "applied"


def test_a_project_lives_on_the_partition_of_its_first_declaration() -> None:
    p = Script("")
    declared = {"type": "project.declared", "project": "p", "kind": "binary", "classes": [0, 1]}
    p.send(declared, partition=2)
    p.send(declared, partition=1)
    assert p.code() == "wrong_partition"
    p.send({"type": "task.added", "project": "p", "task": "t"}, partition=0)
    assert p.code() == "wrong_partition"
    p.send({"type": "task.gold", "project": "p", "task": "t", "label": "no class"}, partition=0)
    assert p.code() == "wrong_partition"
    p.send({"type": "task.added", "project": "p", "task": "t"}, partition=2)
    assert p.outcome == "applied"


# --- messages and time ------------------------------------------------------------------------


def test_a_message_is_complete() -> None:
    p = Script("")
    p.send(
        {
            "type": "project.declared",
            "project": "p/%",
            "kind": "binary",
            "classes": [0, 1],
            "resolve": {"confidence": 0.6, "min_labels": 1, "doubt": 0},
        }
    )
    vote = {"type": "annotation.submitted", "project": "p/%", "task": "é/1", "worker": 1}
    (message,) = p.send(vote | {"label": 1}, seconds=1.5)
    assert message.topic == "labels.resolved"
    assert message.key == "p%2F%25/é%2F1".encode()
    assert message.headers == (
        ("ce_specversion", b"1.0"),
        ("ce_id", b"annotations/0/1/0"),
        ("ce_type", b"label.resolved"),
        ("ce_source", b"/crowdresolve/crowdresolve"),
        ("ce_time", b"1970-01-01T00:00:01.500000Z"),
        ("content-type", b"application/json"),
    )
    assert message.value == {
        "type": "label.resolved",
        "project": "p/%",
        "task": "é/1",
        "label": "1",
        "confidence": pytest.approx(2 / 3),
        "probabilities": {"0": pytest.approx(1 / 3), "1": pytest.approx(2 / 3)},
        "votes": 1,
        "status": "confident",
        "algorithm": "fast_sbic",
        "version": 1,
        "cause": {"topic": "annotations", "partition": 0, "offset": 1},
    }


def test_time_is_the_running_maximum_of_the_partition_dead_letters_included() -> None:
    p = make()
    p.send(b"nonsense", seconds=100)
    p.send({"type": "task.added", "project": "p", "task": "t"}, seconds=50)
    assert p.task("t")["updated_at"] == 100_000_000
    p.send(b"nonsense", seconds=1000, partition=1)
    p.send({"type": "task.added", "project": "p", "task": "u"}, seconds=101)
    assert p.task("u")["updated_at"] == 101_000_000


def test_a_dead_letter_keeps_value_key_and_headers() -> None:
    p = make()
    (message,) = p.send(b"\xff", key=b"\x00k", headers=(("a", b"1"), ("a", None)))
    assert message.topic == "annotations.dead"
    assert (message.key, message.value) == (b"\x00k", b"\xff")
    assert message.headers[:3] == (("a", b"1"), ("a", None), ("error-code", b"invalid_json"))
    assert [name for name, _ in message.headers[3:]] == [
        "error-message",
        "origin-topic",
        "origin-partition",
        "origin-offset",
    ]
    assert [value for _, value in message.headers[4:]] == [b"annotations", b"0", b"1"]
