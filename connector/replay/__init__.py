"""The service's engine over a file: no broker, no project file, and the same numbers.

>>> from connector.replay import replay
>>> with replay(["votes.csv"]) as replayed:  # doctest: +SKIP
...     for label in replayed.project().labels():
...         print(label.task, label.label, label.confidence)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from connector.adapters.memory.store import MemoryStore
from connector.domain.errors import Refused
from connector.domain.records import Outgoing
from connector.engine.messages import Topics
from connector.ports import Store

from .entries import Entry
from .errors import Misused, Unreadable
from .events import EventLog, holds_events
from .fold import Counts, DeadLetter, Fold
from .inputs import Format, Input, opened
from .result import Label, ProjectResult, View, Vote, project_results
from .votes import VoteOptions, vote_log

__all__ = [
    "Counts",
    "DeadLetter",
    "Label",
    "Misused",
    "ProjectResult",
    "Replayed",
    "Unreadable",
    "Vote",
    "VoteOptions",
    "replay",
]

Progress = Callable[[int, int, int], None]
"""Called with (bytes read, bytes in all, records)."""

_PROGRESS_EVERY = 500


@dataclass(frozen=True)
class Replayed:
    """What a replay has led to; to be read before the block of `replay` ends.

    Attributes:
        projects: in order of declaration.
        counts: what became of the records.
        filtered: records left out since they are of other projects.
        events: whether the files held events, not bare votes.
    """

    projects: Sequence[ProjectResult]
    counts: Counts
    filtered: int
    events: bool

    def project(self) -> ProjectResult:
        """The only project.

        Raises:
            Misused: there are several, or none.
        """
        if len(self.projects) == 1:
            return self.projects[0]
        if not self.projects:
            raise Misused(
                "the files declare no project, so nothing could be used; bare votes need none, and"
                " events need `project.declared` before them"
            )
        names = ", ".join(repr(p.name) for p in self.projects[:20])
        raise Misused(f"there are {len(self.projects)} projects: --project NAME picks one: {names}")


@contextmanager
def replay(
    files: Sequence[str | Path],
    *,
    project: str | None = None,
    kind: str | None = None,
    classes: Sequence[str] | None = None,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    database: str | None = None,
    topic: str = "annotations",
    topics: Topics | None = None,
    on_message: Callable[[Outgoing], None] | None = None,
    progress: Progress | None = None,
    stdin: BinaryIO | None = None,
) -> Iterator[Replayed]:
    """Fold files of votes, or of events, as the service would.

    Args:
        files: CSV, JSONL or Parquet with the columns task, worker, label (and at); or JSONL events
            (`connector.replay.events`). gzip'ed as well; "-" is standard input.
        project: names the project of bare votes; of events, the only one that is looked at.
        kind: of bare votes; see `VoteOptions`.
        classes: likewise.
        settings: likewise.
        database: address of an empty database that keeps the result; by default nothing is kept.
        topic: of the records, for the messages' ids.
        topics: of the messages.
        on_message: gets every outgoing message, in order.
        progress: see `Progress`.
        stdin: to be read for "-".

    Raises:
        Misused: what was asked for does not go together.
        Unreadable: a file.
        Refused: the database is not empty.
        ConfigurationError, DependencyError: the database.
    """
    with ExitStack() as stack:
        inputs = stack.enter_context(opened(files, stdin))
        options = VoteOptions(project, kind, classes, settings)
        log = _log(inputs, options, topic)
        store, view = stack.enter_context(_store(database))
        # A log with its own offsets may be gone on with by `run`, which then publishes the outbox.
        trim = database is None or not isinstance(log, EventLog)
        fold = Fold(store, topics or Topics(), on_message, trim)
        fold.feed(_watched(log, inputs, progress))
        results = project_results(store, fold.projects, view)
        filtered = log.filtered if isinstance(log, EventLog) else 0
        if isinstance(log, EventLog) and filtered and not log.matched:
            raise Misused(f"--project: no event is of {project!r}, but of {log.named_others()}")
        yield Replayed(results, fold.counts, filtered, isinstance(log, EventLog))


def _log(inputs: list[Input], options: VoteOptions, topic: str) -> Iterable[Entry]:
    events = [f.format is Format.JSONL and holds_events(f) for f in inputs]
    if not any(events):
        return vote_log(inputs, options, topic)
    if not all(events):
        votes = inputs[events.index(False)].name
        raise Misused(
            f"{inputs[events.index(True)].name} holds events and {votes} bare votes: replay them"
            " one after the other"
        )
    if options.stated:
        raise Misused(
            f"{inputs[0].name} holds events, which declare their projects themselves; --kind,"
            " --classes and the options of resolution are for bare votes"
        )
    return EventLog(inputs, topic, options.project)


def _watched(
    log: Iterable[Entry], inputs: Sequence[Input], progress: Progress | None
) -> Iterator[Entry]:
    if progress is None:
        yield from log
        return
    total = sum(f.size for f in inputs)
    before = 0
    names = {f.name: i for i, f in enumerate(inputs)}
    count = 0
    for count, entry in enumerate(log, 1):
        if count % _PROGRESS_EVERY == 0:
            i = names[entry.file]
            before = sum(f.size for f in inputs[:i])
            progress(min(total, before + inputs[i].consumed), total, count)
        yield entry
    progress(total, total, count)


@contextmanager
def _store(database: str | None) -> Iterator[tuple[Store, View]]:
    if database is None:
        memory = MemoryStore()
        yield memory, memory.view
        return
    # Only here: without a database none of it is loaded.
    from connector.adapters.sql import migrate, queries
    from connector.adapters.sql.database import engine, parsed, shown
    from connector.adapters.sql.store import open_store

    reader = engine(database)
    try:
        migrate.ensure(reader)
        _, progress = queries.view(reader, "event_accounting")
        if any(True for _ in progress):
            raise Refused(
                f"the database {shown(parsed(database))} holds results already: replay needs an"
                " empty one, so that its numbers are those of the files alone. Give another"
                " --database, or remove what is in this one"
            )
        store = open_store(database)
        try:
            yield store, lambda name, project: _dicts(queries.view(reader, name, project))
        finally:
            store.close()
    finally:
        reader.dispose()


def _dicts(found: tuple[Sequence[str], Iterable[Sequence[Any]]]) -> Iterator[dict[str, Any]]:
    columns, rows = found
    for row in rows:
        yield dict(zip(columns, row, strict=True))
