"""Records as JSON, in both directions: text where the bytes are text, base64 where they are not."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw

from connector.domain.instants import parse_instant
from connector.domain.records import Headers, Outgoing

MAX_OFFSET = 2**63 - 2
_LATEST_MS = 7_289_654_400_000  # 2201

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


class Wrapped(NamedTuple):
    """A record as a dump has it; `timestamp` in microseconds, None where it has none."""

    partition: int
    offset: int
    timestamp: int | None
    key: bytes | None
    value: bytes | None
    headers: Headers


class _Line(msgspec.Struct, gc=False):
    offset: int
    value: Raw
    partition: int = 0
    timestamp: int | float | str | None = None
    key: Any = None
    headers: Any = None


_line = msgspec.json.Decoder(_Line)


def unwrapped(line: bytes) -> Wrapped:
    """The record of a wrapped line.

    Raises:
        ValueError: it is none; the message says what is wrong.
    """
    try:
        found = _line.decode(line)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not 0 <= found.offset <= MAX_OFFSET:
        raise ValueError(f"offset {found.offset} is out of bounds")
    if not 0 <= found.partition < 2**31:
        raise ValueError(f"partition {found.partition} is out of bounds")
    return Wrapped(
        found.partition,
        found.offset,
        _microseconds(found.timestamp),
        _bytes(found.key, "key"),
        _value(found.value),
        _headers(found.headers),
    )


def _microseconds(timestamp: float | str | None) -> int | None:
    if timestamp is None:
        return None
    if isinstance(timestamp, str):
        try:
            return parse_instant(timestamp)
        except ValueError as error:
            raise ValueError(f"timestamp {timestamp[:40]!r} {error}") from None
    if timestamp == -1:  # Kafka's way to say that there is none
        return None
    if not 0 <= timestamp < _LATEST_MS:
        raise ValueError(f"timestamp {timestamp} is no number of milliseconds since 1970")
    return round(timestamp * 1000)


def _value(raw: Raw) -> bytes | None:
    text = bytes(raw).strip()
    if text == b"null":
        return None
    if text.startswith(b'"'):
        try:
            return str(_decode(text)).encode()
        except msgspec.DecodeError:  # half of a surrogate pair: bytes that are no UTF-8
            return str(json.loads(text)).encode(errors="surrogatepass")
    if text.startswith(b"{") and b'"base64"' in text:
        found = _decode(text)
        if set(found) == {"base64"}:
            return _bytes(found, "value")
    return text


def _bytes(given: Any, name: str) -> bytes | None:
    if given is None:
        return None
    if isinstance(given, str):
        return given.encode(errors="surrogatepass")
    if isinstance(given, dict) and isinstance(given.get("base64"), str):
        try:
            return base64.b64decode(given["base64"], validate=True)
        except binascii.Error as error:
            raise ValueError(f"{name} is no base64: {error}") from None
    raise ValueError(f'{name} must be a string, null or {{"base64": "..."}}')


def _headers(given: Any) -> Headers:
    if given is None:
        return ()
    pairs = given
    if isinstance(given, dict):
        pairs = [
            (name, v)
            for name, value in given.items()
            for v in (value if isinstance(value, list) else [value])
        ]
    try:
        return tuple((str(name), _bytes(value, f"header {name}")) for name, value in pairs)
    except (TypeError, ValueError) as error:
        raise ValueError(f"headers must be an object or a list of pairs: {error}") from None


def message_line(message: Outgoing) -> bytes:
    """A message as one line: topic, key, headers, value.

    The value of a label or an assignment is its JSON object.  That of any other message (a dead
    letter: the original bytes) is a string.  A header that occurs more than once is a list.  Bytes
    that are no UTF-8 are `{"base64": "..."}`.
    """
    headers: dict[str, Any] = {}
    repeated: set[str] = set()
    for name, content in message.headers:
        value = _shown(content)
        if name not in headers:
            headers[name] = value
        elif name in repeated:
            headers[name].append(value)
        else:
            headers[name] = [headers[name], value]
            repeated.add(name)
    ours = message.value is not None and headers.get("ce_specversion") == "1.0"
    ours = ours and "error-code" not in headers
    value = Raw(message.value) if ours and message.value else _shown(message.value)
    fields = {
        "topic": message.topic,
        "key": _shown(message.key),
        "headers": headers,
        "value": value,
    }
    return _encode(fields) + b"\n"


def _shown(content: bytes | None) -> Any:
    if content is None:
        return None
    try:
        return content.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode()}
