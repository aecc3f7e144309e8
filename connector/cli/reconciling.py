"""The scheduled job on Kafka and the database of the settings, once or for ever."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from types import FrameType
from typing import TYPE_CHECKING

import structlog
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from connector.adapters.clock import SystemClock
from connector.domain.errors import CrowdResolveError, DependencyError
from connector.reconcile.watch import Stopped

from .stopping import GRACE_S
from .terminal import err

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from connector.reconcile.job import Job, Round
    from connector.reconcile.options import Options
    from connector.reconcile.ports import RunLog
    from connector.settings import Loaded

log = structlog.get_logger("crowdresolve")

SAY_S = 10.0
"""Between two lines of progress where there is no terminal."""


def reconciling(loaded: Loaded, engine: Engine, options: Options, every_s: float | None) -> int:
    """Run the job until it is done, or told to end.

    Args:
        loaded: the settings.
        engine: the service's database.
        options: of the job.
        every_s: seconds between the beginnings of two rounds; None: one round.

    Returns:
        The exit code.

    Raises:
        ConfigurationError: a setting is wrong, or the schema is of another release.
        DependencyError: in the only round, the projects cannot be read.
    """
    with Follow() as follow:
        job = _job(loaded, engine, options, follow)
        try:
            if every_s is None:
                return code_of(job.round())
            _repeat(job, every_s, follow)
        except Stopped:
            log.info("stopped")
        return 0


def _job(loaded: Loaded, engine: Engine, options: Options, follow: Follow) -> Job:
    from connector.adapters.kafka.runs import KafkaRunLog
    from connector.adapters.sql import migrate
    from connector.adapters.sql.leases import SqlLeases
    from connector.adapters.sql.snapshots import SqlReader
    from connector.reconcile.job import Job

    from .clients import kafka_client
    from .wiring import end_process

    settings = loaded.settings
    client = kafka_client(settings, loaded.origins)
    migrate.check(engine)
    reader = SqlReader(engine)
    if options.project is not None and not reader.standings(options.project):
        raise CrowdResolveError(f"there is no project {options.project}")

    def log_of(project: str) -> RunLog:
        return KafkaRunLog(
            client,
            transactional_id=f"{settings.group}-reconcile-{project}",
            topic=settings.topic_annotations,
            on_hang=end_process,
        )

    return Job(reader, SqlLeases(engine), log_of, SystemClock(), follow, options)


def _repeat(job: Job, every_s: float, follow: Follow) -> None:
    """Round after round, whatever goes wrong in one; Stopped ends it."""
    while True:
        begin = time.monotonic()
        try:
            job.round()
        except DependencyError as error:
            log.error("round_failed", kind=type(error).__name__, reason=str(error))
        follow.wait(max(0.0, every_s - (time.monotonic() - begin)))


def code_of(round_: Round) -> int:
    """0, or what the first failure means."""
    for failure in round_.failures.values():
        if isinstance(failure, CrowdResolveError):
            return failure.exit_code
        return CrowdResolveError.exit_code
    failed = any(d.algorithm is None for d in round_.done)
    return CrowdResolveError.exit_code if failed else 0


class Follow:
    """Shows how far the job is, and tells it to end at the first SIGTERM or SIGINT.

    A moving line on a terminal, elsewhere a line of the log every ten seconds.  The second signal,
    or a step that takes too long, ends the process at once: it loses nothing by it.
    """

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._shown = ""
        self._said = time.monotonic()

    def __enter__(self) -> Follow:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._handle)
        console = err()
        if console.is_terminal:
            self._progress = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.completed:,.0f} of {task.total:,.0f}"),
                TimeElapsedColumn(),
                console=console,
                transient=True,
            )
            self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()

    def step(self, project: str, stage: str, done: int, total: int) -> None:
        """See `connector.reconcile.watch`."""
        if self._stop.is_set():
            raise Stopped
        if self._progress is not None:
            self._draw(self._progress, f"{project}: {stage}", done, total)
        elif time.monotonic() - self._said >= SAY_S:
            self._said = time.monotonic()
            log.info("progress", project=project, stage=stage, done=done, total=total)

    def _draw(self, progress: Progress, what: str, done: int, total: int) -> None:
        if self._task is None or what != self._shown:
            if self._task is not None:
                progress.remove_task(self._task)
            self._task, self._shown = progress.add_task(what, total=total), what
        progress.update(self._task, completed=done, total=total)

    def done(self, project: str) -> None:
        """See `connector.reconcile.watch`."""
        if self._progress is not None and self._task is not None:
            self._progress.remove_task(self._task)
        self._task, self._shown = None, ""

    def wait(self, seconds: float) -> None:
        """Between two rounds. Raises Stopped."""
        if self._stop.wait(seconds):
            raise Stopped

    def _handle(self, number: int, _: FrameType | None) -> None:
        if self._stop.is_set():
            os._exit(128 + number)
        self._stop.set()
        timer = threading.Timer(GRACE_S, self._end)
        timer.daemon = True
        timer.start()

    def _end(self) -> None:
        log.warning("stopping_took_too_long", grace_s=GRACE_S, todo="nothing; it is safe")
        sys.stderr.flush()
        os._exit(0)
