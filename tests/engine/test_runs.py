"""What a run does to tasks, votes and workers when it is adopted, and what it means afterwards."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from math import log
from typing import Any

import pytest

from connector.domain.rows import PartRow, WorkerRow
from tests.oracle import model

from .scene import Scene

Make = Callable[..., Scene]

BASES = {"a": [-0.2, -2.0], "b": [-3.0, -0.1], "c": [-1.0, -1.1]}
P = {"u": 0.9, "v": 0.6}


@pytest.fixture(params=[False, True], ids=["held", "anew"])
def make(request: pytest.FixtureRequest) -> Make:
    """A scene whose state stays in memory, and one that is read anew before each record."""

    def made(**declared: Any) -> Scene:
        return Scene(request.param, **declared)

    return made


def voted(scene: Scene) -> Scene:
    """Three tasks, votes of u and v on each; w votes on the first."""
    for task, labels in {"a": "01", "b": "10", "c": "00"}.items():
        for worker, label in zip("uv", labels, strict=True):
            scene.vote(task, worker, label)
    scene.vote("a", "w", "1")
    return scene


def m_of(base: list[float], *votes: tuple[int, float]) -> list[float]:
    """Log-weights of two classes: the base and each vote's weight."""
    m = list(base)
    for x, p in votes:
        m[x] += log(p)
        m[1 - x] += log(1 - p)
    return m


def stated(m: list[float], n: int, prior: tuple[float, float] = (0.5, 0.5)) -> list[float]:
    """Stated probabilities for two classes, from m alone."""
    mu = list(model.softmax(dict(zip("01", m, strict=True))).values())
    A = model.log_sum_exp(dict(zip("01", m, strict=True)))
    w = model.sigmoid(-(A + n * log(2) + log(9)))
    return [(1 - w) * q + w * r for q, r in zip(mu, prior, strict=True)]


def probabilities(scene: Scene, task: str) -> list[float]:
    return list(json.loads(scene.task(task).probabilities).values())


def p_of(scene: Scene, task: str, worker: str) -> float:
    (row,) = [r for r in scene.pairs(task) if r.worker_id == scene.worker(worker).id]
    assert row.p is not None
    return row.p


def test_a_task_has_the_runs_base_and_the_weights_of_its_votes(make: Make) -> None:
    scene = voted(make())
    own = p_of(scene, "a", "w")
    before = scene.pairs("a")
    scene.run("r", BASES, P)
    m = m_of(BASES["a"], (0, 0.9), (1, 0.6), (1, own))
    assert probabilities(scene, "a") == pytest.approx(stated(m, 3))
    assert scene.pairs("a") == before, "adopting changes no vote"
    assert struct.unpack("<2d", scene.task("a").base or b"") == tuple(BASES["a"])
    assert {scene.task(t).algorithm for t in BASES} == {"sorted_sbic"}
    assert scene.runs()["r"].status == "adopted"
    assert scene.store.table(PartRow) == []


def test_every_workers_expected_right_answers_are_summed_anew(make: Make) -> None:
    scene = voted(make())
    own = p_of(scene, "a", "w")
    scene.run("r", BASES, P)
    ms = {
        "a": m_of(BASES["a"], (0, 0.9), (1, 0.6), (1, own)),
        "b": m_of(BASES["b"], (1, 0.9), (0, 0.6)),
        "c": m_of(BASES["c"], (0, 0.9), (0, 0.6)),
    }
    mu = {t: list(model.softmax(dict(zip("01", m, strict=True))).values()) for t, m in ms.items()}
    assert pytest.approx(mu["a"][0] + mu["b"][1] + mu["c"][0]) == scene.worker("u").S
    assert pytest.approx(mu["a"][1]) == scene.worker("w").S
    assert scene.worker("u").accuracy == pytest.approx((scene.worker("u").S + 2) / 6)
    assert (scene.worker("u").n, scene.worker("u").run_p) == (3, 0.9)


