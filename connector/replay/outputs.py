"""The files that a replay writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from connector.domain.records import Outgoing
from connector.reports.formats import FORMATS, check_target, format_of, target

from .result import Label
from .wrapped import message_line

EXTENSIONS = ("csv", "jsonl", "parquet")


def check_output(path: str | None) -> None:
    """Raise, before any work, where a file could not be written in the end."""
    if path is not None:
        format_of(path, EXTENSIONS)
        check_target(path)


def write_labels(path: str, classes: Iterable[str], labels: Iterable[Label]) -> int:
    """One row a task; how many there were."""
    columns = ["task", "label", "confidence", "status", "votes", *(f"p_{c}" for c in classes)]
    rows = ((x.task, x.label, x.confidence, x.status, x.votes, *x.probabilities) for x in labels)
    with target(path) as file:
        return FORMATS[format_of(path, EXTENSIONS)](file, columns, rows)


def write_workers(path: str, columns: Iterable[str], workers: Iterable[dict[str, Any]]) -> int:
    """One row a worker; how many there were."""
    names = list(columns)
    rows = ([row[name] for name in names] for row in workers)
    with target(path) as file:
        return FORMATS[format_of(path, EXTENSIONS)](file, names, rows)


@contextmanager
def message_file(path: str | None) -> Iterator[Callable[[Outgoing], None] | None]:
    """What writes each message, as JSONL whatever the file is called."""
    if path is None:
        yield None
        return
    with target(path) as file:
        yield lambda message: _ignored(file.write(message_line(message)))


def _ignored(_: object) -> None:
    return None
