"""Another method instead of the live rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import aggregators
from connector.replay import Label, Misused, replay
from connector.replay.aggregate import Aggregated, check_method

from .files import read_triples, write_csv, write_jsonl


def aggregated(path: Path, method: str, **options: Any) -> tuple[list[Label], list[dict[str, Any]]]:
    with replay([path], **options) as found:
        answers = Aggregated(found.project(), method)
        return list(answers.labels()), list(answers.workers())


@pytest.mark.parametrize("method", ["majority", "sorted_sbic", "dawid_skene"])
def test_the_method_sees_the_votes_that_count_in_order_of_arrival(
    method: str, data_dir: Path, tmp_path: Path
) -> None:
    votes = read_triples(data_dir / "temp" / "labels.csv")
    changed = [(t, w, "1" if x == "0" else "0") for t, w, x in votes[:300:3]]
    labels, workers = aggregated(write_csv(tmp_path / "v.csv", votes + changed), method)

    replaced = {(t, w) for t, w, _ in changed}
    kept = [v for v in votes if v[:2] not in replaced] + changed
    make: Any = aggregators.METHODS[method]
    model = make(classes=["0", "1"]).fit(tuple(map(list, zip(*kept, strict=True))))
    want = dict(zip(model.tasks_, model.labels_.tolist(), strict=True))
    assert {x.task: x.label for x in labels} == want
    assert [x.task for x in labels] == list(dict.fromkeys(t for t, _, _ in votes))
    assert {x.status for x in labels} == {"aggregated"}
    probabilities = dict(zip(model.tasks_, model.probas_.tolist(), strict=True))
    for x in labels:
        assert list(x.probabilities) == pytest.approx(probabilities[x.task], abs=1e-12)
        assert x.confidence == max(x.probabilities)
    skills = dict(zip(model.workers_, model.skills_.tolist(), strict=True))
    assert {w["worker"]: w["accuracy"] for w in workers} == pytest.approx(skills, abs=1e-12)
    assert all(w["lower"] is None and w["upper"] is None for w in workers)
    for w in workers:
        mine = [(t, x) for t, v, x in kept if v == w["worker"]]
        assert w["votes"] == len(mine)
        assert w["agreement"] == pytest.approx(sum(want[t] == x for t, x in mine) / len(mine))


def test_gold_stays_and_who_is_blocked_does_not_count(tmp_path: Path) -> None:
    def event(type_: str, **fields: object) -> dict[str, object]:
        return {"type": type_, "project": "p"} | fields

    def vote(task: str, worker: str, label: str) -> dict[str, object]:
        return event("annotation.submitted", task=task, worker=worker, label=label)

    lines = [
        event("project.declared", kind="binary", classes=["0", "1"]),
        *(vote("t", w, "0") for w in ("a", "b")),
        *(vote("t", w, "1") for w in ("c", "d", "e")),
        vote("g", "a", "0"),
        event("worker.blocked", worker="e"),
        event("worker.blocked", worker="d"),
        event("task.gold", task="g", label="1"),
        event("task.added", task="new"),
    ]
    labels, workers = aggregated(write_jsonl(tmp_path / "e.jsonl", lines), "majority")
    found = {x.task: (x.label, x.status, x.votes) for x in labels}
    assert found == {
        "t": ("0", "aggregated", 3),
        "g": ("1", "gold", 1),
        "new": (None, "open", 0),
    }
    assert {w["worker"]: w["votes"] for w in workers} == {"a": 2, "b": 1, "c": 1, "d": 0, "e": 0}


def test_a_method_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(Misused, match="majority"):
        check_method("magic")
    check_method("fast_sbic")
