"""Which records are events, and by which code the others are dead letters."""

from __future__ import annotations

import pytest

from . import pools
from .script import Script

VOTE = {"type": "annotation.submitted", "project": "p", "task": "t", "worker": "w", "label": "1"}
STRUCTURED = (("content-type", b"application/cloudevents+json; charset=UTF-8"),)


def code(value: object, *headers: tuple[str, bytes | None]) -> str:
    """Of the record's dead letter, or how it was counted."""
    p = Script()
    p.send(value, headers=headers)
    return p.code() if p.outcome == "dead" else p.outcome


def without(name: str) -> dict[str, object]:
    return {field: value for field, value in VOTE.items() if field != name}


@pytest.mark.parametrize("number", range(len(pools.NOT_JSON)))
def test_what_is_no_json_object_is_invalid_json(number: int) -> None:
    assert code(pools.NOT_JSON[number]) == "invalid_json"


@pytest.mark.parametrize("type_", [*pools.NO_TYPES, "worker.idle", "task.assigned"])
def test_a_type_that_nobody_knows_is_unknown(type_: object) -> None:
    assert code(VOTE | {"type": type_}) == "unknown_type"


@pytest.mark.parametrize("name", ["project", "task", "worker", "label"])
@pytest.mark.parametrize("number", range(len(pools.NO_IDS)))
def test_what_is_no_id_is_invalid(name: str, number: int) -> None:
    assert code(VOTE | {name: pools.NO_IDS[number]}) == "invalid_field"
    assert code(without(name)) == "invalid_field"


@pytest.mark.parametrize(
    "text",
    ["2026-01-02T03:04:05Z", "2200-12-31T23:59:59.9999999Z", "1970-01-01T00:59:00+00:59"],
)
def test_what_is_a_time_of_rfc_3339_is_valid(text: str) -> None:
    assert code(VOTE | {"at": text}) == "applied"


@pytest.mark.parametrize("number", range(len(pools.NO_INSTANTS)))
def test_what_is_no_time_is_invalid_in_every_type(number: int) -> None:
    at = {"at": pools.NO_INSTANTS[number]}
    assert code(VOTE | at) == "invalid_field"
    assert code({"type": "task.withdrawn", "project": "p", "task": "t"} | at) == "invalid_field"


@pytest.mark.parametrize("revision", pools.NO_REVISIONS)
def test_what_is_no_signed_64_bit_integer_is_no_revision(revision: object) -> None:
    assert code(VOTE | {"revision": revision}) == "invalid_field"


@pytest.mark.parametrize("number", range(len(pools.NO_CONFIGS)))
def test_what_is_no_configuration_is_invalid(number: int) -> None:
    where, value = pools.NO_CONFIGS[number]
    section, _, name = where.partition(".")
    fields = {section: {name: value} if name else value}
    declared = {"type": "project.declared", "project": "p", "kind": "binary", "classes": [0, 1]}
    assert code(declared | fields) == "invalid_field"


@pytest.mark.parametrize(("name", "value"), pools.NO_TASKS)
def test_what_no_task_can_have_is_invalid(name: str, value: object) -> None:
    assert code({"type": "task.added", "project": "p", "task": "t", name: value}) == "invalid_field"


def test_a_number_that_overflows_is_json_but_not_finite() -> None:
    text = b'{"type":"task.added","project":"p","task":"t","x":1e400,"priority":%s}'
    assert code(text % b"1e400") == "invalid_field"
    assert code(text % b"1e308") == "applied"


def test_defaults_of_ambiguity_and_reopen_confidence_are_capped_at_confidence() -> None:
    p = Script(resolve={"confidence": 0.5})
    config = p.fold.projects["p"].config
    assert (config.ambiguity, config.reopen_confidence) == (0.5, 0.5)


def test_a_gold_label_may_be_null_but_not_missing() -> None:
    gold = {"type": "task.gold", "project": "p", "task": "t"}
    assert code(gold) == "invalid_field"
    assert code(gold | {"label": None}) == "duplicates"


