"""Dead letters sent again as they first came.

The original is read where it stood; where the log has dropped it, the copy on the dead-letter
topic does, if that has its value.  Each goes to the partition that it was on, so that a partition's
letters keep their order, with a header that says whose repetition it is: a later call knows by it
what has been sent already.  A repetition that died too is a dead letter of its own, but carries
that header: it stands for the same record, and calls that change nothing would else send ever more.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from connector.adapters.kafka.fetching import Fetcher, fetcher
from connector.adapters.kafka.letters import REASON
from connector.domain.records import Headers, Record, TopicPartition
from connector.domain.rows import DeadRow

from .sending import ToSend, sender

if TYPE_CHECKING:
    from connector.adapters.kafka.client import ClientSettings

MARK = "redriven-from"
"""Header of a repetition: `topic/partition/offset` of the record that died first."""

CHUNK = 500
CHUNK_BYTES = 8 * 1024 * 1024

Origin = tuple[str, int, int]


@dataclass
class Redriven:
    """What became of the dead letters of one call.

    Attributes:
        sent: went out again.
        earlier: had been sent again before.
        died_again: were themselves sent again before, and are left out as well.
        gone: their bytes are nowhere any more.
        failed: could not be sent, each with the reason.
    """

    sent: int = 0
    earlier: int = 0
    died_again: int = 0
    gone: list[Origin] = field(default_factory=list)
    failed: list[tuple[Origin, str]] = field(default_factory=list)


def redrive(
    client: ClientSettings,
    topic: str,
    dead_topic: str,
    letters: Sequence[DeadRow],
    *,
    again: bool = False,
    wanted: Callable[[Record], bool] = lambda record: True,
    on_sent: Callable[[int], None] = lambda count: None,
) -> Redriven:
    """Send the records of these dead letters again, each once.

    Args:
        client: how to reach the cluster.
        topic: the annotations.
        dead_topic: has copies.
        letters: of that topic.
        again: also those that were sent again before; of a record and its repetitions one.
        wanted: which of the records.
        on_sent: called with how many more are out.

    Raises:
        DependencyError: the broker does not answer.
    """
    outcome = Redriven()
    left = {(letter.topic, letter.partition, letter.offset) for letter in letters}
    with fetcher(client) as source:
        if not again:
            earlier = left & repeated(source, left)
            outcome.earlier = len(earlier)
            left -= earlier
        chunk: list[tuple[Origin, ToSend]] = []
        size = 0
        taken: set[Origin] = set()
        for origin, record in originals(source, left, dead_topic):
            left.discard(origin)
            if not wanted(record):
                continue
            first = repetition_of(record.headers)
            if first is not None and not again:
                outcome.died_again += 1
                continue
            first = first or origin
            if first in taken:
                continue
            taken.add(first)
            headers = (*original_headers(record.headers), (MARK, _mark(first)))
            chunk.append((origin, ToSend(origin[1], record.key, record.value, headers)))
            size += len(record.value or b"")
            if len(chunk) >= CHUNK or size >= CHUNK_BYTES:
                on_sent(_send(client, topic, chunk, outcome))
                chunk, size = [], 0
        if chunk:
            on_sent(_send(client, topic, chunk, outcome))
    outcome.gone = sorted(left)
    return outcome


def repeated(source: Fetcher, letters: set[Origin]) -> set[Origin]:
    """Whose repetitions are in the log; they can only stand behind the first of the letters."""
    found: set[Origin] = set()
    for partition, offsets in _grouped(letters):
        first, end = source.bounds(partition)
        for record in source.between(partition, max(first, min(offsets)), end):
            origin = repetition_of(record.headers)
            if origin is not None:
                found.add(origin)
    return found


def originals(
    source: Fetcher, letters: set[Origin], dead_topic: str
) -> Iterator[tuple[Origin, Record]]:
    """Each letter's record as it first came, as far as its bytes are still somewhere."""
    left = set(letters)
    for partition, offsets in _grouped(letters):
        for record in source.at(partition, offsets):
            origin = (record.topic, record.partition, record.offset)
            left.discard(origin)
            yield origin, record
    if not left:
        return
    for partition in source.partitions(dead_topic):
        for record in source.between(partition, *source.bounds(partition)):
            given = origin_of(record.headers)
            if given in left and not _omitted(record.headers):
                left.discard(given)
                yield given, record


def original_headers(headers: Headers) -> Headers:
    """Those that the producer gave: not the reason of its death, nor an earlier repetition."""
    return tuple((name, value) for name, value in headers if name not in (*REASON, MARK))


def repetition_of(headers: Headers) -> Origin | None:
    """Where the record stood that this one repeats; None: it repeats none."""
    marks = [_origin(value) for name, value in headers if name == MARK]
    return marks[-1] if marks else None


def origin_of(headers: Headers) -> Origin | None:
    """Where a copy on the dead-letter topic came from."""
    given = {name: value for name, value in headers if name in REASON}
    try:
        return (
            (given["origin-topic"] or b"").decode(),
            int(given["origin-partition"] or b""),
            int(given["origin-offset"] or b""),
        )
    except (KeyError, ValueError):
        return None


def project_of(record: Record) -> str | None:
    """The project that the record names, if it can be read at all."""
    try:
        fields = json.loads(record.value or b"")
    except (ValueError, RecursionError):
        return None
    for place in (fields, fields.get("data") if isinstance(fields, dict) else None):
        project = place.get("project") if isinstance(place, dict) else None
        if isinstance(project, str | int) and not isinstance(project, bool):
            return str(project)
    return None


def _send(
    client: ClientSettings, topic: str, chunk: list[tuple[Origin, ToSend]], outcome: Redriven
) -> int:
    """Send them together; what fails in company alone, since one can be the others' downfall."""
    before = outcome.sent
    with sender(client, topic) as to:
        answers = to.send([record for _, record in chunk])
    outcome.sent += sum(not isinstance(answer, Exception) for answer in answers)
    for (origin, record), answer in zip(chunk, answers, strict=True):
        if isinstance(answer, Exception):
            with sender(client, topic) as to:
                (alone,) = to.send([record])
            if isinstance(alone, Exception):
                outcome.failed.append((origin, str(alone)))
            else:
                outcome.sent += 1
    return outcome.sent - before


def _grouped(letters: set[Origin]) -> list[tuple[TopicPartition, set[int]]]:
    grouped: dict[TopicPartition, set[int]] = {}
    for topic, partition, offset in letters:
        grouped.setdefault(TopicPartition(topic, partition), set()).add(offset)
    return sorted(grouped.items())


def _omitted(headers: Headers) -> bool:
    return any(name in ("value-omitted", "key-omitted", "headers-omitted") for name, _ in headers)


def _mark(origin: Origin) -> bytes:
    return f"{origin[0]}/{origin[1]}/{origin[2]}".encode()


def _origin(value: bytes | None) -> Origin | None:
    try:
        topic, partition, offset = (value or b"").decode().rsplit("/", 2)
        return topic, int(partition), int(offset)
    except ValueError:
        return None
