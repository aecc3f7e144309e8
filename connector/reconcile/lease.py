"""A lease that is kept while its holder works."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Self

import structlog

from connector.domain.errors import CrowdResolveError, Fenced

from .ports import Leases

log = structlog.get_logger("crowdresolve")

LEASE_S = 60.0
"""How long after its last sign of life a job is taken for dead."""


class Lease:
    """Ours on one project; renewed by a thread of its own for as long as the block lasts.

    Args:
        leases: where it was taken.
        project: whose it is.
        holder: who we are.
        seconds: how long it lasts without a renewal.
    """

    def __init__(self, leases: Leases, project: str, holder: str, seconds: float) -> None:
        self._leases = leases
        self.project = project
        self.holder = holder
        self._seconds = seconds
        self._lost = threading.Event()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="lease", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._thread.join(self._seconds)
        if self._lost.is_set():
            return
        try:
            self._leases.release(self.project, self.holder)
        except CrowdResolveError as failure:
            log.warning("lease_not_released", project=self.project, reason=str(failure))

    def check(self) -> None:
        """Renew it now.

        Raises:
            Fenced: another job has it.
            DependencyError: the database does not say.
        """
        self.still()
        if not self._leases.renew(self.project, self.holder, self._seconds):
            self.lost()

    def still(self) -> None:
        """Raise Fenced where the last renewal found it lost."""
        if self._lost.is_set():
            self.lost()

    def lost(self) -> None:
        """Another job has it: say so. Raises Fenced."""
        self._lost.set()
        raise Fenced(
            f"{self.project}: another job has taken its lease: this one did not renew it for"
            f" {self._seconds:g} s"
        )

    def _keep(self) -> None:
        while not self._ended.wait(self._seconds / 4):
            try:
                if not self._leases.renew(self.project, self.holder, self._seconds):
                    self._lost.set()
                    return
            except CrowdResolveError as failure:
                # A database that is busy with a long write: the next time tells.
                log.warning("lease_not_renewed", project=self.project, reason=str(failure))