def test_a_retraction_needs_the_pair_or_the_id() -> None:
    retracted = {"type": "annotation.retracted", "project": "p"}
    assert code(retracted) == "invalid_field"
    assert code(retracted | {"task": "t"}) == "invalid_field"
    assert code(retracted | {"annotation_id": None, "task": "t", "worker": "w"}) == "invalid_field"
    assert code(retracted | {"annotation_id": 1}) == "applied"


def test_unknown_fields_are_ignored_whatever_they_hold() -> None:
    assert code(VOTE | {"x": None, "id": {}, "reason": 1, "y": "\ud800", "z": 10**999}) == "applied"


def test_of_a_repeated_key_the_last_counts() -> None:
    text = b'{"label":null,"type":"annotation.submitted","project":"p","task":"t","worker":"w",'
    assert code(text + b'"label":"0","label":"1"}') == "applied"


def test_an_integer_is_its_decimal_string() -> None:
    p = Script()
    p.send(
        b'{"type":"annotation.submitted","project":"p","task":-0,"worker":%d,"label":1}' % 10**30
    )
    assert p.votes_on("0") == {str(10**30): "1"}


def test_checks_go_json_type_fields_project_partition_class_id() -> None:
    p = Script()
    p.vote("t", "w", "1", annotation_id="a")
    everything_wrong: dict[str, object] = {
        "type": "nothing",
        "at": "never",
        "project": "nobody's",
        "task": "u",
        "worker": "w",
        "label": "no class",
        "annotation_id": "a",
    }
    codes = []
    for mended in (
        {},
        {"type": "annotation.submitted"},
        {"at": "2026-01-02T03:04:05Z"},
        {"project": "p"},
    ):
        everything_wrong |= mended
        p.send(everything_wrong, partition=1)
        codes.append(p.code())
    for mended in ({}, {"label": "1"}):
        everything_wrong |= mended
        p.send(everything_wrong)
        codes.append(p.code())
    assert codes == [
        "unknown_type",
        "invalid_field",
        "unknown_project",
        "wrong_partition",
        "unknown_class",
        "annotation_id_conflict",
    ]


# --- CloudEvents ------------------------------------------------------------------------------


def test_a_structured_cloudevent_holds_the_event_in_its_data() -> None:
    outer = {"specversion": "1.0", "id": "1", "source": "/x", "type": "com.example"}
    assert code(outer | {"data": VOTE}, *STRUCTURED) == "applied"
    assert code(outer | {"data": VOTE}) == "applied"
    assert code(outer | {"data": without("type")}) == "unknown_type"
    assert code(outer | {"type": VOTE["type"], "data": without("type")}) == "applied"


def test_the_time_of_a_cloudevent_is_not_the_events() -> None:
    p = Script()
    outer = {"specversion": "1.0", "time": "2026-01-02T03:04:05Z"}
    p.send(outer | {"data": VOTE | {"at": "2026-01-02T03:04:05Z"}})
    p.send(outer | {"time": "2026-01-03T03:04:05Z", "data": VOTE | {"label": "0"}})
    assert p.outcome == "applied"  # not comparable: another label replaces
    p.send(outer | {"time": "2026-01-01T03:04:05Z", "data": VOTE | {"label": "1"}})
    assert p.outcome == "applied"


def test_a_structured_cloudevent_without_an_object_is_invalid_json() -> None:
    assert code({"specversion": "1.0", "data": "text"}, *STRUCTURED) == "invalid_json"
    assert code(VOTE, *STRUCTURED) == "invalid_json"


def test_a_binary_cloudevent_has_the_event_as_its_value() -> None:
    headers = (("ce_specversion", b"1.0"), ("ce_type", b"annotation.submitted"))
    assert code(without("type"), *headers) == "applied"
    assert code(VOTE, ("ce_specversion", b"1.0"), ("ce_type", b"com.example")) == "applied"
    assert code(VOTE | {"type": None}, *headers) == "unknown_type"
    assert code(without("type"), ("ce_type", b"\xff")) == "unknown_type"


def test_a_plain_event_may_have_fields_named_as_those_of_a_cloudevent() -> None:
    assert code(VOTE | {"specversion": "1.0", "data": "mine"}) == "applied"
    assert code(VOTE | {"specversion": 1, "data": {}}) == "applied"
