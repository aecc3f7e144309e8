"""Reading a compressed batch piece by piece, so that a small one cannot fill the memory."""

from __future__ import annotations

import io
import zlib
from importlib import import_module
from typing import Any, Protocol

from kafka.record.default_records import DefaultRecordBatch

_GZIP_MAGIC = b"\x1f\x8b"

_XERIAL_MAGIC = b"\x82SNAPPY\0"
_XERIAL_HEADER = 16


class Stream(Protocol):
    """What decompressed bytes come from."""

    def read(self, size: int, /) -> bytes:
        """At least one byte and about `size` at most, or none at the end. Raises if damaged."""
        ...


def decompressing(codec: int, data: bytes) -> Stream:
    """The decompressed bytes of a batch's records.

    Raises:
        Exception: the library for the codec is missing, or the data is damaged.
    """
    if codec == DefaultRecordBatch.CODEC_GZIP:
        return _Gzip(data)
    if codec == DefaultRecordBatch.CODEC_LZ4:
        return _Lz4(data)
    if codec == DefaultRecordBatch.CODEC_ZSTD:
        return _zstd(data)
    return _Snappy(data)


class _Gzip:
    """Members one after the other. What follows them and is none is ignored, as brokers do."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)

    def read(self, size: int, /) -> bytes:
        while True:
            if self._member.eof:
                rest = self._member.unused_data
                if not rest.startswith(_GZIP_MAGIC):
                    return b""
                self._data, self._member = rest, zlib.decompressobj(zlib.MAX_WBITS | 16)
            piece = self._member.decompress(self._data, size)
            self._data = self._member.unconsumed_tail
            if piece:
                return piece
            if not self._member.eof and not self._data:
                raise EOFError("the compressed data ends too early")


class _Lz4:
    """One frame; what follows it is ignored, as brokers do."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._frame: Any = import_module("lz4.frame").LZ4FrameDecompressor()

    def read(self, size: int, /) -> bytes:
        while not self._frame.eof:
            piece: bytes = self._frame.decompress(self._data, size)
            self._data = b""
            if piece:
                return piece
            if self._frame.needs_input and not self._frame.eof:
                raise EOFError("the compressed data ends too early")
        return b""


class _Snappy:
    """Blocks as Java's library frames them, in one stream or several, or a single bare one.

    The format makes nothing more than some twenty times smaller.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._decompress: Any = import_module("snappy").decompress

    def read(self, size: int, /) -> bytes:
        data, at = self._data, self._at
        if not data.startswith(_XERIAL_MAGIC):
            self._data = b""
            return bytes(self._decompress(data)) if data else b""
        while data.startswith(_XERIAL_MAGIC, at):
            at += _XERIAL_HEADER
        start = at + 4
        self._at = start + int.from_bytes(data[at:start], "big")
        return bytes(self._decompress(data[start : self._at])) if start <= len(data) else b""


def _zstd(data: bytes) -> Stream:
    reader: Stream = (
        import_module("zstandard")
        .ZstdDecompressor()
        .stream_reader(io.BytesIO(data), read_across_frames=True)
    )
    return reader
