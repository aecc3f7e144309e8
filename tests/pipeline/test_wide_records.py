"""Records that touch more tasks than are held at once, or send more than a transaction holds."""

from __future__ import annotations

from typing import Any

import pytest

from connector.engine import turn
from connector.pipeline import batch, publisher
from tests.oracle.logs import random_log

from .world import RESOLVED, World


def declared(confidence: float, **more: Any) -> dict[str, Any]:
    return {
        "type": "project.declared",
        "project": "p",
        "kind": "binary",
        "classes": ["0", "1"],
        "resolve": {"confidence": confidence, "min_labels": 1, "calibrate": False},
        **more,
    }


def vote(task: int, worker: int) -> dict[str, Any]:
    return {
        "type": "annotation.submitted",
        "project": "p",
        "task": task,
        "worker": worker,
        "label": task % 2,
    }


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits that a few hundred tasks reach."""
    monkeypatch.setattr(turn, "HELD_DIRTY", 20)
    monkeypatch.setattr("connector.engine.project.CHUNK", 7)
    for module in (publisher, batch):
        monkeypatch.setattr(module, "MAX_MESSAGES", 50)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("held", [0, 200_000])
def test_a_declaration_that_resolves_everything_is_exact(held: int) -> None:
    world = World()
    world.send([declared(0.99), *(vote(i, i % 9) for i in range(300)), declared(0.51)])
    world.run(world.consumer(held=held))
    world.assert_exact()
    assert len(world.broker.read(RESOLVED)) == 300


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("held", [0, 200_000])
def test_blocking_and_unblocking_a_worker_of_every_task_is_exact(held: int) -> None:
    world = World()
    block = {"type": "worker.blocked", "project": "p", "worker": 1, "reason": "spam"}
    world.send(
        [
            declared(0.8),
            *(vote(i, w) for i in range(200) for w in (1, 2 + i % 5)),
            block,
            vote(0, 9),
            {**block, "type": "worker.unblocked"},
            vote(1, 9),
            declared(0.8, model={"worker_prior": [3, 1]}),
            vote(2, 9),
        ]
    )
    world.run(world.consumer(held=held))
    world.assert_exact()


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("seed", range(8))
def test_any_log_is_exact_when_little_is_held(seed: int) -> None:
    world = World()
    log = random_log(seed, 600, cloudevents=0.0, tasks=60, workers=12, runs=0.02)
    world.send([r.value for r in log])
    world.run(world.consumer(held=seed % 2 * 200_000))
    world.assert_exact()