def test_changed_answers_go_out_with_the_runs_algorithm(make: Make) -> None:
    scene = voted(make(resolve={"confidence": 0.68, "min_labels": 2, "doubt": 0}))
    assert scene.shown("c")[2:] == ("confident", "fast_sbic", 2)
    messages = scene.run("r", {"a": [-9.0, 0.0], "b": [0.0, 0.0], "c": [-9.0, 0.0]}, P, upto=None)
    assert scene.runs()["r"].status == "held", "one of one resolved labels"
    messages = scene.send("reconciliation.approved", run="r")
    assert [(m["type"], m["task"], m["label"], m["algorithm"]) for m in messages] == [
        ("label.resolved", "a", "1", "sorted_sbic"),
        ("label.resolved", "b", "1", "sorted_sbic"),
        ("label.revised", "c", "1", "sorted_sbic"),
    ]
    assert messages[2]["cause"]["offset"] == scene.offset - 1
    assert scene.shown("c") == ("1", messages[2]["confidence"], "confident", "sorted_sbic", 2)


def test_later_votes_weigh_with_their_own_p_and_keep_the_algorithm(make: Make) -> None:
    scene = voted(make())
    scene.run("r", BASES, P)
    S, n = scene.worker("u").S, scene.worker("u").n
    scene.vote("d", "u", "1")
    assert p_of(scene, "d", "u") == pytest.approx((S + 2) / (n + 3))
    assert scene.shown("d")[3] == "fast_sbic"
    scene.vote("b", "w", "1")
    m = m_of(BASES["b"], (1, 0.9), (0, 0.6), (1, p_of(scene, "b", "w")))
    assert probabilities(scene, "b") == pytest.approx(stated(m, 3))
    assert scene.shown("b")[3] == "sorted_sbic"


def test_a_vote_between_the_snapshot_and_the_end_is_a_later_one(make: Make) -> None:
    scene = voted(make())
    upto = scene.offset
    scene.vote("b", "w", "1")
    scene.run("r", BASES, P | {"w": 0.99}, upto=upto)
    m = m_of(BASES["b"], (1, 0.9), (0, 0.6), (1, p_of(scene, "b", "w")))
    assert probabilities(scene, "b") == pytest.approx(stated(m, 3))
    m = m_of(BASES["a"], (0, 0.9), (1, 0.6), (1, 0.99))
    assert probabilities(scene, "a") == pytest.approx(stated(m, 3))


def test_retracting_blocking_and_replacing_leave_terms_out(make: Make) -> None:
    scene = voted(make())
    scene.run("r", BASES, P)
    scene.send("annotation.retracted", task="b", worker="v")
    assert probabilities(scene, "b") == pytest.approx(stated(m_of(BASES["b"], (1, 0.9)), 1))
    scene.send("worker.blocked", worker="v")
    m = m_of(BASES["a"], (0, 0.9), (1, p_of(scene, "a", "w")))
    assert probabilities(scene, "a") == pytest.approx(stated(m, 2))
    scene.vote("c", "u", "1")
    m = m_of([log(0.5)] * 2, (1, p_of(scene, "c", "u")))
    assert probabilities(scene, "c") == pytest.approx(stated(m, 1)), "v is blocked, u's is later"
    scene.send("worker.unblocked", worker="v")
    m = m_of(BASES["c"], (0, 0.6), (1, p_of(scene, "c", "u")))
    assert probabilities(scene, "c") == pytest.approx(stated(m, 2)), "as it weighed before"


def test_a_task_without_a_counting_vote_that_the_run_saw_has_its_prior_again(make: Make) -> None:
    scene = voted(make())
    scene.run("r", BASES, P)
    for worker in "uv":
        scene.send("annotation.retracted", task="b", worker=worker)
    assert probabilities(scene, "b") == [0.5, 0.5]
    assert scene.shown("b")[0] is None
    assert scene.shown("b")[3] == "fast_sbic"
    for worker in "uv":
        scene.send("worker.blocked", worker=worker)
    assert scene.shown("c")[3] == "fast_sbic"
    scene.send("worker.unblocked", worker="u")
    assert scene.shown("c")[3] == "sorted_sbic"
    assert probabilities(scene, "c") == pytest.approx(stated(m_of(BASES["c"], (0, 0.9)), 1))


