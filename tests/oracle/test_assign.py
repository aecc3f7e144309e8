"""Who labels what next, and for how long: what interface.md and issue 8 say, by hand.

Of equals the task that was named first comes first; two classes, no doubt, nothing resolves, and
fresh workers weigh 2/3, so that a vote makes a gap of log 2 and a lease counts as much.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import Any

import pytest

from .assign import Choices
from .script import Script

PLAIN = Choices(
    tie=lambda project, task, worker: task,
    is_gold_turn=lambda project, worker, k, rate: k % 2 == 0 and rate > 0,
)


def make(classes: str = "01", kind: str = "", **sections: Any) -> Script:
    """No probes and no gold unless they are asked for."""
    sections["resolve"] = {"confidence": 1} | sections.get("resolve", {})
    sections["assign"] = {"probes": 0, "gold_rate": 0} | sections.get("assign", {})
    return Script(classes, kind, choices=PLAIN, **sections)


@pytest.fixture
def p() -> Script:
    return make()


def last(p: Script) -> dict[str, Any]:
    value = p.fold.messages[-1].value
    assert isinstance(value, dict)
    return value


# --- asking -----------------------------------------------------------------------------------


def test_a_worker_who_asks_gets_a_task_and_a_lease(p: Script) -> None:
    p.add("t/1")
    (message,) = p.send({"type": "worker.available", "project": "p", "worker": "w%"})
    assert (message.topic, message.key) == ("tasks.assigned", b"p/w%25")
    assert message.value == {
        "type": "task.assigned",
        "project": "p",
        "task": "t/1",
        "worker": "w%",
        "lease": "annotations/0/2/0",
        "expires_at": "1970-01-01T00:30:02.000000Z",
        "score": 0,
        "policy": "uncertainty",
    }
    headers = dict(message.headers)
    assert headers["ce_id"] == b"annotations/0/2/0"
    assert headers["ce_type"] == b"task.assigned"
    assert p.outcome == "applied"


def test_as_many_as_wanted_as_far_as_there_are_any(p: Script) -> None:
    p.add("a", "b", "c")
    assert p.ask("w", 2) == ["a", "b"]
    assert p.ask("v", 5) == ["c", "a", "b"]  # a and b are held by w
    assert p.ask("v", 5) == ["none: all_seen"]
    assert p.outcome == "applied"


@pytest.mark.parametrize("want", [0, -1, 1.0, "1", None, True, 2**31])
def test_want_is_a_positive_integer(p: Script, want: object) -> None:
    p.event("worker.available", worker="w", want=want)
    assert p.outcome == "dead"
    assert p.code() == "invalid_field"


def test_whoever_asks_exists(p: Script) -> None:
    p.ask("w")
    assert p.worker("w")["votes"] == 0


def test_the_most_uncertain_task_comes_first(p: Script) -> None:
    p.votes("a", "11")
    p.votes("b", "10")
    p.votes("c", "1")
    assert p.ask("w", 3) == ["b", "c", "a"]
    scores = [
        message.value["score"]
        for message in p.fold.messages[-3:]
        if isinstance(message.value, dict)
    ]
    assert scores == pytest.approx([0, log(2), 2 * log(2)])


def test_an_open_lease_counts_as_the_log_odds_of_a_fresh_worker() -> None:
    p = make(model={"worker_prior": [3, 1]})
    p.add("a", "b")
    assert [p.ask(worker) for worker in "uvwx"] == [["a"], ["b"], ["a"], ["b"]]
    assert last(p)["score"] == pytest.approx(log(3))


def test_with_more_classes_the_two_best_count() -> None:
    p = make("abc")
    p.votes("x", "abc")  # three alike
    p.votes("y", "aab")
    p.votes("z", "abb")
    p.votes("z", "a", start=4)
    assert p.ask("w", 3) == ["x", "z", "y"]
    assert last(p)["score"] == pytest.approx(log(4))


def test_ordinal_tasks_go_by_their_expected_absolute_loss() -> None:
    p = make("abc", "ordinal")
    p.add("x")
    p.votes("y", "ac")  # 4/9, 1/9, 4/9: b is one off in 8/9; x has 2/3
    p.votes("z", "aa")
    assert p.ask("w", 3) == ["y", "x", "z"]
    assert last(p)["score"] == pytest.approx(-(1 / 18 + 2 / 18))  # 16 : 1 : 1, from a
    assert p.ask("v") == ["y"]
    assert last(p)["score"] == pytest.approx(-8 / 9 + log(2))


def test_uniform_takes_the_fewest_votes_and_leases() -> None:
    p = make(assign={"policy": "uniform", "probes": 3})
    p.votes("a", "1")
    p.votes("b", "1111")
    p.add("c")
    assert [p.ask(worker)[0] for worker in "uvwx"] == ["c", "a", "c", "a"]
    assert (last(p)["score"], last(p)["policy"]) == (2, "uniform")


def test_blocked_workers_votes_do_not_count_for_uniform() -> None:
    p = make(assign={"policy": "uniform"})
    p.vote("a", "spammer", "1")
    p.add("b")
    p.block("spammer")
    assert p.ask("w") == ["a"]


def test_priority_comes_before_everything(p: Script) -> None:
    p.votes("a", "11")
    p.add("a", priority=1)
    p.add("b", "c")
    p.add("c", priority=-1)
    assert p.ask("w", 3) == ["a", "b", "c"]


def test_scores_within_a_billionth_tie_and_go_by_the_seeded_order() -> None:
    choices = Choices(lambda project, task, worker: -task * worker, PLAIN.is_gold_turn)
    p = Script(choices=choices, assign={"probes": 0, "gold_rate": 0})
    p.add("a", "b", "c")
    p.vote("a", "v", "1")
    p.retract("a", "v")
    assert p.ask("w", 3) == ["c", "b", "a"]


@pytest.mark.parametrize(("more", "first"), [(5e-10, "a"), (3e-9, "b")])
def test_a_tie_is_a_difference_of_at_most_a_billionth(more: float, first: str) -> None:
    p = make()
    p.add("a", prior=[1, 1 + more])
    p.add("b")
    assert p.ask("w") == [first]


# --- never ------------------------------------------------------------------------------------


def test_never_a_task_that_the_worker_answered_skipped_or_holds(p: Script) -> None:
    p.vote("answered", "w", "1")
    p.vote("taken back", "w", "1")
    p.retract("taken back", "w")
    p.skip("skipped", "w")
    p.add("t")
    assert p.ask("w", 9) == ["t"]
    assert p.ask("w") == ["none: all_seen"]


def test_a_withdrawn_task_is_nobodys_until_it_is_added_again(p: Script) -> None:
    p.add("t")
    p.event("task.withdrawn", task="t")
    assert p.ask("w") == ["none: no_open_task"]
    p.add("t")
    assert p.ask("w") == ["t"]


def test_a_resolved_task_is_given_to_nobody() -> None:
    p = make(resolve={"confidence": 0.75})
    p.votes("t", "11")
    assert p.ask("w") == ["none: no_open_task"]


def test_never_beyond_max_labels_with_the_leases() -> None:
    p = make(resolve={"max_labels": 3})
    p.vote("t", "u", "1")
    assert [p.ask(worker) for worker in "vwx"] == [["t"], ["t"], ["none: no_open_task"]]
    p.add("t", max_labels=4)
    assert p.ask("x") == ["t"]


def test_the_budget_counts_pairs_that_ever_voted_and_open_leases() -> None:
    p = make(assign={"budget": 3})
    p.vote("a", "w", "1")
    p.retract("a", "w")
    p.add("b", "c", "d")
    assert p.ask("v", 9) == ["a", "b"]
    assert p.ask("v") == ["none: budget"]
    assert p.fold.project_progress()[0]["budget_used"] == 3
    p.vote("b", "v", "1")  # a lease less, a pair more
    assert p.ask("v") == ["none: budget"]
    p.skip("a", "v")
    assert p.ask("v") == ["c"]


def test_votes_beyond_the_budget_count() -> None:
    p = make(assign={"budget": 0})
    p.vote("a", "w", "1")
    assert p.votes_on("a") == {"w": "1"}
    assert p.fold.project_progress()[0]["budget_used"] == 1


def test_a_blocked_worker_gets_nothing(p: Script) -> None:
    p.add("t")
    p.block("w")
    assert p.ask("w") == ["none: blocked"]
    p.unblock("w")
    assert p.ask("w") == ["t"]


def test_a_closed_project_gives_nothing_and_says_so_first() -> None:
    p = make(closed=True, assign={"budget": 0})
    p.add("t")
    p.block("w")
    assert p.ask("w") == ["none: project_closed"]


# --- the end of a lease -----------------------------------------------------------------------


def test_a_lease_ends_by_its_vote_without_a_word(p: Script) -> None:
    p.add("t")
    p.ask("w")
    p.vote("t", "w", "1")
    assert p.held() == set()
    assert p.told() == [("w", "t", "assigned")]


def test_a_lease_ends_by_a_skip_without_a_word(p: Script) -> None:
    p.add("t")
    p.ask("w")
    p.skip("t", "w")
    assert p.held() == set()
    assert p.told() == [("w", "t", "assigned")]
    assert p.ask("w") == ["none: all_seen"]


def test_a_stale_vote_and_a_retraction_end_no_lease(p: Script) -> None:
    p.retract("t", "w", revision=5)
    p.ask("w")
    p.vote("t", "w", "1", revision=4)
    assert p.outcome == "stale"
    p.retract("t", "w", revision=6)
    assert p.held() == {("t", "w")}


def test_resolving_a_task_ends_no_lease() -> None:
    p = make(resolve={"confidence": 0.75})
    p.add("t")
    p.ask("w")
    p.votes("t", "11")
    assert p.task("t")["status"] == "confident"
    assert p.held() == {("t", "w")}


def test_withdrawing_ends_the_leases_of_the_task(p: Script) -> None:
    p.add("a", "b")
    p.ask("w", 2)
    p.ask("v", 2)
    p.event("task.withdrawn", task="a")
    assert p.held() == {("b", "w"), ("b", "v")}
    assert p.told()[-2:] == [("w", "a", "withdrawn"), ("v", "a", "withdrawn")]
    assert last(p) == {
        "type": "assignment.expired",
        "project": "p",
        "task": "a",
        "worker": "v",
        "lease": "annotations/0/4/0",
        "reason": "withdrawn",
    }


def test_blocking_ends_the_workers_leases_before_tasks_are_judged() -> None:
    p = make(resolve={"confidence": 0.75})
    p.add("a", "b")
    p.ask("w", 2)
    p.votes("c", "1")
    p.vote("c", "w", "1")
    messages = p.send({"type": "worker.blocked", "project": "p", "worker": "w"})
    types = [message.value["type"] for message in messages if isinstance(message.value, dict)]
    assert types == ["assignment.expired", "assignment.expired", "label.reopened"]
    assert p.held() == set()
    p.unblock("w")
    assert p.held() == set()
    assert p.ask("w") == ["a"]


def test_a_lease_ends_when_its_time_has_come() -> None:
    p = make(assign={"lease_seconds": 10})
    p.add("a")
    p.ask("w", seconds=100)
    p.send({"type": "time.passed"}, seconds=109.999)
    assert p.outcome == "applied"
    assert p.held() == {("a", "w")}
    (message,) = p.send({"type": "time.passed"}, seconds=110)
    assert message.value == {
        "type": "assignment.expired",
        "project": "p",
        "task": "a",
        "worker": "w",
        "lease": "annotations/0/2/0",
        "reason": "expired",
    }
    assert p.ask("w", seconds=110) == ["a"]  # neither answered nor skipped


def test_time_does_not_go_back() -> None:
    p = make(assign={"lease_seconds": 10})
    p.add("a")
    p.send({"type": "time.passed"}, seconds=100)
    p.ask("w", seconds=50)
    assert last(p)["expires_at"] == "1970-01-01T00:01:50.000000Z"


def test_leases_end_before_the_record_is_judged_also_if_it_is_a_dead_letter() -> None:
    p = make(assign={"lease_seconds": 10})
    p.add("a", "b")
    p.ask("w", seconds=10)
    p.ask("v", seconds=10)  # at the same time: the leases' ids decide
    messages = p.send(b"nonsense", seconds=30)
    assert [message.topic for message in messages] == ["tasks.assigned"] * 2 + ["annotations.dead"]
    assert p.told()[-2:] == [("w", "a", "expired"), ("v", "b", "expired")]
    p.ask("w", seconds=40)
    messages = p.send({"type": "worker.available", "project": "p", "worker": "w"}, seconds=60)
    ids = [dict(message.headers)["ce_id"] for message in messages]
    assert ids == [b"annotations/0/7/0", b"annotations/0/7/1"]
    assert p.told()[-2:] == [("w", "a", "expired"), ("w", "a", "assigned")]


def test_leases_of_equal_time_end_in_the_order_of_their_ids() -> None:
    p = make(assign={"lease_seconds": 1000})
    p.add(*"abcdefgh")
    for worker in "uvwx":  # at offsets 9 to 12
        p.ask(worker, seconds=20)
    p.send({"type": "time.passed"}, seconds=2000)
    # As text "annotations/0/10/0" comes before "annotations/0/9/0".
    assert [worker for worker, _, _ in p.told()[-4:]] == ["v", "w", "x", "u"]


def test_a_vote_after_the_lease_has_ended_counts() -> None:
    p = make(assign={"lease_seconds": 10})
    p.add("a")
    p.ask("w", seconds=10)
    p.send({"type": "time.passed"}, seconds=30)
    p.vote("a", "w", "1")
    assert p.votes_on("a") == {"w": "1"}


def test_time_passed_is_applied_whatever_else_it_says(p: Script) -> None:
    p.send({"type": "time.passed", "project": None, "worker": []})
    assert p.outcome == "applied"


def test_leases_of_another_partition_do_not_end(p: Script) -> None:
    p.add("a")
    p.ask("w")
    p.send({"type": "time.passed"}, partition=1, seconds=1e6)
    assert p.held() == {("a", "w")}


def test_a_new_configuration_leaves_leases_as_they_are() -> None:
    p = make(assign={"lease_seconds": 1000})
    p.add("a")
    p.ask("w")
    p.declare(closed=True, assign={"lease_seconds": 1})
    p.send({"type": "time.passed"}, seconds=500)
    assert p.held() == {("a", "w")}


# --- probes and gold --------------------------------------------------------------------------


def probing(probes: object = "auto") -> Script:
    """`sure` and `surer` are decided, `resolved` is resolved; the others are open and even."""
    p = make(resolve={"confidence": 0.95}, assign={"probes": probes})
    p.votes("resolved", "11111")
    p.votes("sure", "11")
    p.votes("surer", "111")
    p.add(*(f"t{n}" for n in range(30)))
    return p


def test_the_first_sixth_and_eleventh_assignment_is_the_most_decided_unseen_task() -> None:
    p = probing()
    got = p.ask("w", 22)
    expected = [f"t{n}" for n in range(30)]
    for at, task in ((0, "resolved"), (5, "surer"), (10, "sure")):
        expected.insert(at, task)
    # The twenty-first takes the most decided of what is left: all even, the first of them.
    assert got == expected[:22]


def test_a_probe_tells_the_score_of_an_ordinary_choice() -> None:
    p = probing()
    assert p.ask("w") == ["resolved"]
    assert (last(p)["score"], last(p)["policy"]) == (0, "uncertainty")


def test_a_number_of_probes_is_that_of_the_first_assignments() -> None:
    p = probing(2)
    assert p.ask("w", 3) == ["resolved", "surer", "t0"]


def test_an_assignment_counts_also_if_nothing_came_of_it() -> None:
    p = probing(1)
    assert p.ask("w") == ["resolved"]
    p.skip("resolved", "w")
    assert p.ask("w") == ["t0"]


def test_a_probe_is_gold_if_there_is_any_unseen() -> None:
    p = probing(2)
    p.gold("g", "1")
    assert p.ask("w", 3) == ["g", "resolved", "t0"]


def test_a_probe_respects_max_labels() -> None:
    p = make(resolve={"confidence": 0.95, "max_labels": 6}, assign={"probes": 5})
    p.votes("a", "111111")
    p.votes("b", "11111")
    p.votes("c", "1")
    assert p.ask("w") == ["b"]
    assert p.ask("v") == ["c"]


def test_an_ambiguous_task_that_has_room_again_is_a_probe_like_any_resolved_one() -> None:
    p = make(
        resolve={"max_labels": 2, "ambiguity": 0.6, "reopen_confidence": 0},
        assign={"probes": 1},
    )
    p.votes("t", "10")
    p.add("t", max_labels=4)
    p.add("open")
    assert p.task("t")["status"] == "ambiguous"
    assert p.ask("w", 2) == ["t", "open"]


def test_without_an_open_task_there_is_no_probe() -> None:
    p = make(resolve={"confidence": 0.75}, assign={"probes": 5})
    p.votes("t", "11")
    p.gold("g", "1")
    assert p.ask("w") == ["none: no_open_task"]


def test_some_assignments_are_gold() -> None:
    p = make(assign={"gold_rate": 0.5})
    p.gold("g", "1")
    p.add("a", "b", "c")
    assert p.ask("w", 4) == ["a", "g", "b", "c"]
    assert [last(p)["score"], last(p)["policy"]] == [0, "uncertainty"]


# --- skill and experts ------------------------------------------------------------------------


def test_after_some_votes_a_task_is_for_skilled_workers() -> None:
    p = make(assign={"skilled_after": 2, "skilled_accuracy": 0.5})
    p.votes("a", "10")
    p.votes("b", "111")
    for n in range(9):
        p.gold(f"g{n}", "1")
        p.vote(f"g{n}", "good", "1")
    assert p.worker("good")["lower"] > 0.5
    assert p.ask("new") == ["none: no_open_task"]
    assert p.ask("good", 3) == ["a", "b"]
    assert p.ask("good") == ["none: all_seen"]
    p.votes("c", "1")
    assert p.ask("new") == ["c"]


def ambiguous() -> Script:
    p = make(
        resolve={"max_labels": 2, "ambiguity": 0.6},
        assign={"experts": ["anna", "otto"]},
    )
    p.votes("t", "10")
    p.votes("x", "10")
    p.add("open")
    assert p.task("t")["status"] == "ambiguous"
    return p


def test_ambiguous_tasks_go_to_experts_one_at_a_time() -> None:
    p = ambiguous()
    assert p.ask("w") == ["open"]
    assert p.ask("anna", 3) == ["t", "x", "open"]
    assert p.ask("otto") == ["none: no_open_task"]
    p.skip("t", "anna")
    assert p.ask("otto") == ["t"]
    assert p.ask("anna") == ["none: no_open_task"]


def test_an_expert_who_has_skipped_what_is_ambiguous_has_seen_all() -> None:
    p = ambiguous()
    p.event("task.withdrawn", task="open")
    for task in ("t", "x"):
        p.skip(task, "anna")
    assert p.ask("anna") == ["none: all_seen"]
    assert p.ask("w") == ["none: no_open_task"]


def test_an_adjudicated_task_is_given_to_no_other_expert() -> None:
    p = ambiguous()
    p.ask("anna")
    p.vote("t", "anna", "1")
    assert p.task("t")["status"] == "adjudicated"
    assert p.ask("otto", 3) == ["x", "open"]


# --- default choices --------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [0.0, 0.3, 1.0])
def test_about_the_gold_rate_of_a_workers_assignments_is_gold(rate: float) -> None:
    is_gold_turn: Callable[..., bool] = Script().fold.choices.is_gold_turn
    share = sum(is_gold_turn("p", 1, k, rate) for k in range(1, 1001)) / 1000
    assert share == pytest.approx(rate, abs=0.05)
