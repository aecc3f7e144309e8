"""The whole AsyncAPI document, from the code and from `words`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

import connector
from connector.adapters.kafka.topics import (
    MARGIN_BYTES,
    TopicNames,
    annotations_settings,
    outgoing_settings,
)
from connector.domain.decode import STRUCTURED, TYPES
from connector.domain.errors import DeadCode
from connector.engine import assign, choosing, messages
from connector.engine.messages import Topics

from . import inbound, outbound, words
from .inbound import Schema, fields_of, ref

PATH = Path(connector.__file__).with_name("asyncapi.yaml")

VERSION = "1.0.0"
"""Of the contract: the middle number rises when something is added, the first when one breaks."""

HEADING = "# Made from the code by `python -m tests.contract`; a test fails when it is stale.\n"

BINARY, IN_ENVELOPE, DEAD = "cloudevent.binary", "cloudevent.structured", "dead.letter"
"""Names of messages that are no type of an event."""

KAFKA_DEFAULT_LIMIT = 1_048_588
"""Kafka's own `max.message.bytes`."""

NAMES = TopicNames()

DESCRIPTION = """\
CrowdResolve reads annotation events of a labelling platform from one Kafka topic and answers on
others: which label each task has by now, with which confidence, who should label what next, and
which records it could not use.

The names of topics are settings; those here are the defaults. On a topic, a record's partition
counts: all records of a project must be on one (the key is the project and the producer's
partitioner is murmur2, as Kafka's own is).

The schemas say what JSON Schema can say. Beyond that: ids are measured in bytes, numbers are
finite, `1.0` is no integer, of a repeated key the last counts, unknown fields are ignored, whatever
they hold. A field that may be left out may not therefore be null.
"""


def document() -> dict[str, Any]:
    """As plain values."""
    return {
        "asyncapi": "3.0.0",
        "id": "urn:crowdresolve",
        "info": {
            "title": "CrowdResolve",
            "version": VERSION,
            "description": DESCRIPTION,
            "license": {
                "name": "Apache-2.0",
                "url": "https://www.apache.org/licenses/LICENSE-2.0",
            },
            "tags": [{"name": "annotation"}, {"name": "crowdsourcing"}, {"name": "cloudevents"}],
        },
        "defaultContentType": "application/json",
        "servers": {
            "kafka": {
                "host": "{bootstrap}",
                "protocol": "kafka",
                "description": "The brokers of `--bootstrap-servers`.",
                "variables": {"bootstrap": {"default": "localhost:9092"}},
            }
        },
        "channels": _channels(),
        "operations": _operations(),
        "components": {
            "schemas": inbound.schemas() | _envelopes() | outbound.schemas(),
            "messages": _messages_in() | _messages_out(),
        },
    }


def text() -> str:
    """As the file has it."""
    return HEADING + yaml.dump(
        document(), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100
    )


# --- topics ----------------------------------------------------------------------------------


def _channels() -> dict[str, Any]:
    settings = {
        NAMES.annotations: annotations_settings(),
        **outgoing_settings(NAMES, KAFKA_DEFAULT_LIMIT),
    }
    described = {
        NAMES.annotations: (
            "What happens at the platform",
            (
                "The log that everything can be rebuilt from, so it is kept for ever. Name:"
                " `--topic-annotations`."
            ),
            [*TYPES, BINARY, IN_ENVELOPE],
        ),
        NAMES.resolved: (
            "The label of each task as it stands",
            (
                "Compacted: the last message of each key says how the task stands. Read it with"
                " `isolation.level=read_committed`. Name: `--topic-resolved`."
            ),
            [*outbound.STATUSES],
        ),
        NAMES.assigned: (
            "Who should label what next",
            (
                "Answers to `worker.available`, and leases that end without an answer. Read it with"
                " `isolation.level=read_committed`. Name: `--topic-assigned`."
            ),
            [*outbound.ASSIGNMENTS],
        ),
        NAMES.dead: (
            "Records that could not be used, and why",
            (
                f"`max.message.bytes` is {MARGIN_BYTES} above that of `{NAMES.annotations}`, here"
                " Kafka's default. `crowdresolve dead redrive` sends the originals again. Name:"
                " `--topic-dead`."
            ),
            [DEAD],
        ),
    }
    return {
        name: {
            "address": name,
            "title": title,
            "description": said,
            "messages": {m: {"$ref": f"#/components/messages/{m}"} for m in messages},
            "bindings": {
                "kafka": {
                    "topicConfiguration": _typed(settings[name]),
                    "bindingVersion": "0.5.0",
                }
            },
        }
        for name, (title, said, messages) in described.items()
    }


def _typed(settings: dict[str, str]) -> dict[str, Any]:
    return {
        key: [value] if key == "cleanup.policy" else int(value) if key[-1] == "s" else value
        for key, value in settings.items()
    }


