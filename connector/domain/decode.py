"""From the bytes of a record to an event, or to the reason why it is none.

Plain JSON and CloudEvents 1.0, binary (headers `ce_*`) and structured
(`application/cloudevents+json`), come in.  The common case is one pass of msgspec.  Whatever that
refuses is read again the slow and lenient way, since the contract is laxer than any schema:
of a repeated key the last counts, and unknown fields may hold anything that is JSON.
"""

from __future__ import annotations

import base64
import json
from typing import Annotated, Any, NoReturn, get_args

import msgspec
from msgspec import UNSET, UnsetType

from .config import effective
from .errors import DeadCode, InputError
from .events import AnnotationSubmitted, Declared, Event, Int64, ProjectDeclared, Wire
from .ids import MAX_BYTES, Id, as_id
from .instants import Instant, parse_instant
from .records import Headers

TYPES: dict[str, type] = {str(kind.__struct_config__.tag): kind for kind in get_args(Wire)}
"""Every inbound type by its name on the wire."""

STRUCTURED = b"application/cloudevents+json"


def _hook(kind: type, value: Any) -> Any:
    if kind is Id:
        return as_id(value)
    if kind is Instant:
        return parse_instant(value)
    raise TypeError(f"no such field type: {kind}")


_decoder: msgspec.json.Decoder[Wire] = msgspec.json.Decoder(Wire, dec_hook=_hook)


_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_BYTES)]


class _Vote(msgspec.Struct, tag_field="type", tag="annotation.submitted", gc=False):
    """A vote whose names are plain strings: msgspec checks it alone, without a call of ours."""

    project: _Name
    task: _Name
    worker: _Name
    label: _Name
    at: Instant | UnsetType = UNSET
    annotation_id: _Name | UnsetType = UNSET
    revision: Int64 | UnsetType = UNSET


class _NoVote(msgspec.Struct, tag_field="type", tag="", gc=False):
    """Makes the type a must: it may be left out where there is only one."""


_votes: msgspec.json.Decoder[Any] = msgspec.json.Decoder(_Vote | _NoVote, dec_hook=_hook)


def decode(value: bytes | None, headers: Headers = ()) -> Event:
    """The event that a record carries.

    Raises:
        InputError: invalid_json, unknown_type or invalid_field.
    """
    if not value:
        raise InputError(DeadCode.INVALID_JSON, "the record has no value")
    if headers and _is_structured(headers):
        return _slow(value, headers)
    # In ASCII without escapes a name has as many bytes as letters, and no NUL or half surrogate.
    if value.isascii() and b"\\u" not in value and b"\0" not in value:
        try:
            v = _votes.decode(value)
        except (msgspec.MsgspecError, RecursionError):
            pass
        else:
            if type(v) is _Vote:
                return _submitted(v)
    try:
        value.decode()
        event = _decoder.decode(value)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return _slow(value, headers)
    if type(event) is ProjectDeclared:
        return _declared(event)
    return event  # type: ignore[return-value]


def _submitted(v: Any) -> AnnotationSubmitted:
    return AnnotationSubmitted(
        project=v.project,
        task=v.task,
        worker=v.worker,
        label=v.label,
        at=v.at,
        annotation_id=v.annotation_id,
        revision=v.revision,
    )


def _is_structured(headers: Headers) -> bool:
    return any(
        name.lower() == "content-type"
        and content is not None
        and content.strip().lower().startswith(STRUCTURED)
        for name, content in headers
    )


def _slow(value: bytes, headers: Headers) -> Event:
    fields = _fields(value)
    enveloped = "specversion" in fields and ("data" in fields or "data_base64" in fields)
    if enveloped or _is_structured(headers):
        data = _data(fields)
        fields = {"type": fields["type"], **data} if "type" in fields else data
    elif "type" not in fields:
        given = [c for n, c in headers if n == "ce_type" and c is not None]
        if given:
            fields["type"] = given[-1].decode("utf-8", "replace")
    kind = fields.get("type")
    if not isinstance(kind, str) or kind not in TYPES:
        shown = repr(kind)[:80] if "type" in fields else "missing"
        raise InputError(
            DeadCode.UNKNOWN_TYPE, f"`type` is {shown}; known are {', '.join(sorted(TYPES))}"
        )
    known = TYPES[kind].__struct_fields__  # type: ignore[attr-defined]
    checked = {name: fields[name] for name in known if name in fields}
    try:
        event: Any = msgspec.convert(checked | {"type": kind}, TYPES[kind], dec_hook=_hook)
    except msgspec.ValidationError as error:
        raise InputError(DeadCode.INVALID_FIELD, _told(error)) from None
    except (ValueError, OverflowError, RecursionError) as error:
        raise InputError(DeadCode.INVALID_FIELD, str(error)[:200]) from None
    if isinstance(event, ProjectDeclared):
        return _declared(event)
    return event  # type: ignore[no-any-return]


def _data(envelope: dict[str, Any]) -> dict[str, Any]:
    """The event in a structured CloudEvent: an object, or (as SDKs write bytes) base64 of one."""
    data = envelope.get("data")
    if data is None and isinstance(coded := envelope.get("data_base64"), str):
        try:
            return _fields(base64.b64decode(coded, validate=True))
        except ValueError as error:
            raise InputError(DeadCode.INVALID_JSON, f"`data_base64`: {error}") from None
    if not isinstance(data, dict):
        raise InputError(DeadCode.INVALID_JSON, "`data` of the CloudEvent must be an object")
    return data


def _fields(value: bytes) -> dict[str, Any]:
    try:
        text = value.decode()
    except UnicodeDecodeError as error:
        raise InputError(
            DeadCode.INVALID_JSON, f"not UTF-8: byte {error.start} is {value[error.start]:#04x}"
        ) from None
    try:
        fields = json.loads(text, parse_constant=_no_constant, parse_int=_integer)
    except RecursionError:
        raise InputError(DeadCode.INVALID_JSON, "nested too deeply") from None
    except ValueError as error:
        raise InputError(DeadCode.INVALID_JSON, f"not JSON: {error}"[:200]) from None
    if not isinstance(fields, dict):
        raise InputError(DeadCode.INVALID_JSON, f"a JSON object, not {type(fields).__name__}")
    return fields


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _integer(digits: str) -> int | float:
    # Longer than any id may be; Python refuses to read 4,300 digits and more at all.
    return int(digits) if len(digits) <= 600 else float("inf")


def _declared(event: ProjectDeclared) -> Declared:
    try:
        return Declared(project=event.project, config=effective(event))
    except ValueError as error:
        raise InputError(DeadCode.INVALID_FIELD, str(error)) from None


def _told(error: Exception) -> str:
    """Msgspec's message with the path as people write it: "... - at `$.task`" to "`task`: ..."."""
    text, _, path = str(error).partition(" - at `$")
    path = path.rstrip("`").lstrip(".")
    return (f"`{path}`: {text}" if path else text)[:300]
