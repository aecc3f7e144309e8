"""Real crowds through a real Kafka and a real database, against the plain fold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from .crowd import declared, votes
from .deployment import Deployment

Deploy = Callable[..., Deployment]


@pytest.mark.parametrize("name", ["rte", "temp", "dog"])
def test_a_real_crowd_ends_as_the_plain_fold(
    name: str, deploy: Deploy, database_url: str, data_dir: Path
) -> None:
    """Killed once on the way and started again; SIGTERM ends it in under 10 s, exit code 0."""
    d = deploy(database_url)
    log = [declared(name, data_dir / name), *votes(name, data_dir / name)]
    half = len(log) // 2
    first = d.run(CROWDRESOLVE_INSTANCE="one")
    d.send(log[:half])
    d.wait_applied(half // 4)
    d.send(log[half:])
    first.kill()
    second = d.run(CROWDRESOLVE_INSTANCE="one")
    d.wait_applied(len(log))
    d.wait_published()
    assert second.terminate(within_s=10.0) == 0, second.text()
    fold = d.assert_exact()
    counters = fold.event_accounting()[0]
    assert counters["received"] == len(log)
    assert isinstance(counters["duplicates"], int)
    assert counters["duplicates"] > len(log) // 20