def _operations() -> dict[str, Any]:
    group = {"type": "string", "default": Topics().group, "description": "`--group`"}
    return {
        "receiveAnnotations": {
            "action": "receive",
            "channel": {"$ref": f"#/channels/{NAMES.annotations}"},
            "title": "Read what happens at the platform",
            "summary": "In order of each partition, exactly once.",
            "bindings": {"kafka": {"groupId": group, "bindingVersion": "0.5.0"}},
        },
        "sendLabels": {
            "action": "send",
            "channel": {"$ref": f"#/channels/{NAMES.resolved}"},
            "title": "Tell the label of a task",
            "summary": "At most one message for each task and record; with `exactly_once`, the"
            " default, in a Kafka transaction.",
        },
        "sendAssignments": {
            "action": "send",
            "channel": {"$ref": f"#/channels/{NAMES.assigned}"},
            "title": "Tell a worker what to label next",
            "summary": "In the same Kafka transaction as all else that the record caused.",
        },
        "sendDeadLetters": {
            "action": "send",
            "channel": {"$ref": f"#/channels/{NAMES.dead}"},
            "title": "Keep what could not be used",
            "summary": "One for each record that is no event that could be applied; it changes"
            " nothing else.",
        },
    }


# --- messages --------------------------------------------------------------------------------


def _messages_in() -> dict[str, Any]:
    key = {
        "kafka": {
            "key": {
                "type": "string",
                "description": "The project. Not read: what counts is the partition that it leads"
                " to.",
            },
            "bindingVersion": "0.5.0",
        }
    }
    plain = {
        tag: {
            "name": tag,
            "title": words.TITLES.get(tag, tag),
            "summary": words.SUMMARIES.get(tag, ""),
            "contentType": "application/json",
            "payload": ref(tag),
            "bindings": key,
            "examples": [
                {"name": f"{tag}-{number}", "payload": {"type": tag, **fields}}
                for number, fields in enumerate(words.EXAMPLES.get(tag, ()), 1)
            ],
        }
        for tag in TYPES
    }
    vote = words.EXAMPLES["annotation.submitted"][0]
    attributes = {"specversion": "1.0", "id": "e-1", "source": "/platform"}
    attributes["type"] = "annotation.submitted"
    return plain | {
        BINARY: {
            "name": BINARY,
            "title": "Any event, as a CloudEvent in binary mode",
            "summary": "The header `ce_type` says the type where the value does not; the type in"
            " the value goes first. Other attributes, `ce_id` and `ce_time` too, are not read.",
            "contentType": "application/json",
            "headers": ref("CloudEventTypeHeaders"),
            "payload": ref("EventWithoutType"),
            "bindings": key,
            "examples": [
                {
                    "name": "binary",
                    "headers": {f"ce_{name}": value for name, value in attributes.items()},
                    "payload": vote,
                }
            ],
        },
        IN_ENVELOPE: {
            "name": IN_ENVELOPE,
            "title": "Any event, as a CloudEvent in structured mode",
            "summary": "Known by its content type, or by having `specversion` and `data`. A type in"
            " `data` goes before the one outside; `id` and `time` outside are not read. Bytes in"
            " `data_base64` are read as `data` would be.",
            "contentType": STRUCTURED.decode(),
            "payload": ref("CloudEvent"),
            "bindings": key,
            "examples": [{"name": "structured", "payload": attributes | {"data": vote}}],
        },
    }


def _envelopes() -> dict[str, Schema]:
    """Around the events, where they come as CloudEvents."""
    known = {"type": "string", "enum": list(TYPES)}
    attribute = {"type": "string", "minLength": 1}
    untyped = {"not": {"required": ["type"]}}
    return {
        "CloudEventTypeHeaders": {
            "title": "The headers of a CloudEvent in binary mode",
            "type": "object",
            "required": ["ce_specversion", "ce_id", "ce_source", "ce_type"],
            "properties": {
                "ce_specversion": {"const": "1.0"},
                "ce_id": attribute,
                "ce_source": attribute,
                "ce_type": known,
            },
        },
        "EventWithoutType": {
            "title": "The fields of the type that the header names",
            "allOf": [untyped],
            "anyOf": [ref(fields_of(tag)) for tag in TYPES],
        },
        "CloudEvent": {
            "title": "A CloudEvent with an event in its data",
            "type": "object",
            "required": ["specversion", "id", "source", "type", "data"],
            "properties": {
                "specversion": {"const": "1.0"},
                "id": attribute,
                "source": attribute,
                "type": attribute,
                "data": {"type": "object"},
            },
            "anyOf": [{"properties": {"data": {"oneOf": [ref(tag) for tag in TYPES]}}}]
            + [
                {
                    "properties": {
                        "type": {"const": tag},
                        "data": {"allOf": [untyped, ref(fields_of(tag))]},
                    }
                }
                for tag in TYPES
            ],
        },
    }


