"""How a job works."""

from __future__ import annotations

from dataclasses import dataclass

from .lease import LEASE_S

LONGEST_WAIT_S = 600.0


@dataclass(frozen=True)
class Options:
    """What the caller of a job decides.

    Attributes:
        holder: its name among jobs.
        topic: only projects whose log is there.
        project: only this one.
        algorithm: instead of the projects' own.
        min_new_votes: a project with fewer changed votes since its last run waits.
        lease_s: how long its leases last without a renewal.
        wait_s: how long a run may take to be consumed before the job goes on without it.
        seed: of everything random.
    """

    holder: str
    topic: str = "annotations"
    project: str | None = None
    algorithm: str | None = None
    min_new_votes: int = 1
    lease_s: float = LEASE_S
    wait_s: float = LONGEST_WAIT_S
    seed: int = 0
