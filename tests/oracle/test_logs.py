"""The random logs are worth their name: repeatable, and they reach every corner."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from .fold import PlainFold, Record
from .logs import random_log
from .model import one_hot
from .project import Project
from .state import Task

SEEDS = range(40)


def fold(records: list[Record]) -> PlainFold:
    folded = PlainFold()
    for record in records:
        folded.feed(record)
    return folded


def test_the_same_arguments_make_the_same_log() -> None:
    assert random_log(3, 300, partitions=2) == random_log(3, 300, partitions=2)
    assert random_log(3, 300) != random_log(4, 300)


def test_offsets_rise_by_one_unless_gaps_are_asked_for() -> None:
    log = random_log(5, 300, partitions=2)
    for partition in (0, 1):
        offsets = [record.offset for record in log if record.partition == partition]
        assert offsets == list(range(len(offsets)))
    offsets = [record.offset for record in random_log(5, 300, gaps=0.2)]
    assert offsets == sorted(set(offsets))
    assert offsets[-1] > 300


def test_all_outcomes_codes_types_and_statuses_occur() -> None:
    seen: Counter[object] = Counter()
    for seed in SEEDS:
        folded = fold(random_log(seed, 300, partitions=1 + seed % 2))
        for message in folded.messages:
            if isinstance(message.value, dict):
                seen[message.value["type"]] += 1
                seen[message.value["status"]] += 1
            else:
                seen[dict(message.headers)["error-code"]] += 1
        for row in folded.event_accounting():
            for name in ("applied", "duplicates", "stale", "dead"):
                seen[name] += isinstance(row[name], int) and row[name] != 0
    expected = [
        *("applied", "duplicates", "stale", "dead"),
        *("label.resolved", "label.revised", "label.reopened"),
        *("open", "confident", "capped", "ambiguous", "gold", "adjudicated"),
        *(b"invalid_json", b"unknown_type", b"invalid_field", b"unknown_project"),
        *(b"wrong_partition", b"unknown_class", b"project_conflict", b"annotation_id_conflict"),
    ]
    assert [name for name in expected if seen[name] < 10] == []


def test_runs_come_to_every_end() -> None:
    seen: Counter[object] = Counter()
    for seed in SEEDS:
        folded = fold(random_log(seed, 300, partitions=1 + seed % 2, runs=0.03))
        seen.update(row["status"] for row in folded.reconciliation_runs())
        seen.update(row["reason"] for row in folded.reconciliation_runs())
        seen.update(dict(m.headers).get("error-code") for m in folded.messages)
        seen.update(row["algorithm"] for row in folded.task_labels())
        seen["confusion"] += len(folded.worker_confusion())
        seen["cluster"] += len(folded.cluster_confusion())
        seen["flag"] += sum(row["flag"] is not None for row in folded.worker_quality())
    expected = [
        *("adopted", "held", "rejected", "refused", "failed"),
        *("run_parts_missing", "run_other_classes", "run_outdated"),
        *(b"run_parts_missing", b"run_other_classes", b"run_outdated"),
        *("fast_sbic", "sorted_sbic", "cola", "dawid_skene", "confusion", "cluster", "flag"),
    ]
    assert [name for name in expected if seen[name] < 5] == []


def test_assignments_come_to_every_end() -> None:
    seen: Counter[object] = Counter()
    for seed in SEEDS:
        for message in fold(random_log(seed, 300, assignments=0.4)).messages:
            if message.topic == "tasks.assigned" and isinstance(message.value, dict):
                seen[message.value.get("reason") or message.value["policy"]] += 1
    expected = [
        *("uncertainty", "uniform", "expired", "withdrawn", "blocked"),
        *("no_open_task", "all_seen", "budget", "project_closed"),
    ]
    assert [name for name in expected if seen[name] < 10] == []


@pytest.mark.parametrize("seed", range(20))
def test_nobody_gets_what_they_may_not_have(seed: int) -> None:
    folded = PlainFold()
    for record in random_log(seed, 250, assignments=0.5, runs=0.01):
        projects = folded.projects.items()
        taken = {name: p.ever_voted | p.skips | set(p.leases) for name, p in projects}
        for message in folded.feed(record):
            value = message.value
            if message.topic != "tasks.assigned" or not isinstance(value, dict):
                continue
            pair = value.get("task", ""), value["worker"]
            if value["type"] == "assignment.expired":
                taken[value["project"]].remove(pair)
            if value["type"] == "task.assigned":
                assert pair not in taken[value["project"]]
                taken[value["project"]].add(pair)
                check_assignment(folded.projects[value["project"]], value)
        for project in folded.projects.values():
            for pair, lease in project.leases.items():
                assert pair not in project.ever_voted | project.skips
                assert lease.expires_at > folded.time(project.partition)


def check_assignment(project: Project, value: dict[str, str]) -> None:
    """As far as the state after the whole record tells."""
    task, worker = project.tasks[value["task"]], project.workers[value["worker"]]
    assert project.leases[task.name, worker.name].id == value["lease"]
    forbidden = project.config.closed, worker.blocked, task.withdrawn
    assert forbidden == (False, False, False)
    budget, most = project.config.budget, project.limits(task).max_labels
    assert budget is None or project.budget_used() <= budget
    held = project.leases_on(task)
    if task.status == "ambiguous" and worker.name in project.config.experts:
        assert held == 1
    else:
        assert most is None or len(project.counting(task)) + held <= most


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_comes_the_fold_keeps_its_word(seed: int) -> None:
    log = random_log(
        seed,
        250,
        partitions=2,
        redeclare=0.05,
        runs=0.03 * (seed % 2),
        assignments=0.3 * (seed % 3),
    )
    folded = PlainFold()
    told: dict[tuple[object, object], tuple[object, object, object]] = {}
    for record in log:
        for message in folded.feed(record):
            value = message.value
            if message.topic == "labels.resolved":
                assert isinstance(value, dict)
                task = value["project"], value["task"]
                before = told.get(task, (0, None, None))[0]
                assert isinstance(before, int)
                assert value["version"] == before + 1
                told[task] = value["version"], value["status"], value["label"]
        check_state(folded)
    # A subscriber who only saw the messages knows the label and status of every task.
    for row in folded.task_labels():
        version, status, label = told.get((row["project"], row["task"]), (0, "open", None))
        assert (row["version"], row["status"]) == (version, status)
        if status != "open":
            assert row["label"] == label
    for row in folded.event_accounting():
        counted = [row[name] for name in ("applied", "duplicates", "stale", "dead")]
        assert row["received"] == sum(number for number in counted if isinstance(number, int))


def check_state(folded: PlainFold) -> None:
    for row in folded.task_labels():
        shares = row["probabilities"]
        assert isinstance(shares, dict)
        assert sum(shares.values()) == pytest.approx(1, abs=1e-9)
        assert json.dumps(row)
    for project in folded.projects.values():
        assert 0.05 <= project.b <= 3
        for worker in project.workers.values():
            # Every vote is with its task and with its worker, once.
            assert len({vote.task for vote in worker.votes}) == len(worker.votes)
            for vote in worker.votes:
                assert vote in project.tasks[vote.task].votes
                assert project.present[vote.task, vote.worker] is vote
            assert -1e-9 <= project.S(worker) <= len(worker.votes) + 1e-9
        for task in project.tasks.values():
            check_task(project, task)


def check_task(project: Project, task: Task) -> None:
    assert (task.status == "gold") == (task.gold is not None)
    assert (task.label is None) == (task.status == "open") == (task.resolved_at is None)
    assert list(task.stated) == list(project.config.classes)
    if task.gold is not None:
        assert task.stated == one_hot(project.config.classes, task.gold)
        assert task.label == task.gold
    if task.name in project.records:
        assert task.gold is not None
        assert len(project.counting(task)) >= 2


def test_taking_every_vote_back_leaves_no_trace_in_what_is_stated() -> None:
    folded = fold(random_log(11, 300, projects=1, bad=0, runs=0.03))
    (project,) = folded.projects.values()
    offset = 1000
    assert project.adopted is not None
    for name, worker in list(project.present):
        fields = {"type": "annotation.retracted", "project": project.name}
        fields |= {"task": name, "worker": worker}
        folded.feed(Record(0, offset, 0, json.dumps(fields).encode()))
        offset += 1
    assert project.present == {}
    assert project.records == {}
    assert project.b == 1
    alpha, beta = project.config.worker_prior
    for row in folded.worker_quality():
        assert row["accuracy"] == alpha / (alpha + beta)
    for task in project.tasks.values():
        if task.gold is None:
            assert task.stated == pytest.approx(project.prior_of(task), abs=1e-12)