def _messages_out() -> dict[str, Any]:
    labels = {
        kind: _event_out(kind, said, "task", _label_example(kind))
        for kind, said in outbound.LABELS.items()
    }
    assignments = {
        kind: _event_out(kind, said, "worker", _assignment_example(kind))
        for kind, said in outbound.ASSIGNMENTS.items()
    }
    events = labels | assignments
    return events | {
        DEAD: {
            "name": DEAD,
            "title": "A record that could not be used",
            "summary": "Key, value and headers as they came, and more headers that say why and"
            " whence.",
            "description": "A letter that would be too large for the topic goes without its value"
            " (null; `value-omitted`, `value-sha256`), and if that is not enough without its key"
            " and the record's own headers (`key-omitted`, `key-sha256`, `headers-omitted`): the"
            " record is still where the headers say.",
            "contentType": "application/octet-stream",
            "headers": ref("DeadLetterHeaders"),
            "payload": {"description": "The bytes of the record, or null."},
            "bindings": {
                "kafka": {
                    "key": {"description": "The bytes of the record's key, or null."},
                    "bindingVersion": "0.5.0",
                }
            },
            "examples": [
                {
                    "name": DEAD,
                    "headers": {
                        "error-code": str(DeadCode.UNKNOWN_CLASS),
                        "error-message": "'2' is not a class of project 'rte'",
                        "origin-topic": NAMES.annotations,
                        "origin-partition": "0",
                        "origin-offset": "4712",
                    },
                    "payload": '{"type":"annotation.submitted","project":"rte","task":"t17",'
                    '"worker":"w3","label":"2"}',
                }
            ],
        }
    }


def _event_out(
    kind: str, said: tuple[str, str], keyed_by: str, example: dict[str, Any]
) -> dict[str, Any]:
    title, summary = said
    return {
        "name": kind,
        "title": title,
        "summary": summary,
        "contentType": "application/json",
        "headers": outbound.headers(kind),
        "payload": ref(kind),
        "bindings": {
            "kafka": {
                "key": {
                    "type": "string",
                    "description": f"Project and {keyed_by}; `%` and `/` inside a name are `%25`"
                    " and `%2F`.",
                    "pattern": "^[^/]+/[^/]+$",
                },
                "bindingVersion": "0.5.0",
            }
        },
        "examples": [example],
    }


def _headers_example(kind: str, offset: int) -> dict[str, str]:
    return {
        "ce_specversion": "1.0",
        "ce_id": f"{NAMES.annotations}/0/{offset}/0",
        "ce_type": kind,
        "ce_source": Topics().source.decode(),
        "ce_time": "2026-01-02T03:04:05.000000Z",
        "content-type": "application/json",
    }


def _assignment_example(kind: str) -> dict[str, Any]:
    offset = 4720 + list(outbound.ASSIGNMENTS).index(kind)
    lease = {"task": "t18", "worker": "w3", "lease": f"{NAMES.annotations}/0/4720/0"}
    own: dict[str, dict[str, Any]] = {
        messages.ASSIGNED: lease
        | {
            "expires_at": "2026-01-02T03:34:05.000000Z",
            "score": 0.61,
            "policy": "uncertainty",
        },
        messages.EXPIRED: lease | {"reason": assign.TIMED_OUT},
        messages.NONE: {"worker": "w3", "reason": choosing.ALL_SEEN},
    }
    return {
        "name": kind,
        "headers": _headers_example(kind, offset),
        "payload": {"type": kind, "project": "rte"} | own[kind],
    }


def _label_example(kind: str) -> dict[str, Any]:
    status, version = outbound.STATUSES[kind][0], 1 + list(outbound.STATUSES).index(kind)
    offset = 4710 + version
    return {
        "name": kind,
        "headers": _headers_example(kind, offset),
        "payload": {
            "type": kind,
            "project": "rte",
            "task": "t17",
            "label": "1",
            "confidence": 0.981,
            "probabilities": {"0": 0.019, "1": 0.981},
            "votes": 4,
            "status": status,
            "algorithm": "fast_sbic",
            "version": version,
            "cause": {"topic": NAMES.annotations, "partition": 0, "offset": offset},
        },
    }


# --- the file --------------------------------------------------------------------------------


class _Dumper(yaml.SafeDumper):
    """Says everything where it belongs, without anchors, and long texts line by line."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _string(dumper: yaml.SafeDumper, data: str) -> yaml.Node:
    return dumper.represent_scalar(
        "tag:yaml.org,2002:str", data, style="|" if "\n" in data.strip() else None
    )


def _list(dumper: yaml.SafeDumper, data: list[Any]) -> yaml.Node:
    short = all(isinstance(v, str | int | float) for v in data) and len(str(data)) < 160
    return dumper.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=short)


_Dumper.add_representer(str, _string)
_Dumper.add_representer(list, _list)
