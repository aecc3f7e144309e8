"""A message as a record of a batch, in bytes: what `parsing` reads back."""

from __future__ import annotations

from functools import lru_cache

from connector.domain.records import Headers


def encoded(number: int, key: bytes | None, value: bytes | None, headers: Headers) -> bytes:
    """One record, stamped with its batch's time.

    Args:
        number: its place in the batch, from 0.
        key: None is null.
        value: the same.
        headers: a null one becomes an empty one, as the client has it, which knows no null ones.
    """
    pieces = [b"\0\0", _number(number)]  # no attributes, and no time later than the batch's
    add = pieces.append
    for content in (key, value):
        if content is None:
            add(_NULL)
        else:
            add(_number(len(content)))
            add(content)
    add(_number(len(headers)))
    for name, content in headers:
        add(_name(name))
        content = content or b""
        add(_number(len(content)))
        add(content)
    body = b"".join(pieces)
    return _number(len(body)) + body


_NULL = b"\x01"  # a size of -1


def _varint(number: int) -> bytes:
    """Seven bits a byte, the lowest first; doubled, since the lowest bit is the sign."""
    number <<= 1
    taken = bytearray()
    while number > 0x7F:
        taken.append(number & 0x7F | 0x80)
        number >>= 7
    taken.append(number)
    return bytes(taken)


_SMALL = [_varint(number) for number in range(2048)]


def _number(number: int) -> bytes:
    return _SMALL[number] if number < 2048 else _varint(number)


@lru_cache(maxsize=1024)
def _name(name: str) -> bytes:
    """A header's name with its size; ours are always the same few."""
    data = name.encode()
    return _number(len(data)) + data