def test_a_task_that_the_run_does_not_name_has_its_prior_and_the_runs_weights(make: Make) -> None:
    scene = voted(make())
    scene.run("r", {"a": BASES["a"], "nobody's": [0.0, 0.0]}, P | {"nobody": 0.5})
    m = m_of([log(0.5)] * 2, (1, 0.9), (0, 0.6))
    assert probabilities(scene, "b") == pytest.approx(stated(m, 2))
    assert scene.shown("b")[3] == "fast_sbic"
    assert len(scene.store.view("task_labels")) == 3, "a run makes no task"


def test_a_second_run_takes_the_place_of_the_first(make: Make) -> None:
    scene = voted(make(reconcile={"max_flip_fraction": 1}))
    scene.run("r", BASES, P)
    scene.vote("d", "u", "1")
    late = p_of(scene, "d", "u")
    scene.run("s", {"a": [0.5, 0.0]}, {"v": 0.7}, algorithm="cola")
    m = m_of([0.5, 0.0], (0, p_of(scene, "a", "u")), (1, 0.7), (1, p_of(scene, "a", "w")))
    assert probabilities(scene, "a") == pytest.approx(stated(m, 3)), "u is not in the second run"
    assert [scene.shown(t)[3] for t in "abcd"] == ["cola", *["fast_sbic"] * 3]
    m = m_of([log(0.5)] * 2, (1, late))
    assert probabilities(scene, "d") == pytest.approx(stated(m, 1))
    assert scene.worker("u").run_p is None


def test_a_changed_prior_is_carried_to_the_runs_base(make: Make) -> None:
    scene = voted(make())
    scene.run("r", BASES, P)
    scene.send("task.added", task="b", prior=[1, 3])
    base = [BASES["b"][0] + log(0.25 / 0.5), BASES["b"][1] + log(0.75 / 0.5)]
    m = m_of(base, (1, 0.9), (0, 0.6))
    assert probabilities(scene, "b") == pytest.approx(stated(m, 2, (0.25, 0.75)))
    again = {k: v for k, v in scene.declared.items() if k != "model"}
    scene.send("project.declared", **again, model={"class_prior": [0.2, 0.8]})
    assert probabilities(scene, "b") == pytest.approx(stated(m, 2, (0.25, 0.75))), "shielded"
    base = [BASES["c"][0] + log(0.2 / 0.5), BASES["c"][1] + log(0.8 / 0.5)]
    m = m_of(base, (0, 0.9), (0, 0.6))
    assert probabilities(scene, "c") == pytest.approx(stated(m, 2, (0.2, 0.8)))


def test_gold_stays_gold_and_its_votes_are_weighed_beneath(make: Make) -> None:
    scene = voted(make())
    scene.send("task.gold", task="c", label="1")
    assert "c" not in [m["task"] for m in scene.run("r", BASES, P)]
    assert scene.shown("c") == ("1", 1.0, "gold", "sorted_sbic", 2)
    m = stated(m_of(BASES["c"], (0, 0.9), (0, 0.6)), 2)
    assert scene.task("c").record_z == pytest.approx(model.logit(m[0]))
    assert scene.task("c").record_hit is False
    scene.send("task.gold", task="c", label=None)
    assert probabilities(scene, "c") == pytest.approx(m)


