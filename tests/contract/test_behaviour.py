"""The schemas against what the service does: what it takes, what it refuses, what it sends."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from connector.adapters.kafka.letters import REDUCTIONS
from connector.adapters.memory.store import MemoryStore
from connector.domain.decode import STRUCTURED, TYPES, decode
from connector.domain.errors import DeadCode, InputError
from connector.domain.records import Headers, Outgoing
from connector.engine.messages import Topics
from tests.oracle import logs, pools
from tests.pipeline.folding import folded, records_of

from . import words
from .document import BINARY, DEAD, IN_ENVELOPE, NAMES
from .inbound import fields_of
from .strict import published, validator, why_not, wrong

SEEDS = range(12)

BEYOND_SCHEMAS = re.compile(
    "|".join(
        (
            r"bytes long; 512 are allowed",  # where it is not too long in characters
            r"half of a surrogate pair",
            r"outside the years 1970 to 2200",  # on their first and last day
            r"names a class twice",  # 1 and "1"
            r"lies above `resolve.confidence`",
            r"must have \d+ numbers, one a class",
            r"cannot be scaled to sum 1",
        )
    )
)
"""What is refused for a reason that JSON Schema has no word for."""


def refusal(value: bytes, headers: Headers = ()) -> InputError | None:
    try:
        decode(value, headers)
    except InputError as error:
        return error
    return None


def schema_says(value: bytes, headers: Headers) -> tuple[str, str | None]:
    """The form that a record has, and what is wrong with it by the schemas of that form."""
    found = json.loads(value)
    given = {name: content for name, content in headers if content is not None}
    if given.get("content-type", b"").startswith(STRUCTURED) or "specversion" in found:
        return IN_ENVELOPE, why_not("CloudEvent", found)
    if "type" in found:
        return found["type"], why_not(found["type"], found)
    tag = given["ce_type"].decode()
    return BINARY, why_not("EventWithoutType", found) or why_not(fields_of(tag), found)


def sent(seed: int, **options: Any) -> Iterator[tuple[bytes, Headers]]:
    options = {"redeclare": 0.1, "cloudevents": 0.2, "assignments": 0.1, "runs": 0.1} | options
    for record in logs.random_log(seed, 600, **options):
        if record.value is not None:
            yield record.value, record.headers


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_taken_is_valid_whatever_form_it_comes_in(seed: int) -> None:
    forms: Counter[str] = Counter()
    for value, headers in sent(seed):
        if refusal(value, headers) is None:
            form, error = schema_says(value, headers)
            assert error is None, (value, headers)
            forms[form] += 1
    decisions = {"reconciliation.approved", "reconciliation.rejected"}  # not in every log
    assert {*forms, *decisions} == {*TYPES, BINARY, IN_ENVELOPE}


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_refused_for_a_field_is_invalid(seed: int) -> None:
    seen: Counter[str] = Counter()
    for value, headers in sent(seed, bad=0.6):
        refused = refusal(value, headers)
        if refused is None or refused.code != DeadCode.INVALID_FIELD:
            continue
        form, error = schema_says(value, headers)
        if BEYOND_SCHEMAS.search(str(refused)) and error is None:
            seen["beyond"] += 1
            continue
        assert error is not None, (str(refused), value, headers)
        seen[form] += 1
    assert sum(seen.values()) > 50
    assert seen["beyond"] < 0.2 * sum(seen.values())


# --- one field after the other -----------------------------------------------------------------

POOL: tuple[object, ...] = (
    *(None, True, False, 0, 1, 2, -1, 1.0, 0.5, 1.5, -0.5, 1e-7, 1e6, 1e9, 1.1e9, 10**400),
    *(2**31 - 1, 2**31, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, float("inf")),
    *("", "x", "auto", "uniform", "binary", "ordinal", "cola", "a\0b", "x" * 512, "x" * 513),
    *("é" * 257, "line\n", "\ud800", [], {}, [1], [1, 2], [1, 2, 3], ["a", "b"], ["a", "b", "c"]),
    *(["a", "a"], ["1", 1], [0, 1], [2, 1], [1e7, 1], [None, 1], ["a"] * 1001, [""], [{}]),
    *({"confidence": 0.5}, {"x": 1}, list(range(1000)), list(range(1001)), 10**511, 10**512),
    *pools.INSTANTS,
    *pools.NO_INSTANTS,
    *pools.NO_IDS,
    *pools.NO_REVISIONS,
)


def changes(event: dict[str, Any], sections: bool) -> Iterator[dict[str, Any]]:
    """The event with one field, of a section too, missing or with another value."""
    tag = event["type"]
    properties = published()["components"]["schemas"][fields_of(tag)]["properties"]
    for name in properties:
        yield {n: v for n, v in event.items() if n != name}
        for value in POOL:
            yield event | {name: value}
        section = published()["components"]["schemas"].get(name.capitalize())
        if sections and section is not None:
            for key in section["properties"]:
                for value in POOL:
                    yield event | {name: event.get(name, {}) | {key: value}}


@pytest.mark.parametrize("tag", TYPES)
def test_whatever_is_put_into_a_field_both_judge_alike(tag: str) -> None:
    taken: Counter[bool] = Counter()
    for fields in words.EXAMPLES[tag]:
        for event in changes({"type": tag, **fields}, sections=True):
            value = re.sub("Infinity", "1e400", json.dumps(event)).encode()
            refused, error = refusal(value), why_not(tag, json.loads(value))
            if refused is None or not BEYOND_SCHEMAS.search(str(refused)):
                assert (refused is None) == (error is None), (value[:300], str(refused), error)
            taken[refused is None] += 1
    assert min(taken[True], taken[False]) > 20


NO_OBJECTS: tuple[object, ...] = (None, [], "text", 1, True)


def test_nothing_but_an_object_is_an_event() -> None:
    for tag in TYPES:
        for value in NO_OBJECTS:
            assert why_not(tag, value) is not None
    assert why_not("EventWithoutType", []) is not None
    assert why_not("CloudEvent", []) is not None


def test_examples_are_taken_and_the_ones_of_cloudevents_mean_the_same() -> None:
    messages = published()["components"]["messages"]
    for name in published()["channels"][NAMES.annotations]["messages"]:
        for example in messages[name]["examples"]:
            headers = [("content-type", messages[name]["contentType"].encode())]
            headers += [(n, v.encode()) for n, v in example.get("headers", {}).items()]
            event = decode(json.dumps(example["payload"]).encode(), tuple(headers))
            if name in (BINARY, IN_ENVELOPE):
                plain = messages["annotation.submitted"]["examples"][0]["payload"]
                assert event == decode(json.dumps(plain).encode())


# --- what is sent ------------------------------------------------------------------------------


def text_of(headers: Headers) -> dict[str, Any]:
    return {name: content.decode() for name, content in headers if content is not None}


def check_label(message: Outgoing) -> str:
    assert message.value is not None
    value = json.loads(message.value)
    place = f"components/messages/{value['type']}"
    assert wrong(f"{place}/payload", value) is None, value
    headers = text_of(message.headers)
    assert wrong(f"{place}/headers", headers) is None, headers
    assert message.key is not None
    key = message.key.decode()
    assert wrong(f"{place}/bindings/kafka/key", key) is None, key
    # Beyond schemas.
    schema = published()["components"]["schemas"][value["type"]]
    assert set(value) == set(schema["properties"]), "a field that the contract does not name"
    assert set(headers) == set(
        published()["components"]["schemas"]["CloudEventHeaders"]["properties"]
    )
    assert sum(value["probabilities"].values()) == pytest.approx(1, abs=1e-9)
    if value["label"] is not None:
        assert value["confidence"] == value["probabilities"][value["label"]]
    cause = value["cause"]
    assert headers["ce_id"].startswith("{topic}/{partition}/{offset}/".format(**cause))
    return f"{value['type']} {value['status']}"


def check_assignment(message: Outgoing) -> str:
    value, headers = json.loads(message.value or b""), text_of(message.headers)
    place = f"components/messages/{value['type']}"
    assert wrong(f"{place}/payload", value) is None, value
    assert wrong(f"{place}/headers", headers) is None, headers
    assert message.key is not None
    assert wrong(f"{place}/bindings/kafka/key", message.key.decode()) is None, message.key
    schema = published()["components"]["schemas"][value["type"]]
    assert set(value) == set(schema["properties"]), "a field that the contract does not name"
    if value["type"] == "task.assigned":
        assert value["lease"] == headers["ce_id"]
    return f"{value['type']} {value.get('reason') or value['policy']}"


def check_letter(message: Outgoing) -> str:
    schema = published()["components"]["schemas"]["DeadLetterHeaders"]
    known, own = set(schema["properties"]), len(message.headers) - len(schema["required"])
    assert not known & {name for name, _ in message.headers[:own]}
    code = ""
    for letter in (message, *(reduce(message) for reduce in REDUCTIONS)):
        # What is added comes after the record's own headers, where those are not left out.
        at = own if message.headers[:own] == letter.headers[:own] else 0
        headers = text_of(letter.headers[at:])
        assert set(headers) <= known
        assert wrong(f"components/messages/{DEAD}/headers", headers) is None, headers
        code = headers["error-code"]
    return code


def test_whatever_is_sent_is_valid() -> None:
    seen: Counter[str] = Counter()
    for seed in range(40):
        log = logs.random_log(
            seed, 300, partitions=1 + seed % 2, workers=12, runs=0.03, assignments=0.4 * (seed % 2)
        )
        for message in folded(MemoryStore(), records_of(log), seed=seed):
            if message.topic == Topics().resolved:
                seen[check_label(message)] += 1
            elif message.topic == Topics().assigned:
                seen[check_assignment(message)] += 1
            else:
                assert message.topic == Topics().dead
                seen[check_letter(message)] += 1
    schemas = published()["components"]["schemas"]
    kinds = published()["channels"][NAMES.resolved]["messages"]
    possible = {f"{k} {s}" for k in kinds for s in schemas[k]["properties"]["status"]["enum"]}
    for kind in published()["channels"][NAMES.assigned]["messages"]:
        properties = schemas[kind]["properties"]
        told = properties["policy" if kind == "task.assigned" else "reason"]["enum"]
        possible |= {f"{kind} {why}" for why in told}
    assert set(seen) == possible | set(map(str, DeadCode))


def test_a_label_is_null_only_where_no_vote_is_left() -> None:
    for kind in published()["channels"][NAMES.resolved]["messages"]:
        example = published()["components"]["messages"][kind]["examples"][0]["payload"]
        valid = validator(f"components/schemas/{kind}").is_valid(example | {"label": None})
        assert valid == (kind == "label.reopened")


def test_what_is_wrong_in_a_label_message_is_seen() -> None:
    rng = random.Random(0)
    for kind in published()["channels"][NAMES.resolved]["messages"]:
        example = published()["components"]["messages"][kind]["examples"][0]["payload"]
        for name in example:
            without = {n: v for n, v in example.items() if n != name}
            assert why_not(kind, without) is not None
            assert why_not(kind, example | {name: rng.choice(([], True, -1, 1.5))}) is not None
