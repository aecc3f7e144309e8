"""Record batches as any producer may have written them.

The client takes a header key that is not UTF-8 for damage, decompresses a batch as a whole however
large it gets, and gives up on what follows a gzip stream.  Brokers accept all three, so here they
must not stop the service.  What is too large to keep is left out, and headers say so.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from kafka.record.default_records import DefaultRecord, DefaultRecordBatch
from kafka.record.util import decode_varint

from .decompress import Stream, decompressing

BATCH_BYTES = 64 * 1024 * 1024
"""A batch is decompressed at once up to this; record by record above."""

RECORD_BYTES = 32 * 1024 * 1024
"""Of a larger record, key, value and headers above `FIELD_BYTES` are left out."""

FIELD_BYTES = 1024 * 1024

HEADERS = 1000
"""Headers beyond these are left out: one takes 2 bytes of a batch, and 150 of memory."""

_PIECE = 1024 * 1024


class LenientBatch(DefaultRecordBatch):  # type: ignore[misc]
    """A batch that gives what can be given. A `DefaultRecordBatch` is made one by its class."""

    # None of its own, or an object of the parent could not be made one of these.
    __slots__ = tuple[str, ...]()

    _buffer: Any
    _decompressed: bool
    _num_records: int
    _pos: int

    def __iter__(self) -> Iterator[Any]:
        if self._decompressed or self.compression_type == self.CODEC_NONE:
            return super().__iter__()  # type: ignore[no-any-return]
        self._assert_has_codec(self.compression_type)
        stream = decompressing(self.compression_type, bytes(memoryview(self._buffer)[self._pos :]))
        head = _up_to(stream, BATCH_BYTES)
        if len(head) > BATCH_BYTES:
            return self._one_by_one(_Reader(head, stream))
        self._decompressed = True
        self._buffer = head
        self._pos = 0
        return super().__iter__()  # type: ignore[no-any-return]

    def _one_by_one(self, reader: _Reader) -> Iterator[Any]:
        for _ in range(self._num_records):
            length = reader.varint()
            if length > RECORD_BYTES:
                yield self._oversized(length, reader)
            else:
                yield self._record(reader.take(length), 0, length)

    def _read_msg(self, *_: Any) -> Any:
        length, start = decode_varint(self._buffer, self._pos)
        if self.is_control_batch:
            return super()._read_msg()
        self._pos = start + length
        if length > RECORD_BYTES:
            whole = memoryview(self._buffer)[start : self._pos]
            return self._oversized(length, _Reader(b"", io.BytesIO(whole)))
        return self._record(self._buffer, start, length)

    def _record(self, buffer: bytes, position: int, length: int) -> Any:
        end = position + length
        delta, position = decode_varint(buffer, position + 1)  # after the attributes
        offset, position = decode_varint(buffer, position)
        size, position = decode_varint(buffer, position)
        key = None
        if size >= 0:
            key = bytes(buffer[position : position + size])
            position += size
        size, position = decode_varint(buffer, position)
        value = None
        if size >= 0:
            value = bytes(buffer[position : position + size])
            position += size
        headers: list[tuple[str, bytes | None]] = []
        if position + 1 == end and not buffer[position]:  # none, as in most records
            return self._made(length, delta, offset, key, value, headers)
        count, position = decode_varint(buffer, position)
        for _ in range(min(count, HEADERS)):
            size, position = decode_varint(buffer, position)
            name = _text(bytes(buffer[position : position + size]))
            position += size
            size, position = decode_varint(buffer, position)
            content = None
            if size >= 0:
                content = bytes(buffer[position : position + size])
                position += size
            headers.append((name, content))
        if count > HEADERS:
            headers.append(("headers-omitted", str(count - HEADERS).encode()))
        elif position != end:
            raise ValueError(f"the record ends at {position}, not at {end}")
        return self._made(length, delta, offset, key, value, headers)

    def _oversized(self, length: int, reader: _Reader) -> Any:
        end = reader.position + length
        reader.take(1)
        delta, offset = reader.varint(), reader.varint()
        omitted: list[tuple[str, bytes | None]] = []
        key = reader.field("key", omitted)
        value = reader.field("value", omitted)
        count = reader.varint()
        headers: list[tuple[str, bytes | None]] = []
        room = FIELD_BYTES
        while len(headers) < min(count, HEADERS) and room > 0:
            start = reader.position
            name = reader.field("header", omitted) or b""
            headers.append((_text(name), reader.field("header", omitted)))
            room -= reader.position - start
        if count > len(headers):
            omitted.append(("headers-omitted", str(count - len(headers)).encode()))
        reader.skip(end - reader.position)
        return self._made(length, delta, offset, key, value, headers + omitted)

    def _made(
        self,
        length: int,
        delta: int,
        offset: int,
        key: bytes | None,
        value: bytes | None,
        headers: list[tuple[str, bytes | None]],
    ) -> Any:
        kind = self.timestamp_type
        by_broker = kind == self.LOG_APPEND_TIME
        timestamp = self.max_timestamp if by_broker else self.first_timestamp + delta
        return DefaultRecord(
            length, self.base_offset + offset, timestamp, kind, key, value, headers
        )


class LenientBatches:
    """The batches of one answer, each made lenient."""

    def __init__(self, batches: Any) -> None:
        self._batches = batches

    def next_batch(self) -> Any:
        """None at the end."""
        batch = self._batches.next_batch()
        if type(batch) is DefaultRecordBatch:
            batch.__class__ = LenientBatch
        return batch


class _Reader:
    """Reads records from the beginning of a batch and the stream of the rest."""

    def __init__(self, head: bytes, rest: Stream) -> None:
        self.position = 0
        self._buffer = head
        self._at = 0
        self._rest = rest

    def take(self, size: int) -> bytes:
        """Exactly so many bytes; EOFError if there are fewer."""
        pieces = []
        missing = size
        while missing > 0:
            piece = self._piece(missing)
            pieces.append(piece)
            missing -= len(piece)
        return b"".join(pieces)

    def skip(self, size: int) -> str:
        """Leave out so many bytes; their SHA-256."""
        digest = sha256()
        missing = size
        while missing > 0:
            piece = self._piece(min(missing, _PIECE))
            digest.update(piece)
            missing -= len(piece)
        return digest.hexdigest()

    def varint(self) -> int:
        """A signed number of up to 64 bits."""
        number = shift = 0
        while shift < 64:
            byte = self.take(1)[0]
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                return (number >> 1) ^ -(number & 1)
            shift += 7
        raise ValueError("a number of more than 64 bits")

    def field(self, what: str, omitted: list[tuple[str, bytes | None]]) -> bytes | None:
        """A key, a value or part of a header; None, and noted, if it is too large."""
        size = self.varint()
        if size < 0:
            return None
        if size <= FIELD_BYTES:
            return self.take(size)
        digest = self.skip(size)
        omitted.append((f"{what}-omitted", str(size).encode()))
        omitted.append((f"{what}-sha256", digest.encode()))
        return None

    def _piece(self, size: int) -> bytes:
        if self._at == len(self._buffer):
            self._buffer = self._rest.read(_PIECE)
            self._at = 0
            if not self._buffer:
                raise EOFError("the batch ends within a record")
        piece = self._buffer[self._at : self._at + size]
        self._at += len(piece)
        self.position += len(piece)
        return piece


def _up_to(stream: Stream, size: int) -> bytes:
    """All that there is, or some more than `size`."""
    pieces = []
    total = 0
    while total <= size and (piece := stream.read(_PIECE)):
        pieces.append(piece)
        total += len(piece)
    return b"".join(pieces)


def _text(name: bytes) -> str:
    r"""A header's key; bytes that are not UTF-8 become ``\xNN``."""
    return name.decode("utf-8", "backslashreplace")
