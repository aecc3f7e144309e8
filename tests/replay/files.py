"""Files to replay, and the log that the documents say each of them stands for."""

from __future__ import annotations

import base64
import csv
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from connector.domain.records import Outgoing
from connector.replay import Replayed, replay
from tests.oracle.fold import PlainFold, Record

Triple = tuple[str, str, str]


def read_triples(path: Path) -> list[Triple]:
    with path.open(newline="") as file:
        return [(row["task"], row["worker"], row["label"]) for row in csv.DictReader(file)]


def write_csv(
    path: Path, rows: Iterable[Sequence[object]], header: str = "task,worker,label"
) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header.split(","))
        writer.writerows(rows)
    return path


def fold_of_votes(
    votes: Sequence[Triple], project: str, kind: str, classes: Sequence[str], **resolve: object
) -> PlainFold:
    """The plain fold of a declaration at offset 0 and one vote an offset from 1.

    Its clock counts milliseconds, where a replay's counts microseconds: `ms` is compared as such.
    """
    fold = PlainFold()
    declared: dict[str, object] = {"type": "project.declared", "project": project, "kind": kind}
    declared |= {"classes": list(classes), "resolve": resolve}
    key = project.encode()
    fold.feed(Record(0, 0, 0, json.dumps(declared).encode(), key))
    for n, (task, worker, label) in enumerate(votes, 1):
        vote = {"type": "annotation.submitted", "project": project}
        vote |= {"task": task, "worker": worker, "label": label}
        fold.feed(Record(0, n, 0, json.dumps(vote).encode(), key))
    return fold


def wrapped(records: Iterable[Record]) -> Iterable[dict[str, Any]]:
    """The lines of a dump, each field as its documentation allows."""
    for r in records:
        yield {
            "partition": r.partition,
            "offset": r.offset,
            "timestamp": r.timestamp_ms,
            "key": text(r.key),
            "value": text(r.value),
            "headers": [[name, text(content)] for name, content in r.headers],
        }


def text(content: bytes | None) -> Any:
    if content is None:
        return None
    try:
        return content.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode()}


def write_jsonl(path: Path, lines: Iterable[object]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


class Kept:
    """A replay with everything that it said, read before it ended."""

    def __init__(self, *files: str | Path, **options: Any) -> None:
        self.messages: list[Outgoing] = []
        with replay(files, on_message=self.messages.append, **options) as found:
            self.found: Replayed = found
            self.counts = found.counts
            self.labels = {p.name: list(p.labels()) for p in found.projects}
            self.workers = {p.name: list(p.workers()) for p in found.projects}
            self.votes = {p.name: list(p.votes()) for p in found.projects}
            self.configs = {p.name: p.config for p in found.projects}

    def sent(self, topic: str) -> list[tuple[bytes | None, bytes | None, Any]]:
        return [(m.key, m.value, m.headers) for m in self.messages if m.topic == topic]
