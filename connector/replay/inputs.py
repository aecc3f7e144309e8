"""The files to replay: local, gzip'ed or standard input, readable from the start again."""

from __future__ import annotations

import gzip
import io
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from enum import Enum
from pathlib import Path
from typing import BinaryIO, cast

from .errors import Misused, Unreadable

GZIP, PARQUET, BOM = b"\x1f\x8b", b"PAR1", b"\xef\xbb\xbf"
STDIN = "-"
_BUFFER = 1 << 18


class Format(Enum):
    """How a file is written."""

    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"


BY_SUFFIX = {
    ".csv": Format.CSV,
    ".tsv": Format.CSV,
    ".jsonl": Format.JSONL,
    ".ndjson": Format.JSONL,
    ".json": Format.JSONL,
    ".parquet": Format.PARQUET,
    ".pq": Format.PARQUET,
}


class Input:
    """One file.

    Attributes:
        name: as the user gave it, for messages.
        size: its bytes on the disk, packed as they are.
    """

    def __init__(self, name: str, path: Path) -> None:
        """Look at the file's beginning to see what it is.

        Raises:
            Unreadable: it is not there, or may not be read.
        """
        self.name = "standard input" if name == STDIN else name
        self._path = path
        self._raw: io.RawIOBase | None = None
        suffixes = [s.lower() for s in Path(name).suffixes]
        try:
            self.size = path.stat().st_size
            with path.open("rb") as file:
                self.compressed = file.read(2) == GZIP
        except OSError as error:
            raise Unreadable(f"{self.name} cannot be read: {error.strerror}") from error
        named = [BY_SUFFIX[s] for s in suffixes[::-1] if s in BY_SUFFIX]
        self.format = named[0] if named else self._guessed()
        self.stem = "" if name == STDIN else Path(name).name.split(".")[0]

    def _guessed(self) -> Format:
        with self.open() as file:
            beginning = file.read(4096)
        if beginning.startswith(PARQUET):
            return Format.PARQUET
        text = beginning.removeprefix(BOM).lstrip()
        return Format.JSONL if text.startswith(b"{") else Format.CSV

    @property
    def consumed(self) -> int:
        """How many of its bytes the present reading has taken, for a progress bar."""
        return 0 if self._raw is None or self._raw.closed else self._raw.tell()

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Its bytes from the start, unpacked; one reading at a time.

        Raises:
            Unreadable: from the block too.
        """
        try:
            with self._path.open("rb", buffering=0) as raw:
                self._raw = raw
                with io.BufferedReader(raw, _BUFFER) as buffered:
                    if self.compressed:
                        with gzip.GzipFile(fileobj=buffered) as unpacked:
                            yield cast("BinaryIO", unpacked)
                    else:
                        yield cast("BinaryIO", buffered)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise Unreadable(f"{self.name} is not whole: {error}") from error
        except OSError as error:
            raise Unreadable(f"{self.name} cannot be read: {error.strerror or error}") from error


@contextmanager
def opened(files: Sequence[str | Path], stdin: BinaryIO | None = None) -> Iterator[list[Input]]:
    """The files, in order; what comes through a pipe is copied first, as it is read twice.

    Raises:
        Misused: no file, or standard input twice.
        Unreadable: one cannot be read.
    """
    names = [str(f) for f in files]
    if not names:
        raise Misused("name at least one file, or - for standard input")
    if names.count(STDIN) > 1:
        raise Misused("standard input (-) can be read once")
    with ExitStack() as stack:
        found = []
        for name in names:
            path = Path(name)
            if name == STDIN or path.is_fifo():
                copy = stack.enter_context(tempfile.NamedTemporaryFile(prefix="crowdresolve-"))
                with ExitStack() as reading:
                    pipe = (
                        (stdin or sys.stdin.buffer)
                        if name == STDIN
                        else reading.enter_context(path.open("rb"))
                    )
                    shutil.copyfileobj(pipe, copy)
                copy.flush()
                path = Path(copy.name)
            found.append(Input(name, path))
        yield found
