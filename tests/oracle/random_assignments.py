"""Workers who ask, answer, skip and vanish, for the random logs."""

from __future__ import annotations

import random
from collections.abc import Sequence

from .project import Project
from .state import Lease

Fields = dict[str, object]


def settings(rng: random.Random, workers: Sequence[object]) -> Fields:
    """What a declaration says of assignment."""
    fields: Fields = {"lease_seconds": rng.choice((0.25, 60, 300, 600, 3600))}
    fields["policy"] = rng.choice(("uncertainty", "uncertainty", "uniform"))
    fields["gold_rate"] = rng.choice((0, 0, 0.3, 1))
    if rng.random() < 0.7:
        fields["probes"] = rng.choice(("auto", 0, 0, 1, 3))
    if rng.random() < 0.3:
        fields["budget"] = rng.choice((0, 12, 25, 100))
    if rng.random() < 0.3:
        fields["skilled_after"] = rng.choice((0, 1, 2))
        fields["skilled_accuracy"] = rng.choice((0.2003, 0.3007, 0.4011))
    if rng.random() < 0.6:
        fields["experts"] = rng.sample(workers, min(2, len(workers)))
    return fields


def asks(rng: random.Random, workers: Sequence[object]) -> Fields:
    fields: Fields = {"type": "worker.available", "worker": rng.choice(workers)}
    if rng.random() < 0.6:
        fields["want"] = rng.choice((1, 2, 2, 3, 50))
    return fields


def some_lease(rng: random.Random, project: Project | None) -> Lease | None:
    """One that is open, to be answered."""
    if project is None or not project.leases:
        return None
    return rng.choice(list(project.leases.values()))


def quiet_ms(rng: random.Random, project: Project | None) -> int:
    """How long nothing happens: until about the end of a lease, more often than not."""
    lease_ms = 60_000 if project is None else int(project.config.lease_seconds * 1000)
    return max(0, lease_ms + rng.choice((-1, 0, 1, 10_000)))
