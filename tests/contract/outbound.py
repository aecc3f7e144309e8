"""The schemas of what the service sends."""

from __future__ import annotations

import ast
import inspect
from typing import Any

from connector.adapters.kafka import letters
from connector.domain import errors
from connector.domain.config import MAX_CLASSES
from connector.domain.errors import DeadCode
from connector.engine import assign, choosing, messages, resolve, state

from .inbound import DATE, TIME, Schema, ref

OPEN_RULE = (state.CONFIDENT, state.CAPPED, state.AMBIGUOUS)
STATUSES: dict[str, tuple[str, ...]] = {
    resolve.RESOLVED: (*OPEN_RULE, state.GOLD),
    resolve.REVISED: (*OPEN_RULE, state.GOLD, state.ADJUDICATED),
    resolve.REOPENED: (state.OPEN,),
}
"""Kinds of messages on `labels.resolved`, each with the statuses that it can have."""

MEANING = {
    state.OPEN: "not resolved (any more)",
    state.CONFIDENT: "the confidence reached `resolve.confidence` with at least"
    " `resolve.min_labels` workers",
    state.CAPPED: "`max_labels` workers have voted",
    state.AMBIGUOUS: "as `capped`, with a confidence below `resolve.ambiguity`",
    state.GOLD: "the truth was sent",
    state.ADJUDICATED: "an expert decided an ambiguous task",
}

LABELS: dict[str, tuple[str, str]] = {
    resolve.RESOLVED: ("A task resolves", "For the first time, or again after `label.reopened`."),
    resolve.REVISED: (
        "A resolved task changes its label or its status",
        "It replaces what was sent before for the task.",
    ),
    resolve.REOPENED: (
        "A resolved task is open again",
        (
            "What was sent before for the task no longer holds. `label` is the class that is on top"
            " for now, null where no vote is left."
        ),
    ),
}

ASSIGNMENTS: dict[str, tuple[str, str]] = {
    messages.ASSIGNED: (
        "A worker gets a task",
        (
            "They hold it until they answer, skip, or `expires_at` passes. Nothing in it tells a"
            " gold task or a probe from any other."
        ),
    ),
    messages.EXPIRED: (
        "A worker holds a task no more",
        (
            "Without an answer: others may get it, and so may they. An answer ends a lease in"
            " silence; one that comes late still counts."
        ),
    ),
    messages.NONE: ("A worker who asked gets no task", "And why."),
}
"""Kinds of messages on `tasks.assigned`."""

ENDS: dict[str, str] = {
    assign.TIMED_OUT: "its time has passed",
    assign.WITHDRAWN: "the task was withdrawn",
    assign.BLOCKED: "the worker was blocked",
}
REFUSALS: dict[str, str] = {
    assign.PROJECT_CLOSED: "the project is closed",
    assign.BLOCKED: "the worker is blocked",
    assign.BUDGET: "pairs that ever voted and open leases have used up the budget",
    choosing.NO_OPEN_TASK: "there is no open task that such a worker could get",
    choosing.ALL_SEEN: "the worker has answered, skipped or holds all that there are",
}
"""In the order in which they are looked for: the first that holds is told."""

CLOUDEVENT_HEADERS: Schema = {
    "title": "CloudEvents 1.0 in binary mode",
    "type": "object",
    "required": ["ce_specversion", "ce_id", "ce_type", "ce_source", "ce_time", "content-type"],
    "properties": {
        "ce_specversion": {"const": "1.0"},
        "ce_id": {
            "description": "`{topic}/{partition}/{offset}/{sequence}`, of the record that caused"
            " the message and its place among that record's messages. The same however often the"
            " record is applied, so a subscriber can drop repeats by it.",
            "type": "string",
            "pattern": "^[^/]+(?:/[0-9]+){3}$",
        },
        "ce_type": {"type": "string"},
        "ce_source": {
            "description": "`/crowdresolve/<group>`.",
            "type": "string",
            "format": "uri-reference",
            "pattern": "^/crowdresolve/.",
        },
        "ce_time": {
            "description": "The time of the partition that the record was on.",
            "type": "string",
            "format": "date-time",
            "pattern": f"^[0-9]{{4}}-{DATE}T{TIME}Z$",
        },
        "content-type": {"const": "application/json"},
    },
}

_NUMBER: Schema = {"type": "string", "pattern": "^[0-9]+$"}
_DIGEST: Schema = {"type": "string", "pattern": "^[0-9a-f]{64}$"}


def schemas() -> dict[str, Schema]:
    """By name; those of the messages on `labels.resolved` and `tasks.assigned` by their kind."""
    return {
        "CloudEventHeaders": CLOUDEVENT_HEADERS,
        "Cause": {
            "title": "The record that a message comes from",
            "type": "object",
            "required": ["topic", "partition", "offset"],
            "properties": {
                "topic": {"type": "string"},
                "partition": {"type": "integer", "format": "int32", "minimum": 0},
                "offset": {"type": "integer", "format": "int64", "minimum": 0},
            },
        },
        **{kind: _label(kind, statuses) for kind, statuses in STATUSES.items()},
        **{kind: _assignment(kind) for kind in ASSIGNMENTS},
        "DeadCode": {
            "title": "Why a record could not be used",
            "description": "\n".join(f"- `{c}`: {m}" for c, m in code_meanings().items()),
            "type": "string",
            "enum": list(map(str, DeadCode)),
        },
        "DeadLetterHeaders": _dead_headers(),
    }


