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

from kafka.record.default_records import DefaultRecordBatch
from kafka.record.util import decode_varint

from connector.domain.records import Record

from .decompress import Stream, decompressing
from .parsing import HEADERS, Frame, in_range, parsed, text

BATCH_BYTES = 64 * 1024 * 1024
"""A batch is decompressed at once up to this; record by record above."""

RECORD_BYTES = 32 * 1024 * 1024
"""Of a larger record, key, value and headers above `FIELD_BYTES` are left out."""

FIELD_BYTES = 1024 * 1024

_PIECE = 1024 * 1024


class LenientBatch(DefaultRecordBatch):  # type: ignore[misc]
    """A batch that gives what can be given. A `DefaultRecordBatch` is made one by its class."""

    # None of its own, or an object of the parent could not be made one of these.
    __slots__ = tuple[str, ...]()

    _buffer: Any
    _num_records: int
    _pos: int

    def records(self, topic: str, partition: int) -> Iterator[Record]:
        """The batch's records as ours, in order.

        Raises:
            Exception: what comes next is damaged, or the codec's library is missing.
        """
        by_broker = self.timestamp_type == self.LOG_APPEND_TIME
        appended = in_range(self.max_timestamp) if by_broker else None
        frame = Frame(topic, partition, self.base_offset, self.first_timestamp, appended)
        if self.compression_type == self.CODEC_NONE:
            return self._all(bytes(self._buffer), self._pos, frame)
        self._assert_has_codec(self.compression_type)
        stream = decompressing(self.compression_type, bytes(memoryview(self._buffer)[self._pos :]))
        head = _up_to(stream, BATCH_BYTES)
        if len(head) > BATCH_BYTES:
            return self._one_by_one(_Reader(head, stream), frame)
        return self._all(head, 0, frame)

    def _all(self, data: bytes, at: int, frame: Frame) -> Iterator[Record]:
        for _ in range(self._num_records):
            length, at = decode_varint(data, at)
            if length > RECORD_BYTES:
                whole = memoryview(data)[at : at + length]
                yield _oversized(length, _Reader(b"", io.BytesIO(whole)), frame)
            else:
                yield parsed(data, at, length, frame)
            at += length
        if at != len(data):
            raise ValueError(f"{len(data) - at} bytes follow the last record of the batch")

    def _one_by_one(self, reader: _Reader, frame: Frame) -> Iterator[Record]:
        for _ in range(self._num_records):
            length = reader.varint()
            if length > RECORD_BYTES:
                yield _oversized(length, reader, frame)
            else:
                yield parsed(reader.take(length), 0, length, frame)


def _oversized(length: int, reader: _Reader, frame: Frame) -> Record:
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
        headers.append((text(name), reader.field("header", omitted)))
        room -= reader.position - start
    if count > len(headers):
        omitted.append(("headers-omitted", str(count - len(headers)).encode()))
    reader.skip(end - reader.position)
    return Record(
        frame.topic,
        frame.partition,
        frame.base + offset,
        frame.time(delta),
        key,
        value,
        (*headers, *omitted),
    )


def lenient(batch: Any) -> LenientBatch:
    """The same `DefaultRecordBatch`, made lenient."""
    batch.__class__ = LenientBatch
    made: LenientBatch = batch
    return made


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
