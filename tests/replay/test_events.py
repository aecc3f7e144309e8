"""Files of events: the topic's own records, bare or with their places."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from connector.replay import Misused, Unreadable, replay
from tests import compare
from tests.engine.plain_chooser import CHOICES
from tests.oracle.fold import PlainFold, Record
from tests.oracle.logs import random_log

from .files import Kept, wrapped, write_jsonl

UNPLACED = {"ce_id": None, "ce_time": None}
DECLARED = {"type": "project.declared", "project": "p", "kind": "binary", "classes": ["0", "1"]}


def vote(task: str, worker: str, label: str, project: str = "p", **more: object) -> dict[str, Any]:
    fields = {"type": "annotation.submitted", "project": project}
    return fields | {"task": task, "worker": worker, "label": label} | more


def assert_equals(fold: PlainFold, kept: Kept) -> None:
    """Messages, views and counters, to 1e-9."""
    for topic in ("labels.resolved", "tasks.assigned", "annotations.dead"):
        compare.assert_messages(fold, topic, kept.sent(topic))
    rows = [row for name in kept.workers for row in kept.workers[name]]
    compare.assert_view(fold, "worker_quality", rows)
    labels = {(row["project"], row["task"]): row for row in fold.task_labels()}
    assert [(name, x.task) for name in kept.labels for x in kept.labels[name]] == list(labels)
    for name, found in kept.labels.items():
        for x in found:
            row = labels[name, x.task]
            assert (x.label, x.status, x.votes) == (row["label"], row["status"], row["votes"])
            assert compare.difference(row["confidence"], x.confidence) is None
            p = dict(zip(kept.configs[name].classes, x.probabilities, strict=True))
            assert compare.difference(row["probabilities"], p) is None
    for column in ("received", "applied", "duplicates", "stale", "dead"):
        total = sum(int(str(row[column])) for row in fold.event_accounting())
        assert getattr(kept.counts, column) == total


@pytest.mark.parametrize("seed", range(12))
def test_wrapped_events_are_the_log_itself(seed: int, tmp_path: Path) -> None:
    log = random_log(
        seed,
        1500,
        projects=5,
        partitions=1 + seed % 3,
        gaps=0.02,
        runs=0.01,
        assignments=0.2 * (seed % 2),
        choices=CHOICES,
    )
    fold = PlainFold(choices=CHOICES)
    for record in log:
        fold.feed(record)
    kept = Kept(write_jsonl(tmp_path / "log.jsonl", wrapped(log)))
    assert kept.found.events
    assert_equals(fold, kept)


def test_a_log_in_several_files_is_one_log(tmp_path: Path) -> None:
    log = random_log(77, 600, partitions=2)
    lines = list(wrapped(log))
    whole = Kept(write_jsonl(tmp_path / "log.jsonl", lines))
    first = write_jsonl(tmp_path / "log-1.jsonl", lines[:250])
    second = write_jsonl(tmp_path / "log-2.jsonl", lines[250:])
    halves = Kept(first, second)
    assert halves.messages == whole.messages
    assert halves.labels == whole.labels


def test_a_bare_event_stands_at_the_offset_of_its_line(tmp_path: Path) -> None:
    target = tmp_path / "events.jsonl"
    at = "2026-01-02T03:04:05Z"
    lines = [
        json.dumps(DECLARED),
        "",
        json.dumps(vote("t", "a", "1")),
        "{not json",
        json.dumps(vote("t", "b", "1", at=at)),
        json.dumps({"specversion": "1.0", "type": "x", "data": vote("u", "b", "0")}),
    ]
    target.write_text("\n".join(lines))
    kept = Kept(target)
    fold = PlainFold()
    for offset, line in enumerate(lines):
        if line:
            ms = 1_767_323_045_000 if at in line or offset == 5 else 0
            fold.feed(Record(0, offset, ms, line.encode()))
    assert [x.task for x in kept.labels["p"]] == ["t", "u"]
    assert kept.counts.examples[0].line == 4
    assert dict(kept.sent("annotations.dead")[0][2])["origin-offset"] == b"3"
    updated = {row["worker"]: row["updated_at"] for row in kept.workers["p"]}
    assert updated["b"] == "2026-01-02T03:04:05.000000Z"
    for column in ("received", "applied", "dead"):
        assert getattr(kept.counts, column) == fold.event_accounting()[0][column]


def test_a_value_may_be_an_object_a_text_null_or_base64(tmp_path: Path) -> None:
    values: list[Any] = [
        DECLARED,
        json.dumps(vote("t", "a", "1")),
        {"base64": base64.b64encode(json.dumps(vote("t", "b", "1")).encode()).decode()},
        {"base64": base64.b64encode(b"\xff\x00").decode()},
        None,
        "no event",
        [1],
    ]
    lines = [
        {"offset": 10 * i, "timestamp": ts, "value": v}
        for i, (v, ts) in enumerate(
            zip(
                values,
                [0, "2026-01-02T03:04:05Z", 1_767_323_045_001, -1, None, 5.5, 7],
                strict=True,
            )
        )
    ]
    kept = Kept(write_jsonl(tmp_path / "log.jsonl", lines))
    assert kept.counts.applied == 3
    dead = kept.sent("annotations.dead")
    assert [m[1] for m in dead] == [b"\xff\x00", None, b"no event", b"[1]"]
    assert kept.workers["p"][1]["updated_at"] == "2026-01-02T03:04:05.001000Z"


def test_headers_may_be_an_object_or_pairs(tmp_path: Path) -> None:
    binary = vote("t", "a", "1")
    del binary["type"]
    kind = "annotation.submitted"
    lines = [
        {"offset": 0, "value": DECLARED},
        {"offset": 1, "value": binary, "headers": {"ce_type": kind, "x": ["1", None]}},
        {"offset": 2, "value": binary | {"worker": "b"}, "headers": [["ce_type", kind]]},
        {"offset": 3, "value": "?", "key": "k", "headers": {"x": ["1", None]}},
    ]
    kept = Kept(write_jsonl(tmp_path / "log.jsonl", lines))
    assert kept.counts.applied == 3
    ((key, _, headers),) = kept.sent("annotations.dead")
    assert key == b"k"
    assert headers[:2] == (("x", b"1"), ("x", None))


def test_a_cloudevent_is_of_the_project_that_its_data_names(tmp_path: Path) -> None:
    inner = vote("t", "a", "1", at="2026-01-02T03:04:05Z")
    envelope = {"specversion": "1.0", "type": "x", "project": "other", "at": "1999-01-01T00:00:00Z"}
    coded = base64.b64encode(json.dumps(inner | {"worker": "b"}).encode()).decode()
    lines = [DECLARED, envelope | {"data": inner}, envelope | {"data_base64": coded}]
    kept = Kept(write_jsonl(tmp_path / "events.jsonl", lines), project="p")
    assert (kept.counts.applied, kept.found.filtered) == (3, 0)
    assert {row["updated_at"] for row in kept.workers["p"]} == {"2026-01-02T03:04:05.000000Z"}


def unplaced(messages: list[tuple[bytes | None, bytes | None, Any]]) -> list[Any]:
    """Without what names the record they are of, and their number in it.

    A lease ends at the next record of its partition, and that may be another project's.
    """
    return [
        (key, json.loads(value or b"") | {"lease": None}, dict(headers) | UNPLACED)
        for key, value, headers in messages
    ]


def test_a_project_s_events_alone_give_what_it_has_in_the_whole_log(tmp_path: Path) -> None:
    log = random_log(5, 1200, projects=3, runs=0.01, assignments=0.3)
    target = write_jsonl(tmp_path / "log.jsonl", wrapped(log))
    whole = Kept(target)
    assert len(whole.labels) == 3
    filtered = 0
    for name in whole.labels:
        alone = Kept(target, project=name)
        assert list(alone.labels) == [name]
        assert alone.labels == {name: whole.labels[name]}
        assert alone.workers == {name: whole.workers[name]}  # times included
        key = name.replace("%", "%25").replace("/", "%2F").encode() + b"/"
        for topic in ("labels.resolved", "tasks.assigned"):
            want = [m for m in whole.sent(topic) if (m[0] or b"").startswith(key)]
            assert want
            assert unplaced(alone.sent(topic)) == unplaced(want)
        assert alone.found.filtered > 0
        filtered += alone.found.filtered
    with (
        pytest.raises(Misused, match=r"no event is of 'nobody', but of .*'p'"),
        replay([target], project="nobody"),
    ):
        pass


def test_of_several_projects_none_is_the_one(tmp_path: Path) -> None:
    lines = [DECLARED, DECLARED | {"project": "q"}]
    with replay([write_jsonl(tmp_path / "e.jsonl", lines)]) as found:
        assert [p.name for p in found.projects] == ["p", "q"]
        with pytest.raises(Misused, match="--project"):
            found.project()
    with (
        replay([write_jsonl(tmp_path / "e.jsonl", [vote("t", "w", "0")])]) as found,
        pytest.raises(Misused, match="declare no project"),
    ):
        found.project()


def test_where_a_project_lives_depends_on_the_order_of_the_file(tmp_path: Path) -> None:
    """Also where the partitions' records are far fewer than a batch."""
    lines = [
        {"partition": 1, "offset": 0, "value": vote("t", "a", "0")},
        {"partition": 1, "offset": 1, "value": DECLARED},
        {"partition": 0, "offset": 0, "value": vote("t", "a", "0")},
        {"partition": 0, "offset": 1, "value": DECLARED},
        {"partition": 1, "offset": 2, "value": vote("t", "b", "0")},
    ]
    kept = Kept(write_jsonl(tmp_path / "log.jsonl", lines))
    assert kept.counts.dead_codes == {"unknown_project": 1, "wrong_partition": 2}
    assert [x.votes for x in kept.labels["p"]] == [1]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"offset": -1, "value": None}, "offset -1"),
        ({"offset": 2**63, "value": None}, "line 2"),
        ({"offset": "7", "value": None}, "line 2"),
        ({"offset": 7}, "value"),
        ({"offset": 7, "partition": -1, "value": None}, "partition -1"),
        ({"offset": 7, "timestamp": "yesterday", "value": None}, "RFC 3339"),
        ({"offset": 7, "timestamp": 1e30, "value": None}, "milliseconds"),
        ({"offset": 7, "key": 5, "value": None}, "key"),
        ({"offset": 7, "headers": [1], "value": None}, "headers"),
        ({"offset": 7, "headers": {"a": 1}, "value": None}, "header"),
        ({"offset": 7, "value": {"base64": "!"}}, "base64"),
        ({"offset": 0, "value": None}, "comes after 0"),
        ("nothing", "line 2"),
    ],
)
def test_a_wrapped_line_that_does_not_say_its_place_is_refused(
    line: object, said: str, tmp_path: Path
) -> None:
    target = write_jsonl(tmp_path / "log.jsonl", [{"offset": 0, "value": DECLARED}, line])
    with pytest.raises(Unreadable, match=said), replay([target]):
        pass


def test_files_that_do_not_go_together_are_refused(tmp_path: Path) -> None:
    bare = write_jsonl(tmp_path / "bare.jsonl", [DECLARED])
    placed = write_jsonl(tmp_path / "placed.jsonl", [{"offset": 0, "value": DECLARED}])
    votes = write_jsonl(tmp_path / "votes.jsonl", [{"task": 1, "worker": 1, "label": 1}])
    nothing = tmp_path / "nothing.jsonl"
    nothing.write_text("\n[]\n")
    for files, options, said in (
        ([bare, placed], {}, "without"),
        ([bare, votes], {}, "bare votes"),
        ([bare], {"kind": "binary"}, "--kind"),
        ([bare], {"settings": {"resolve": {"doubt": 0}}}, "options of resolution"),
    ):
        with pytest.raises(Misused, match=said), replay(files, **options):
            pass
    with pytest.raises(Unreadable, match="no JSON object"), replay([nothing]):
        pass