def test_classes_added_later_keep_the_base_of_the_others(make: Make) -> None:
    scene = voted(make(kind="categorical"))
    scene.run("r", BASES, P)
    scene.send("project.declared", **scene.declared | {"classes": ["0", "new", "1"]})
    base = list(struct.unpack("<3d", scene.task("a").base or b""))
    shift = log(1 / 3) - log(1 / 2)
    assert base == pytest.approx([BASES["a"][0] + shift, log(1 / 3), BASES["a"][1] + shift])
    scene.vote("a", "x", "new")
    assert scene.shown("a")[3] == "sorted_sbic"


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"parts": 4}, "run_parts_missing"),
        ({"classes": ["1", "0"]}, "run_other_classes"),
        ({"bases": {"a": [0.0, 0.0, 0.0]}}, "run_other_classes"),
        ({"bases": {}, "confusion": [["0", "2", 1.5]]}, "run_other_classes"),
        ({"bases": {}, "confusion": [[2, "0", 1.5]]}, "run_other_classes"),
        ({"upto": 5}, "run_outdated"),
    ],
)
def test_a_run_that_cannot_be_used_changes_nothing(
    make: Make, fields: dict[str, Any], code: str
) -> None:
    scene, fields = voted(make()), dict(fields)
    scene.run("good", {}, {}, upto=5)
    before = scene.store.view("task_labels"), scene.store.table(WorkerRow)
    if cells := fields.pop("confusion", None):
        workers = [{"worker": "u", "p": 0.5, "confusion": cells}]
        scene.send("reconciliation.part", run="r", part=9, workers=workers)
        fields["parts"] = 4
    assert scene.run("r", fields.pop("bases", BASES), P, **fields) == []
    assert (scene.store.view("task_labels"), scene.store.table(WorkerRow)) == before
    assert scene.dead() == [code]
    row = scene.runs()["r"]
    assert row.status == "refused"
    assert (row.reason or "").startswith(f"{code}: ")
    assert scene.store.table(PartRow) == []


def test_a_run_that_claims_to_know_what_comes_after_it_is_no_event(make: Make) -> None:
    scene = voted(make())
    scene.run("r", BASES, P, upto=scene.offset + 4)
    assert scene.dead() == ["invalid_field"]
    assert scene.runs() == {}


def test_a_failed_run_leaves_the_last_good_one(make: Make) -> None:
    scene = voted(make())
    scene.run("r", BASES, P)
    before = scene.store.view("task_labels")
    scene.send("reconciliation.completed", run="s", upto=9, parts=0, error="the bound fell")
    assert scene.store.view("task_labels") == before
    row = scene.runs()["s"]
    assert (row.status, row.reason, row.algorithm) == ("failed", "the bound fell", None)


def test_the_guard_holds_a_run_that_changes_too_many_labels(make: Make) -> None:
    scene = make(resolve={"confidence": 0.6, "min_labels": 1, "reopen_confidence": 0.1})
    for i in range(15):
        scene.vote(f"t{i}", "u", "0")
        scene.vote(f"t{i}", "v", "0")
    before = scene.store.view("task_labels"), scene.store.table(WorkerRow)
    bases = {f"t{i}": [0.0, 0.0 if i < 2 else i / 4] for i in range(15)}
    assert scene.run("r", bases, {"u": 0.5, "v": 0.5}) == []
    row = scene.runs()["r"]
    assert (row.status, row.changed, row.adopted_at) == ("held", 13, None)
    assert "13 of 15" in (row.reason or "")
    told = json.loads(row.changes)
    assert [c["task"] for c in told] == [f"t{i}" for i in range(14, 4, -1)], "the most certain"
    assert (told[0]["from"], told[0]["to"]) == ("0", "1")
    assert (scene.store.view("task_labels"), scene.store.table(WorkerRow)) == before
    scene.vote("t3", "w", "0")
    messages = scene.send("reconciliation.approved", run="r")
    row = scene.runs()["r"]
    assert (row.status, row.adopted_at, row.changed) == ("adopted", scene.now, 13)
    assert {m["type"] for m in messages} == {"label.revised", "label.reopened"}
    assert scene.store.table(PartRow) == []
    scene.send("reconciliation.approved", run="r")
    scene.send("reconciliation.rejected", run="r")
    scene.send("reconciliation.approved", run="nobody's")
    assert scene.shard.duplicates == 3


