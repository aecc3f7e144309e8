"""The CloudEvents SDK writes what the service reads, and reads what it sends."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cloudevents.core.bindings import kafka
from cloudevents.core.bindings.kafka import KafkaMessage
from cloudevents.core.v1.event import CloudEvent

from connector.adapters.memory.store import MemoryStore
from connector.domain.decode import TYPES, decode
from connector.domain.errors import DeadCode, InputError
from connector.domain.events import Event
from connector.domain.records import Headers, Record
from connector.engine.messages import Topics
from tests.oracle.logs import random_log
from tests.pipeline.folding import folded, records_of

from . import words
from .document import BINARY, DEAD, IN_ENVELOPE
from .strict import published, wrong

SEEDS = range(6)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

EXAMPLES = [(tag, fields) for tag in TYPES for fields in words.EXAMPLES[tag]]


def made(tag: str, data: dict[str, Any] | str | bytes | None, **attributes: Any) -> CloudEvent:
    return CloudEvent({"type": tag, "source": "/platform", **attributes}, data)


def read(message: KafkaMessage) -> Event:
    return decode(message.value, tuple(message.headers.items()))


def plain(tag: str, fields: dict[str, Any]) -> Event:
    return decode(json.dumps({"type": tag, **fields}).encode())


def both_forms(event: CloudEvent) -> tuple[KafkaMessage, KafkaMessage]:
    return kafka.to_binary_event(event), kafka.to_structured_event(event)


def outcome(value: bytes, headers: Headers = ()) -> Event | DeadCode:
    try:
        return decode(value, headers)
    except InputError as error:
        return error.code


# --- in ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("tag", "fields"), EXAMPLES)
def test_an_event_of_the_sdk_is_read_as_the_plain_one(tag: str, fields: dict[str, Any]) -> None:
    attributes = {"datacontenttype": "application/json", "partitionkey": "rte", "tenant": "a"}
    for event in (made(tag, fields), made(tag, fields, **attributes)):
        for message in both_forms(event):
            assert read(message) == plain(tag, fields)


@pytest.mark.parametrize(("tag", "fields"), EXAMPLES)
def test_what_the_sdk_writes_is_valid_by_the_contract(tag: str, fields: dict[str, Any]) -> None:
    binary, structured = both_forms(made(tag, fields))
    headers = {name: content.decode() for name, content in binary.headers.items()}
    assert wrong(f"components/messages/{BINARY}/headers", headers) is None
    for name, message in ((BINARY, binary), (IN_ENVELOPE, structured)):
        payload = json.loads(message.value)
        assert wrong(f"components/messages/{name}/payload", payload) is None


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_a_log_holds_can_come_through_the_sdk(seed: int) -> None:
    seen: Counter[str] = Counter()
    for record in random_log(seed, 400, cloudevents=0, bad=0.2, runs=0.1, assignments=0.2):
        try:
            fields = json.loads(record.value or b"")
            tag = fields.pop("type")
            known = tag in TYPES
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue
        if not known:
            continue
        expected = outcome(json.dumps({"type": tag, **fields}).encode())
        for message in both_forms(made(tag, fields)):
            assert outcome(message.value, tuple(message.headers.items())) == expected
        seen["refused" if isinstance(expected, DeadCode) else tag] += 1
    decisions = {"reconciliation.approved", "reconciliation.rejected"}  # not in every log
    assert {*seen, *decisions} == {*TYPES, "refused"}


def test_the_type_in_the_data_goes_before_the_one_of_the_cloudevent() -> None:
    tag, fields = EXAMPLES[0]
    for message in both_forms(made("com.example.happened", {"type": tag, **fields})):
        assert read(message) == plain(tag, fields)


def test_a_type_that_nobody_knows_and_no_data_are_dead_letters() -> None:
    for message in both_forms(made("com.example.happened", EXAMPLES[0][1])):
        with pytest.raises(InputError) as refused:
            read(message)
        assert refused.value.code == DeadCode.UNKNOWN_TYPE
    for message in both_forms(made("annotation.submitted", None)):
        with pytest.raises(InputError) as refused:
            read(message)
        assert refused.value.code == DeadCode.INVALID_JSON


def test_bytes_are_read_in_binary_mode_and_in_structured_mode() -> None:
    """There the SDK puts them into `data_base64`."""
    tag, fields = EXAMPLES[0]
    binary, structured = both_forms(made(tag, json.dumps(fields).encode()))
    assert read(binary) == plain(tag, fields)
    assert read(structured) == plain(tag, fields)


@pytest.mark.parametrize("coded", ["?", "bnVsbA==", "", 5, "é"])
def test_what_is_not_base64_of_an_object_is_no_event(coded: object) -> None:
    envelope = {"specversion": "1.0", "type": "task.withdrawn", "data_base64": coded}
    with pytest.raises(InputError) as refused:
        decode(json.dumps(envelope).encode())
    assert refused.value.code == DeadCode.INVALID_JSON


# --- out ---------------------------------------------------------------------------------------


def taken(headers: Headers) -> dict[str, bytes]:
    return {name: content for name, content in headers if content is not None}


def log_of(seed: int) -> list[Record]:
    return records_of(random_log(seed, 300, partitions=2))


def times(log: Sequence[Record]) -> dict[tuple[int, int], int]:
    """Of each partition and offset the time then: the latest timestamp until there."""
    latest: Counter[int] = Counter()
    found = {}
    for record in log:
        latest[record.partition] = max(latest[record.partition], record.timestamp)
        found[record.partition, record.offset] = latest[record.partition]
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_sent_is_read_by_the_sdk_as_cloudevents_1_0(seed: int) -> None:
    log = log_of(seed)
    then, ids = times(log), []
    for message in folded(MemoryStore(), log, seed=seed):
        if message.topic != Topics().resolved:
            continue
        assert message.value is not None
        assert message.key is not None
        value = json.loads(message.value)
        event = kafka.from_kafka_event(
            KafkaMessage(taken(message.headers), message.key, message.value)
        )
        assert isinstance(event, CloudEvent)
        assert event.get_specversion() == "1.0"
        assert event.get_type() == value["type"]
        assert event.get_source() == "/crowdresolve/crowdresolve"
        assert event.get_datacontenttype() == "application/json"
        assert event.get_data() == value
        assert event.get_extension("partitionkey") == message.key.decode()
        at = then[value["cause"]["partition"], value["cause"]["offset"]]
        assert event.get_time() == EPOCH + timedelta(microseconds=at)
        ids.append(event.get_id())
    assert len(ids) > 10
    assert len(set(ids)) == len(ids)


def test_a_dead_letter_of_a_cloudevent_is_still_that_cloudevent() -> None:
    """Its own headers stay; the reason comes beside them, and is no attribute."""
    found = 0
    for message in folded(MemoryStore(), log_of(1)):
        headers = taken(message.headers)
        if message.topic != Topics().dead or "ce_type" not in headers:
            continue
        reason = {n: c.decode() for n, c in headers.items() if n.startswith(("error", "origin"))}
        assert wrong(f"components/messages/{DEAD}/headers", reason) is None
        assert not any(name.startswith("ce_") for name in reason)
        found += 1
    assert found


def test_headers_of_the_contract_are_exactly_those_of_the_binding() -> None:
    """What the SDK writes for an event with all that ours has."""
    event = made("label.resolved", {}, datacontenttype="application/json")
    schema = published()["components"]["schemas"]["CloudEventHeaders"]
    assert set(kafka.to_binary_event(event).headers) == set(schema["required"])