def headers(kind: str) -> Schema:
    """Of a message that is a CloudEvent."""
    return {
        "type": "object",
        "properties": {"ce_type": {"const": kind}},
        "allOf": [ref("CloudEventHeaders")],
    }


def code_meanings() -> dict[str, str]:
    """Each code with the sentence below it in `connector.domain.errors`."""
    body = ast.parse(inspect.getsource(errors)).body
    (codes,) = (n for n in body if isinstance(n, ast.ClassDef) and n.name == "DeadCode")
    found: dict[str, str] = {}
    for code, said in zip(codes.body, codes.body[1:], strict=False):
        if isinstance(code, ast.Assign) and isinstance(said, ast.Expr):
            found[ast.literal_eval(code.value)] = ast.literal_eval(said.value)
    return found


def _label(kind: str, statuses: tuple[str, ...]) -> Schema:
    title, summary = LABELS[kind]
    names: list[Any] = ["string"] if kind != resolve.REOPENED else ["string", "null"]
    properties: Schema = {
        "type": {"const": kind},
        "project": {"type": "string"},
        "task": {"type": "string"},
        "label": {
            "description": "One of the project's classes.",
            "type": names[0] if len(names) == 1 else names,
        },
        "confidence": {
            "description": "The stated probability of `label`; of the class on top where there is"
            " no label.",
            **_share(),
        },
        "probabilities": {
            "description": "The stated probability of each class; they sum to 1.",
            "type": "object",
            "minProperties": 2,
            "maxProperties": MAX_CLASSES,
            "additionalProperties": _share(),
        },
        "votes": {
            "description": "Distinct workers whose votes count.",
            "type": "integer",
            "format": "int32",
            "minimum": 0,
        },
        "status": {
            "description": "\n".join(f"- `{s}`: {MEANING[s]}" for s in statuses),
            "type": "string",
            "enum": list(statuses),
        },
        "algorithm": {
            "description": "Whose probabilities these are. Later releases may name others.",
            "type": "string",
            "examples": [state.FAST_SBIC],
        },
        "version": {
            "description": "Of the task: 1, 2, 3, ... without a gap.",
            "type": "integer",
            "format": "int64",
            "minimum": 1,
        },
        "cause": ref("Cause"),
    }
    return {
        "title": title,
        "description": f"{summary} Later releases may add fields.",
        "type": "object",
        "required": list(properties),
        "properties": properties,
    }


def _assignment(kind: str) -> Schema:
    title, summary = ASSIGNMENTS[kind]
    text: Schema = {"type": "string"}
    leased: Schema = {
        "task": text,
        "worker": text,
        "lease": {
            "description": "Its name: the `ce_id` of its `task.assigned`.",
            "type": "string",
        },
    }
    own: dict[str, Schema] = {
        messages.ASSIGNED: leased
        | {
            "expires_at": {
                "description": "By the time of the partition, which is that of its records.",
                "type": "string",
                "format": "date-time",
                "pattern": f"^[0-9]{{4}}-{DATE}T{TIME}Z$",
            },
            "score": {
                "description": "The lowest was chosen. `uncertainty`: the gap between the two best"
                " log-weights (ordinal: minus the expected absolute loss), more with open leases;"
                " `uniform`: votes and open leases.",
                "type": "number",
                "format": "double",
            },
            "policy": {"type": "string", "enum": ["uncertainty", "uniform"]},
        },
        messages.EXPIRED: leased | {"reason": _one_of(ENDS)},
        messages.NONE: {"worker": text, "reason": _one_of(REFUSALS)},
    }
    properties: Schema = {"type": {"const": kind}, "project": text} | own[kind]
    return {
        "title": title,
        "description": f"{summary} Later releases may add fields.",
        "type": "object",
        "required": list(properties),
        "properties": properties,
    }


def _one_of(meanings: dict[str, str]) -> Schema:
    return {
        "description": "\n".join(f"- `{name}`: {said}" for name, said in meanings.items()),
        "type": "string",
        "enum": list(meanings),
    }


def _share() -> Schema:
    return {"type": "number", "format": "double", "minimum": 0, "maximum": 1}


def _dead_headers() -> Schema:
    described: dict[str, Schema] = {
        "error-code": {"allOf": [ref("DeadCode")]},
        "error-message": {"type": "string", "description": "For people; it may change."},
        "origin-topic": {"type": "string"},
        "origin-partition": _NUMBER,
        "origin-offset": _NUMBER,
    }
    omitted: dict[str, Schema] = {
        "value-omitted": _NUMBER | {"description": "Bytes of the value that was left out."},
        "value-sha256": _DIGEST,
        "key-omitted": _NUMBER | {"description": "Bytes of the key that was left out."},
        "key-sha256": _DIGEST,
        "headers-omitted": _NUMBER | {"description": "How many of the record's own headers."},
    }
    return {
        "title": "Why and whence",
        "description": "They come after the record's own headers, which stay as they were; of a"
        " repeated name the last counts.",
        "type": "object",
        "required": list(letters.REASON),
        "properties": {name: described[name] for name in letters.REASON} | omitted,
    }