def test_as_many_changes_as_the_guard_allows_are_adopted(make: Make) -> None:
    scene = make(
        resolve={"confidence": 0.6, "min_labels": 1, "reopen_confidence": 0.1},
        reconcile={"max_flip_fraction": 0.29},
    )
    for i in range(100):
        scene.vote(f"t{i}", "u", "0")
        scene.vote(f"t{i}", "v", "0")
    bases = {f"t{i}": [0.0, 9.0 if i < 29 else 0.0] for i in range(100)}
    assert len(scene.run("r", bases, {"u": 0.6, "v": 0.6})) == 29
    assert (scene.runs()["r"].status, scene.runs()["r"].changed) == ("adopted", 29)


def test_a_rejected_run_is_gone(make: Make) -> None:
    scene = voted(make(reconcile={"max_flip_fraction": 0}, resolve={"confidence": 0.6}))
    before = scene.store.view("task_labels")
    scene.run("r", {"a": [-9.0, 0.0], "b": [0.0, -9.0], "c": [-9.0, 0.0]}, P)
    assert scene.runs()["r"].status == "held"
    assert scene.send("reconciliation.rejected", run="r") == []
    assert scene.runs()["r"].status == "rejected"
    assert scene.store.view("task_labels") == before
    assert scene.store.table(PartRow) == []
    scene.send("reconciliation.approved", run="r")
    assert scene.shard.duplicates == 1


def test_a_run_blocks_workers_only_if_it_is_adopted(make: Make) -> None:
    scene = voted(make(reconcile={"max_flip_fraction": 0}, resolve={"confidence": 0.6}))
    flips = {"a": [-9.0, 0.0], "b": [0.0, -9.0], "c": [-9.0, 0.0]}

    def block(run: str) -> bool:
        scene.send("worker.blocked", worker="u", reason="spammer", run=run)
        return scene.worker("u").blocked

    scene.run("r", flips, P)
    assert scene.runs()["r"].status == "held"
    assert not block("r"), "nobody has approved it"
    assert not block("nobody's")
    assert scene.shard.duplicates == 2
    scene.send("reconciliation.approved", run="r")
    assert block("r")


def test_a_held_run_is_refused_once_it_is_overtaken(make: Make) -> None:
    scene = voted(make(reconcile={"max_flip_fraction": 0}, resolve={"confidence": 0.6}))
    flips = {"a": [-9.0, 0.0], "b": [0.0, -9.0], "c": [-9.0, 0.0]}
    scene.run("r", flips, P)
    scene.run("s", {}, {})
    assert [r.status for r in scene.runs().values()] == ["held", "adopted"]
    scene.send("reconciliation.approved", run="r")
    assert scene.runs()["r"].status == "refused"
    assert scene.dead() == ["run_outdated"]


def test_a_held_run_is_refused_once_the_classes_are_others(make: Make) -> None:
    scene = voted(
        make(kind="categorical", reconcile={"max_flip_fraction": 0}, resolve={"confidence": 0.6})
    )
    scene.run("r", {"a": [-9.0, 0.0], "b": [0.0, -9.0], "c": [-9.0, 0.0]}, P)
    scene.send("project.declared", **scene.declared | {"classes": ["1", "0"]})
    scene.send("reconciliation.approved", run="r")
    assert scene.dead() == ["run_other_classes"]


def test_parts_without_an_end_are_dropped_after_a_day(make: Make) -> None:
    scene = voted(make())
    scene.send("reconciliation.part", run="lost", part=0, tasks=[])
    scene.now += 86_400_000_000 - 2 * 60_000_000
    scene.send("reconciliation.part", run="r", part=0, tasks=[])
    assert {row.run for row in scene.store.table(PartRow)} == {"lost", "r"}
    scene.send("reconciliation.part", run="r", part=1, tasks=[])
    assert {row.run for row in scene.store.table(PartRow)} == {"r"}
    end = {"algorithm": "cola", "parts": 1}
    scene.send("reconciliation.completed", run="lost", upto=3, **end)
    assert scene.dead() == ["run_parts_missing"]


