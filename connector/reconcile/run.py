"""One run of one project: from the snapshot to what the service has made of it."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

import structlog

from connector.domain.errors import CrowdResolveError, DependencyError
from connector.domain.records import TopicPartition
from connector.pipeline.failpoints import failpoint
from connector.ports import Clock

from .completed import completed, failed
from .fitting import Unsound
from .flags import blocks, flags
from .lease import Lease
from .options import Options
from .parts import parts
from .ports import Leases, Outcome, Reader, RunLog, Standing
from .result import compute
from .snapshot import Snapshot
from .watch import Watch

log = structlog.get_logger("crowdresolve")

LOOK_S = 0.2
"""Between two looks at whether a run has been consumed."""


class Done(NamedTuple):
    """A run that was sent.

    Attributes:
        project: whose.
        run: its name.
        algorithm: its method, None where it failed.
        outcome: what the consumer has made of it.
    """

    project: str
    run: str
    algorithm: str | None
    outcome: Outcome


def due(standing: Standing, options: Options) -> bool:
    """Whether the project is to be looked at: nobody else is, and its votes have changed."""
    if standing.leased:
        why = "another job is at work on it"
    elif standing.awaited:
        why = "its last run has not been consumed yet"
    elif standing.in_doubt or standing.mark.due(standing.run_mark, options.min_new_votes):
        return True
    else:
        log.debug("project_unchanged", project=standing.project)
        return False
    log.info("project_skipped", project=standing.project, reason=why)
    return False


class ProjectRun:
    """The work on a project whose lease is ours.

    Args:
        lease: ours, kept while the work lasts.
        runs: the log of the project's runs.
        reader: what the consumer keeps.
        leases: where the lease was taken.
        clock: for waiting.
        watch: told how far it is.
        options: of the job.
    """

    def __init__(
        self,
        lease: Lease,
        runs: RunLog,
        reader: Reader,
        leases: Leases,
        clock: Clock,
        watch: Watch,
        options: Options,
    ) -> None:
        self._lease = lease
        self._runs = runs
        self._reader = reader
        self._leases = leases
        self._clock = clock
        self._watch = watch
        self._options = options

    def make(self) -> Done | None:
        """Make a run if one is due: None where there is none.

        Raises:
            Fenced: another job has the lease.
            DependencyError: the broker or the database fails; what was sent is found out later.
            Stopped: the job was asked to end.
        """
        lease = self._lease
        (standing,) = self._reader.standings(lease.project)
        if standing.in_doubt:
            standing = self._settled(standing)
        # Another job may have been at work since the caller looked.
        if not due(standing._replace(leased=False), self._options):
            return None
        started, begin = datetime.now(UTC), time.perf_counter()
        log.info("run_started", project=lease.project, holder=lease.holder)
        snapshot = self._read(lease.project)
        failpoint("snapshot_read")
        if not snapshot.V:
            log.info("project_skipped", project=lease.project, reason="it has no counting vote")
            return None
        run = f"{snapshot.upto}-{secrets.token_hex(4)}"
        algorithm, values = self._found(
            snapshot, run, standing.algorithm, started, time.perf_counter() - begin
        )
        return self._sent(snapshot, run, algorithm, values)

    def _settled(self, standing: Standing) -> Standing:
        """Find out whether the last run was sent; whoever was sending it cannot any more."""
        lease, runs = self._lease, self._runs
        assert standing.run is not None
        runs.open()
        lease.check()
        if self._reader.outcome(standing.project, standing.run) is not None:
            offset: int | None = standing.next_offset - 1
        else:
            needle = f'"run":"{standing.run}"'.encode()
            offset = runs.find(standing.partition, standing.next_offset, needle)
        log.warning("run_in_doubt", project=standing.project, run=standing.run, sent=offset)
        if offset is None:
            kept = self._leases.forget_run(lease.project, lease.holder)
        else:
            kept = self._leases.note_completed(lease.project, lease.holder, offset)
        if not kept:
            lease.lost()
        if offset is not None:
            self._wait(standing.partition, offset)
        (settled,) = self._reader.standings(lease.project)
        return settled

    def _read(self, project: str) -> Snapshot:
        return self._reader.snapshot(
            project, lambda done, total: self._watch.step(project, "reading", done, total)
        )

    def _found(
        self, snapshot: Snapshot, run: str, configured: str, started: datetime, read_s: float
    ) -> tuple[str | None, list[bytes]]:
        """The records of the run: its parts, its end, whom it blocks; or why it failed."""
        project = snapshot.project
        log.info(
            "snapshot_read",
            project=project,
            upto=snapshot.upto,
            tasks=len(snapshot.tasks),
            workers=len(snapshot.workers),
            votes=snapshot.V,
            gold=len(snapshot.truth),
            seconds=round(read_s, 3),
        )
        begin = time.perf_counter()
        try:
            result = compute(
                snapshot,
                self._options.algorithm or configured,
                self._options.seed,
                lambda done, total: self._watch.step(project, "computing", done, total),
            )
        except Unsound as error:
            log.error("run_failed", project=project, run=run, reason=str(error))
            end = failed(snapshot, run, str(error), started, datetime.now(UTC))
            return None, [end]
        compute_s = time.perf_counter() - begin
        failpoint("computed")
        log.info(
            "run_computed",
            project=project,
            run=run,
            algorithm=result.algorithm,
            reason=result.why,
            seconds=round(compute_s, 3),
        )
        begin = time.perf_counter()
        found = flags(result)
        flag_s = time.perf_counter() - begin
        values = list(parts(result, run, found))
        seconds = {
            "read": read_s,
            "compute": compute_s,
            "flag": flag_s,
            "encode": time.perf_counter() - begin - flag_s,
        }
        end = completed(result, run, len(values), started, datetime.now(UTC), seconds)
        failpoint("encoded")
        return result.algorithm, [*values, end, *blocks(result, run, found)]

    def _sent(
        self, snapshot: Snapshot, run: str, algorithm: str | None, values: Sequence[bytes]
    ) -> Done:
        lease, runs = self._lease, self._runs
        begin = time.perf_counter()
        runs.open()
        lease.check()
        if not self._leases.note_run(
            lease.project, lease.holder, snapshot.partition, run, snapshot.mark
        ):
            lease.lost()
        offset = runs.send(snapshot.partition, lease.project.encode(), values)
        self._note(offset)
        log.info(
            "run_sent",
            project=lease.project,
            run=run,
            records=len(values),
            bytes=sum(map(len, values)),
            offset=offset,
            seconds=round(time.perf_counter() - begin, 3),
        )
        failpoint("waiting")
        self._wait(snapshot.partition, offset)
        outcome = self._reader.outcome(lease.project, run)
        if outcome is None:
            raise CrowdResolveError(
                f"{lease.project}: the service has not taken the run {run} (offset {offset}):"
                " `crowdresolve dead list` says why; is it of an older release?"
            )
        log.info(
            "run_consumed",
            project=lease.project,
            run=run,
            status=outcome.status,
            reason=outcome.reason,
            seconds=round(time.perf_counter() - begin, 3),
        )
        return Done(lease.project, run, algorithm, outcome)

    def _note(self, offset: int) -> None:
        """That the run is out. Where that cannot be noted, the next job finds it in the log.

        The service may be at it already, and hold SQLite's only writing place for as long as it
        adopts.
        """
        lease = self._lease
        until = self._clock.monotonic() + self._options.wait_s
        while True:
            try:
                if not self._leases.note_completed(lease.project, lease.holder, offset):
                    lease.lost()
                return
            except DependencyError:
                if self._clock.monotonic() >= until:
                    raise
                self._clock.sleep(LOOK_S)

    def _wait(self, partition: TopicPartition, offset: int) -> None:
        """Until the consumer has passed the offset; the lease is kept meanwhile."""
        lease = self._lease
        until = self._clock.monotonic() + self._options.wait_s
        while self._reader.next_offset(partition) <= offset:
            self._watch.step(lease.project, "waiting for the service", 0, 1)
            lease.still()
            if self._clock.monotonic() >= until:
                raise CrowdResolveError(
                    f"{lease.project}: its run was sent (offset {offset}), but not consumed within"
                    f" {self._options.wait_s:g} s: is `crowdresolve run` running? It will be"
                    " adopted when it is"
                )
            self._clock.sleep(LOOK_S)
