"""The job: one run for each project that is due, and that no other job is at work on.

What it finds travels through the log; of the database it writes only its lease.  A job that dies
leaves nothing behind but a lease that ends by itself, and at most one transaction, which whoever
comes next on the project ends before anything else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import structlog

from connector.domain.errors import CrowdResolveError
from connector.ports import Clock

from .lease import Lease
from .options import Options
from .ports import Leases, Reader, RunLog
from .run import Done, ProjectRun, due
from .watch import Stopped, Watch

log = structlog.get_logger("crowdresolve")


class Round(NamedTuple):
    """What one look at all projects led to.

    Attributes:
        done: the runs.
        failures: by project, what went wrong.
    """

    done: Sequence[Done]
    failures: Mapping[str, Exception]


class Job:
    """Reconciles projects; any number of jobs may do so at once.

    Args:
        reader: what the consumer keeps.
        leases: of the projects.
        log_of: the log of a project's runs, by its name.
        clock: for waiting.
        watch: told how far it is.
        options: see there.
    """

    def __init__(
        self,
        reader: Reader,
        leases: Leases,
        log_of: Callable[[str], RunLog],
        clock: Clock,
        watch: Watch,
        options: Options,
    ) -> None:
        self._reader = reader
        self._leases = leases
        self._log_of = log_of
        self._clock = clock
        self._watch = watch
        self._options = options

    def round(self) -> Round:
        """Look at every project once; what one of them fails by does not stop the others.

        Raises:
            DependencyError, ConfigurationError: the projects cannot be read.
            Stopped: the job was asked to end.
        """
        done: list[Done] = []
        failures: dict[str, Exception] = {}
        standings = self._reader.standings(self._options.project)
        for standing in standings:
            if standing.partition.topic != self._options.topic or not due(standing, self._options):
                continue
            try:
                found = self._reconcile(standing.project)
                if found is not None:
                    done.append(found)
            except Stopped:
                raise
            except CrowdResolveError as error:
                failures[standing.project] = error
                log.error(
                    "reconcile_failed",
                    project=standing.project,
                    kind=type(error).__name__,
                    reason=str(error),
                )
            except Exception as error:
                # A mistake of ours, which may be this project's alone.
                failures[standing.project] = error
                log.critical("reconcile_crashed", project=standing.project, exc_info=True)
            finally:
                self._watch.done(standing.project)
        log.info("round_done", projects=len(standings), runs=len(done), failed=len(failures))
        return Round(done, failures)

    def _reconcile(self, project: str) -> Done | None:
        options = self._options
        if not self._leases.take(project, options.holder, options.lease_s):
            log.info("project_skipped", project=project, reason="another job was faster")
            return None
        with Lease(self._leases, project, options.holder, options.lease_s) as lease:
            runs = self._log_of(project)
            try:
                work = ProjectRun(
                    lease, runs, self._reader, self._leases, self._clock, self._watch, options
                )
                return work.make()
            finally:
                runs.close()