def test_a_repeated_part_or_end_is_a_duplicate(make: Make) -> None:
    scene = voted(make())
    scene.send("reconciliation.part", run="r", part=1, tasks=[])
    scene.send("reconciliation.part", run="r", part=1, tasks=[{"task": "a", "base": [9, 0]}])
    end = {"algorithm": "cola", "parts": 1, "upto": 3}
    scene.send("reconciliation.completed", run="r", **end)
    scene.send("reconciliation.completed", run="r", **end)
    scene.send("reconciliation.part", run="r", part=2, tasks=[])
    assert scene.shard.duplicates == 3
    assert scene.task("a").run is None, "the first counts"


def test_what_a_run_says_of_workers_and_clusters_is_shown(make: Make) -> None:
    scene = voted(make())
    said = {"flag": "spammer", "flag_reason": "always 0", "cluster": 2}
    scene.send(
        "reconciliation.part",
        run="r",
        part=5,
        workers=[{"worker": "u", "p": 0.7, "confusion": [["0", "1", 2], ["0", 0, 6]], **said}],
    )
    scene.send(
        "reconciliation.part", run="r", part=6, clusters=[{"cluster": 2, "confusion": [[1, 1, 3]]}]
    )
    summary = {"votes": 7, "bound": -1.5, "durations": {"fit": 2}, "tasks": 3}
    summary["started_at"] = "2026-01-01T00:00:00Z"
    scene.send(
        "reconciliation.completed",
        run="r",
        upto=3,
        parts=2,
        algorithm="cola",
        summary=summary,
        seed=7,
        version=3,
        parameters={"k": 2},
    )
    assert [tuple(row.values())[1:] for row in scene.store.view("worker_confusion")] == [
        ("u", "0", "0", 6.0, 0.75),
        ("u", "0", "1", 2.0, 0.25),
    ]
    assert [tuple(row.values())[1:] for row in scene.store.view("cluster_confusion")] == [
        (2, "1", "1", 3.0, 1.0)
    ]
    row = next(r for r in scene.store.view("worker_quality") if r["worker"] == "u")
    assert {k: row[k] for k in said} == said
    (run,) = scene.store.view("reconciliation_runs")
    want = {"run": "r", "upto": 3, "algorithm": "cola", "version": "3", "seed": 7, "parts": 2}
    want |= {"status": "adopted", "bound": -1.5, "tasks": 3, "workers": 1, "votes": 7}
    want |= {"parameters": '{"k":2}', "durations": '{"fit":2}', "changed": 0, "changes": "[]"}
    want |= {"started_at": "2026-01-01T00:00:00.000000Z", "finished_at": None}
    assert {k: run[k] for k in want} == want
    assert run["adopted_at"].startswith("2026-01-02T03")


def test_the_most_extreme_bases_leave_every_number_finite(make: Make) -> None:
    scene = voted(make(kind="categorical", classes=["0", "1", "2"]))
    extreme = {"a": [1e9, -1e9, 0.0], "b": [-1e9, -1e9, -1e9], "c": [0.0, 0.0, 1e9]}
    scene.run("r", extreme, {"u": 0.0, "v": 1.0})
    scene.send("annotation.retracted", task="a", worker="u")
    scene.vote("b", "w", "2")
    scene.send("worker.blocked", worker="v")
    scene.send("task.gold", task="c", label="0")
    scene.send("project.declared", **scene.declared | {"classes": ["2", "1", "0", "3"]})
    for task in "abc":
        assert sum(probabilities(scene, task)) == pytest.approx(1)
    assert all(0 <= row.S <= row.n for row in scene.store.table(WorkerRow))
    assert scene.dead() == []
