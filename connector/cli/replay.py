"""`crowdresolve replay`: the engine over files."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from connector.domain.ids import as_id
from connector.settings import Loaded

from .options import TOPICS, command_with
from .terminal import err, rows, say

if TYPE_CHECKING:
    from connector.replay import Progress, Replayed
    from connector.replay.summary import ProjectSummary

_VOTES = "Bare votes"
_OUTPUT = "Output"


def _option(*names: str, metavar: str, panel: str | None = None, help: str) -> Any:
    return typer.Option(*names, metavar=metavar, rich_help_panel=panel, help=help)


@command_with(*TOPICS, "group")
def replay(
    loaded: Loaded,
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="Files, gzip'ed ones as well; - is standard input."),
    ],
    project: Annotated[
        str | None,
        _option(
            "--project",
            metavar="NAME",
            help="Of bare votes: the project's name (else the file's). Of events: only this one.",
        ),
    ] = None,
    algorithm: Annotated[
        str,
        _option(
            "--algorithm",
            metavar="NAME",
            help="fast_sbic: the live rules. Another (sorted_sbic, majority, dawid_skene, ...)"
            " aggregates the votes that are present in the end; labels then have the status"
            " `aggregated`.",
        ),
    ] = "fast_sbic",
    database: Annotated[
        str | None,
        _option(
            "--database",
            metavar="URL",
            help="An empty database to keep the result in; without it, nothing is kept."
            " CROWDRESOLVE_DATABASE, the service's, is not looked at.",
        ),
    ] = None,
    out: Annotated[
        str | None,
        _option("--out", metavar="FILE", panel=_OUTPUT, help="Labels: .csv, .jsonl or .parquet."),
    ] = None,
    workers_out: Annotated[
        str | None,
        _option(
            "--workers-out",
            metavar="FILE",
            panel=_OUTPUT,
            help="Workers, as the view worker_quality: .csv, .jsonl or .parquet.",
        ),
    ] = None,
    events_out: Annotated[
        str | None,
        _option(
            "--events-out",
            metavar="FILE",
            panel=_OUTPUT,
            help="Every outgoing message as JSONL: topic, key, headers, value (the value of a dead"
            " letter is a string); bytes that are no UTF-8 are"
            ' {"base64": "..."}.',
        ),
    ] = None,
    kind: Annotated[
        str | None,
        _option(
            "--kind",
            metavar="KIND",
            panel=_VOTES,
            help="binary, categorical or ordinal; by default binary for two classes, else"
            " categorical.",
        ),
    ] = None,
    classes: Annotated[
        str | None,
        _option(
            "--classes",
            metavar="A,B,C",
            panel=_VOTES,
            help="The classes, in order, or a JSON list of them; by default the labels that"
            " occur, sorted.",
        ),
    ] = None,
    confidence: Annotated[
        float | None,
        _option("--confidence", metavar="C", panel=_VOTES, help="Resolves a task. Default: 0.95."),
    ] = None,
    doubt: Annotated[
        float | None,
        _option(
            "--doubt",
            metavar="D",
            panel=_VOTES,
            help="Share of tasks taken as misleading; 0: the plain posterior. Default: 0.1.",
        ),
    ] = None,
    min_labels: Annotated[
        int | None,
        _option("--min-labels", metavar="N", panel=_VOTES, help="Default: 2."),
    ] = None,
    max_labels: Annotated[
        int | None,
        _option(
            "--max-labels",
            metavar="N",
            panel=_VOTES,
            help="Then a task is `capped`, or `ambiguous`. Default: none.",
        ),
    ] = None,
    ambiguity: Annotated[
        float | None,
        _option(
            "--ambiguity",
            metavar="C",
            panel=_VOTES,
            help="Below this confidence a capped task is `ambiguous`. Default: 0.6.",
        ),
    ] = None,
    reopen_confidence: Annotated[
        float | None,
        _option(
            "--reopen-confidence",
            metavar="C",
            panel=_VOTES,
            help="Below it a resolved task is open again. Default: 0.8.",
        ),
    ] = None,
    worker_prior: Annotated[
        str | None,
        _option(
            "--worker-prior",
            metavar="A,B",
            panel=_VOTES,
            help="Beta prior of a worker's accuracy. Default: 2,1.",
        ),
    ] = None,
) -> None:
    """Run the service's engine over files: no broker, no project file, the same numbers.

    A file holds bare votes (CSV, JSONL or Parquet with the columns task, worker, label and perhaps
    at), or events as on the topic (JSONL, each bare or as {partition, offset, timestamp, value}).
    Without an option of output it prints a summary.
    """
    from connector.engine.messages import Topics
    from connector.replay import Misused
    from connector.replay import replay as replayed_from
    from connector.replay.aggregate import LIVE, check_method
    from connector.replay.outputs import check_output, message_file

    if algorithm != LIVE:
        check_method(algorithm)
        if events_out is not None:
            raise Misused(f"--events-out: {algorithm} sends no messages, only the live rules do")
    for flag, path in (
        ("--out", out),
        ("--workers-out", workers_out),
        ("--events-out", events_out),
    ):
        if path is not None and any(_same_file(path, given) for given in files):
            raise Misused(f"{flag} {path} is a file that is read: name another")
    for path in (out, workers_out):
        check_output(path)
    resolve = {
        "confidence": confidence,
        "doubt": doubt,
        "min_labels": min_labels,
        "max_labels": max_labels,
        "ambiguity": ambiguity,
        "reopen_confidence": reopen_confidence,
    }
    s = loaded.settings
    with ExitStack() as stack:
        on_message = stack.enter_context(message_file(events_out))
        with _progress() as progress:
            replayed = stack.enter_context(
                replayed_from(
                    files,
                    project=project,
                    kind=kind,
                    classes=None if classes is None else _classes(classes),
                    settings=_settings(resolve, worker_prior),
                    database=database,
                    topic=s.topic_annotations,
                    topics=Topics(s.topic_resolved, s.topic_assigned, s.topic_dead, s.group),
                    on_message=on_message,
                    progress=progress,
                )
            )
        if events_out is not None:
            say(f"{replayed.counts.messages:,} messages in {events_out}")
        _report(replayed, algorithm, out, workers_out, quiet=events_out is not None)


def _classes(text: str) -> list[str]:
    from connector.replay import Misused

    if not text.startswith("["):
        return text.split(",")
    try:
        found = json.loads(text)
        return [as_id(name) for name in found]
    except ValueError as error:
        raise Misused(f"--classes: not a JSON list of names: {error}") from None


def _settings(
    resolve: Mapping[str, object], worker_prior: str | None
) -> dict[str, dict[str, object]] | None:
    from connector.replay import Misused

    found: dict[str, dict[str, object]] = {}
    if given := {key: value for key, value in resolve.items() if value is not None}:
        found["resolve"] = given
    if worker_prior is not None:
        try:
            a, b = map(float, worker_prior.split(","))
        except ValueError:
            raise Misused(
                f"--worker-prior: two numbers such as 2,1, not {worker_prior!r}"
            ) from None
        found["model"] = {"worker_prior": [a, b]}
    return found or None


def _report(
    replayed: Replayed, algorithm: str, labels: str | None, workers: str | None, quiet: bool
) -> None:
    """Write what was asked for, or a summary."""
    from connector.replay.aggregate import LIVE, WORKER_COLUMNS, Aggregated
    from connector.replay.outputs import write_labels, write_workers
    from connector.replay.summary import counts_line, dead_lines, summarised

    chosen = [replayed.project()] if labels is not None else replayed.projects
    found = {p.name: p if algorithm == LIVE else Aggregated(p, algorithm) for p in chosen}
    if labels is not None:
        project = replayed.project()
        count = write_labels(labels, project.classes, found[project.name].labels())
        say(f"{count:,} tasks in {labels}")
    if workers is not None:
        rows = chain.from_iterable(p.workers() for p in found.values())
        say(f"{write_workers(workers, WORKER_COLUMNS, rows):,} workers in {workers}")
    if labels is None and workers is None and not quiet:
        for project in chosen:
            answers = found[project.name]
            kind = project.config.kind
            _show(summarised(project.name, kind, answers.labels(), answers.workers()))
    say(counts_line(replayed))
    for line in dead_lines(replayed.counts):
        say(line, "yellow")


def _show(summary: ProjectSummary) -> None:
    statuses = [s for s in summary.statuses if s != "open"]
    columns = ["project", "kind", "tasks", "resolved", *statuses, "open", "votes", "workers"]
    line = [
        summary.name,
        summary.kind,
        f"{summary.tasks:,}",
        f"{summary.resolved:,}",
        *(f"{summary.statuses[s]:,}" for s in statuses),
        f"{summary.statuses['open']:,}",
        f"{summary.votes:,}",
        f"{summary.workers:,}",
    ]
    rows(columns, [line], right=columns[2:])
    for title, found in (("most accurate", summary.best), ("least accurate", summary.worst)):
        if found:
            columns = [f"{title} worker", "accuracy", "95 % interval", "votes", "agreement"]
            rows(columns, [_worker_line(row) for row in found], right=columns[1:])


def _worker_line(row: Mapping[str, Any]) -> list[str]:
    lower, upper, agreement = row["lower"], row["upper"], row["agreement"]
    return [
        row["worker"],
        f"{row['accuracy']:.3f}",
        "" if lower is None else f"{lower:.3f} - {upper:.3f}",
        f"{row['votes']:,}",
        "" if agreement is None else f"{agreement:.3f}",
    ]


@contextmanager
def _progress() -> Iterator[Progress]:
    """A moving bar on a terminal; elsewhere a line every ten seconds."""
    console = err()
    if not console.is_terminal:
        yield _Lines()
        return
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )
    with Bars(*columns, console=console, transient=True) as bars:
        bar = bars.add_task("", total=None)
        started = time.monotonic()

        def show(done: int, total: int, records: int) -> None:
            rate = records / max(time.monotonic() - started, 1e-3)
            text = f"{records:,} records, {rate:,.0f} a second"
            bars.update(bar, completed=done, total=max(total, 1), description=text)

        yield show


class _Lines:
    def __init__(self) -> None:
        self._started = self._told = time.monotonic()

    def __call__(self, done: int, total: int, records: int) -> None:
        now = time.monotonic()
        if now - self._told >= 10.0:
            self._told = now
            rate = records / (now - self._started)
            say(f"{done / max(total, 1):.0%}: {records:,} records, {rate:,.0f} a second")


def _same_file(path: str, given: str) -> bool:
    try:
        return Path(path).samefile(given)
    except OSError:  # one of them is not there
        return False
