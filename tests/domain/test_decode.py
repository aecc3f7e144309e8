"""What a record may hold, and what becomes of the rest."""

from __future__ import annotations

import json
from typing import Any

import pytest

from connector.domain.decode import TYPES, decode
from connector.domain.errors import DeadCode, InputError
from connector.domain.events import AnnotationSubmitted, Declared, TaskAdded, TaskGold

VOTE: dict[str, Any] = {
    "type": "annotation.submitted",
    "project": "p",
    "task": "t",
    "worker": "w",
    "label": "1",
}


def vote(**fields: Any) -> bytes:
    return json.dumps({**VOTE, **fields}).encode()


def code(value: bytes | None, headers: Any = ()) -> DeadCode:
    with pytest.raises(InputError) as refused:
        decode(value, headers)
    return refused.value.code


def submitted(value: bytes, headers: Any = ()) -> AnnotationSubmitted:
    event = decode(value, headers)
    assert isinstance(event, AnnotationSubmitted)
    return event


def test_an_integer_id_is_its_decimal_string() -> None:
    event = submitted(vote(task=17, worker=-3, label=0))
    assert (event.task, event.worker, event.label) == ("17", "-3", "0")


def test_an_id_stays_exactly_as_sent() -> None:
    for name in ["e\u0301", "é", " x ", "a/b%", "\u200b", "🦆", "x" * 512]:
        assert submitted(vote(task=name)).task == name


@pytest.mark.parametrize(
    "value", [None, True, 1.0, 1.5, [], {}, "", "\0", "a\0b", "x" * 513, "é" * 257, "\ud800"]
)
@pytest.mark.parametrize("field", ["project", "task", "worker", "label", "annotation_id"])
def test_nothing_else_is_an_id(field: str, value: object) -> None:
    assert code(vote(**{field: value})) is DeadCode.INVALID_FIELD


@pytest.mark.parametrize("number", [b"1.0", b"1e3", b"1" * 5000])
def test_a_number_that_is_no_integer_is_no_id(number: bytes) -> None:
    assert code(vote(task=7).replace(b"7", number)) is DeadCode.INVALID_FIELD


@pytest.mark.parametrize(
    "value",
    [
        None,
        b"",
        b"null",
        b"5",
        b"[]",
        b'"x"',
        b"{",
        b"\xef\xbb\xbf{}",
        b"\xff\xfe",
        vote() + b" x",
        vote(x=1).replace(b"1}", b"NaN}"),
        vote(x=1).replace(b"1}", b"Infinity}"),
        vote(x="?").replace(b"?", b"\xff"),
        vote(x=1).replace(b"1}", b"[" * 100_000 + b"]" * 100_000 + b"}"),
    ],
)
def test_what_is_no_json_object_is_said_to_be_none(value: bytes | None) -> None:
    assert code(value) is DeadCode.INVALID_JSON


@pytest.mark.parametrize("kind", [None, 5, "", "annotation", "label.resolved", "worker.absent"])
def test_an_unknown_type_says_which_are_known(kind: object) -> None:
    with pytest.raises(InputError, match=r"annotation\.submitted") as refused:
        decode(vote(type=kind))
    assert refused.value.code is DeadCode.UNKNOWN_TYPE


def test_a_missing_type_is_an_unknown_type() -> None:
    assert code(b"{}") is DeadCode.UNKNOWN_TYPE


@pytest.mark.parametrize("field", ["project", "task", "worker", "label"])
def test_a_missing_field_is_named(field: str) -> None:
    fields = {k: v for k, v in VOTE.items() if k != field}
    with pytest.raises(InputError, match=field):
        decode(json.dumps(fields).encode())


def test_unknown_fields_may_hold_anything_that_is_json() -> None:
    raw = vote(x=1).replace(b"1}", b'[{"a": 1e999, "b": "\\ud800"}, null]}')
    assert submitted(raw).task == "t"


def test_of_a_repeated_key_the_last_counts() -> None:
    raw = b'{"type":"task.gold","task":null,' + vote(task="x")[1:]
    assert submitted(raw).task == "x"
    assert code(vote()[:-1] + b',"task":null}') is DeadCode.INVALID_FIELD


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01t00:00:00z", 0),
        ("1970-01-01T01:00:00.5+01:00", 500_000),
        ("1969-12-31T23:59:59-00:01", 59_000_000),
        ("1970-01-01T00:00:00.1234567Z", 123_456),
        ("2200-12-31T23:59:59.999999999Z", 7_289_654_399_999_999),
    ],
)
def test_an_instant_is_rfc_3339_to_the_microsecond(text: str, microseconds: int) -> None:
    assert submitted(vote(at=text)).at == microseconds


