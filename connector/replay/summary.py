"""What a replay says where nobody asked for a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from . import Counts, Label, Replayed

SHOWN = 5


@dataclass(frozen=True)
class ProjectSummary:
    """One project in a line, and its most and least accurate workers (rows of worker_quality)."""

    name: str
    kind: str
    tasks: int
    statuses: Counter[str]
    votes: int
    workers: int
    best: list[dict[str, Any]]
    worst: list[dict[str, Any]]

    @property
    def resolved(self) -> int:
        """Tasks that are not open."""
        return self.tasks - self.statuses["open"]


def summarised(
    name: str, kind: str, labels: Iterable[Label], workers: Iterable[dict[str, Any]]
) -> ProjectSummary:
    """Count; the best have the highest lower bounds, the worst the lowest upper ones."""
    statuses = Counter(label.status for label in labels)
    rows = list(workers)
    known = [row for row in rows if row["votes"]]
    known.sort(key=lambda row: -_first(row, "lower"))
    best = known[: min(SHOWN, (len(known) + 1) // 2)]
    rest = sorted(known[len(best) :], key=lambda row: _first(row, "upper"))
    return ProjectSummary(
        name,
        kind,
        statuses.total(),
        statuses,
        sum(row["votes"] for row in rows),
        len(rows),
        best,
        rest[:SHOWN],
    )


def _first(row: dict[str, Any], bound: str) -> float:
    value = row["accuracy"] if row[bound] is None else row[bound]
    return float(value or 0.0)


def counts_line(replayed: Replayed) -> str:
    """What became of the records, as the view `event_accounting` has it."""
    counts, filtered = replayed.counts, replayed.filtered
    # Of bare votes, the declaration that they came with is not the user's.
    own = 0 if replayed.events else 1
    text = (
        f"{counts.received - own:,} {'events' if replayed.events else 'rows'}:"
        f" {counts.applied - own:,} applied, {counts.duplicates:,} duplicates, {counts.stale:,}"
        f" stale, {counts.dead:,} dead; {counts.messages:,} messages"
    )
    return f"{text}; {filtered:,} events of other projects left out" if filtered else text


def dead_lines(counts: Counts) -> Iterator[str]:
    """How many records could not be used, by code, with the first of each."""
    if counts.dead:
        yield f"{counts.dead:,} could not be used (dead letters):"
    for code, count in sorted(counts.dead_codes.items(), key=lambda item: -item[1]):
        yield f"  {count:,} {code}"
        found = [e for e in counts.examples if e.code == code]
        for example in found:
            yield f"    {example.file}, line {example.line}: {example.message[:200]}"
        if count > len(found):
            yield f"    and {count - len(found):,} more"