@pytest.mark.parametrize(
    "text",
    [
        None,
        5,
        "",
        "now",
        "2026-01-02",
        "2026-01-02T03:04:05",
        "2026-01-02 03:04:05Z",
        "2026-02-30T00:00:00Z",
        "2026-01-02T24:00:00Z",
        "2026-01-02T03:04:05+24:00",
        "1969-12-31T23:59:59Z",
        "2201-01-01T00:00:00Z",
        "٢٠٢٦-01-02T03:04:05Z",
    ],
)
def test_nothing_else_is_an_instant(text: object) -> None:
    assert code(vote(at=text)) is DeadCode.INVALID_FIELD


@pytest.mark.parametrize("revision", [-(2**63), 0, 2**63 - 1])
def test_a_revision_is_a_signed_64_bit_integer(revision: int) -> None:
    assert submitted(vote(revision=revision)).revision == revision


@pytest.mark.parametrize("revision", [None, "1", 1.0, True, 2**63, -(2**63) - 1])
def test_nothing_else_is_a_revision(revision: object) -> None:
    assert code(vote(revision=revision)) is DeadCode.INVALID_FIELD


def test_gold_needs_its_label_which_may_be_null() -> None:
    event = decode(b'{"type":"task.gold","project":"p","task":"t","label":null}')
    assert isinstance(event, TaskGold)
    assert event.label is None
    assert code(b'{"type":"task.gold","project":"p","task":"t"}') is DeadCode.INVALID_FIELD


@pytest.mark.parametrize("prior", [[0.5, 0], [-1, 2], [1, None], "x", [1, True]])
def test_a_prior_is_numbers_above_0(prior: object) -> None:
    raw = json.dumps({"type": "task.added", "project": "p", "task": "t", "prior": prior})
    assert code(raw.encode()) is DeadCode.INVALID_FIELD


@pytest.mark.parametrize("field", [b'"prior":[1,1e999]', b'"priority":1e999'])
def test_every_number_is_finite(field: bytes) -> None:
    raw = b'{"type":"task.added","project":"p","task":"t",' + field + b"}"
    assert code(raw) is DeadCode.INVALID_FIELD


def test_a_retraction_needs_a_pair_or_an_annotation_id() -> None:
    raw = '{"type":"annotation.retracted","project":"p"%s}'
    decode((raw % ',"task":"t","worker":"w"').encode())
    decode((raw % ',"annotation_id":1').encode())
    assert code((raw % ',"task":"t"').encode()) is DeadCode.INVALID_FIELD


def test_a_declaration_is_given_its_defaults() -> None:
    event = decode(b'{"type":"project.declared","project":"p","kind":"binary","classes":[0,1]}')
    assert isinstance(event, Declared)
    assert event.config.classes == ("0", "1")
    assert (event.config.confidence, event.config.doubt) == (0.95, 0.1)


def test_a_structured_cloudevent_is_unwrapped() -> None:
    fields = {k: v for k, v in VOTE.items() if k != "type"}
    envelope = {"specversion": "1.0", "id": "1", "source": "x", "type": VOTE["type"]}
    raw = json.dumps({**envelope, "data": fields}).encode()
    assert submitted(raw).worker == "w"
    structured = (("content-type", b"application/cloudevents+json; charset=utf-8"),)
    assert submitted(raw, structured).worker == "w"


def test_a_binary_cloudevent_takes_its_type_from_the_headers() -> None:
    fields = {k: v for k, v in VOTE.items() if k != "type"}
    headers = (("ce_specversion", b"1.0"), ("ce_type", b"annotation.submitted"))
    assert submitted(json.dumps(fields).encode(), headers).label == "1"


def test_added_keeps_what_is_stated_apart_from_what_is_not() -> None:
    event = decode(b'{"type":"task.added","project":"p","task":"t","priority":5}')
    assert isinstance(event, TaskAdded)
    assert event.priority == 5.0
    assert not isinstance(event.max_labels, int)


def test_every_type_of_the_topic_is_known() -> None:
    assert set(TYPES) == {
        "annotation.submitted",
        "annotation.skipped",
        "annotation.retracted",
        "task.added",
        "task.withdrawn",
        "task.gold",
        "worker.available",
        "worker.blocked",
        "worker.unblocked",
        "project.declared",
        "reconciliation.part",
        "reconciliation.completed",
        "reconciliation.approved",
        "reconciliation.rejected",
        "time.passed",
    }
