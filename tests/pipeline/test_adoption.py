"""A run is adopted beside the loop: others go on; who loses the partition writes nothing."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from connector.adapters.memory.store import MemoryStore
from connector.domain.errors import DependencyError
from connector.domain.records import TopicPartition
from connector.domain.rows import RunRow
from connector.pipeline import batch, publisher
from connector.pipeline.adoption import Abandoned, Adoption

from .test_wide_records import declared, vote
from .world import RESOLVED, TOPIC, World

P0, P1 = TopicPartition(TOPIC, 0), TopicPartition(TOPIC, 1)


def a_run(tasks: int, upto: int, name: str = "r") -> list[dict[str, Any]]:
    """A run that is sure of the class 0 of every task."""
    head = {"project": "p", "run": name}
    bases = [{"task": t, "base": [0.0, -9.0]} for t in range(tasks)]
    end = {"upto": upto, "parts": 1, "algorithm": "cola"}
    return [
        {"type": "reconciliation.part", "part": 0, "tasks": bases, **head},
        {"type": "reconciliation.completed", **end, **head},
    ]


def a_project(tasks: int) -> list[dict[str, Any]]:
    unguarded = {"reconcile": {"max_flip_fraction": 1.0}}
    return [declared(0.9, **unguarded), *(vote(t, t % 7) for t in range(tasks))]


class Gate:
    """A store whose adoptions wait at a place until they may go on."""

    def __init__(self, store: MemoryStore, place: str) -> None:
        self.reached = threading.Event()
        self.opened = threading.Event()
        self._place = place
        store.hook = self._pass

    def _pass(self, place: str) -> None:
        if threading.current_thread().name == "adoption" and place == self._place:
            self.reached.set()
            assert self.opened.wait(60)


@contextmanager
def gated(world: World, place: str) -> Iterator[Gate]:
    assert isinstance(world.store, MemoryStore)
    gate = Gate(world.store, place)
    try:
        yield gate
    finally:
        gate.opened.set()


def test_what_was_not_yet_written_when_the_partition_went_is_never_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reached, opened = threading.Event(), threading.Event()
    ended: list[BaseException | None] = []
    folding, running = batch.fold, Adoption._run

    def fold(*args: Any) -> Any:
        if not reached.is_set():  # the first one
            reached.set()
            assert opened.wait(60)
        return folding(*args)

    def run(self: Adoption) -> None:
        running(self)
        ended.append(self.error)

    monkeypatch.setattr("connector.pipeline.adoption.fold", fold)
    monkeypatch.setattr(Adoption, "_run", run)
    world = World(partitions=2)
    first = world.consumer()
    world.send(a_project(40))
    world.run(first)
    world.send([*a_run(40, 41), *(vote(t, 9) for t in range(20))])
    while not reached.is_set():
        first.step(0.01)
    second = world.consumer()
    for _ in range(100):
        first.step(0.01)
        second.step(0.01)
    opened.set()
    world.run(first, second)
    world.assert_exact()
    assert [type(error) for error in ended] == [Abandoned, type(None)]


def test_other_partitions_are_served_while_a_run_is_adopted() -> None:
    world = World(partitions=2)
    consumer = world.consumer()
    world.send(a_project(50))
    world.run(consumer)
    other = {"type": "project.declared", "project": "q", "kind": "binary", "classes": ["0", "1"]}
    with gated(world, "begin") as gate:
        world.send([*a_run(50, 51), *(vote(t, 9) for t in range(20))])
        while not gate.reached.is_set():
            consumer.step(0.01)
        world.send([other, *({**vote(t, 1), "project": "q"} for t in range(30))], partition=1)
        for _ in range(1000):
            consumer.step(0.01)
            row = world.store.progress(P1)
            if row is not None and row.next_offset == 31:
                break
        assert row is not None
        assert row.applied == 31
        held = world.store.progress(P0)
        assert held is not None
        assert held.next_offset == 52, "the run's end and what follows it wait"
    world.run(consumer)
    world.assert_exact()
    assert len(world.broker.read(RESOLVED)) >= 50


def test_records_that_a_client_had_fetched_before_wait_for_the_run_too() -> None:
    world = World()
    consumer = world.consumer()
    world.send(a_project(40))
    world.run(consumer)
    consumer._source.pause = lambda partition: None  # type: ignore[method-assign]
    with gated(world, "begin") as gate:
        world.send(a_run(40, 41))
        while not gate.reached.is_set():
            consumer.step(0.01)
        world.send(vote(t, 9) for t in range(20))
        for _ in range(20):
            consumer.step(0.01)
    world.run(consumer)
    world.assert_exact()


@pytest.mark.parametrize("place", ["begin", "commit"])
def test_a_partition_that_is_given_away_on_the_way_is_adopted_once(place: str) -> None:
    world = World(partitions=2)
    first = world.consumer()
    world.send(a_project(40))
    world.run(first)
    with gated(world, place) as gate:
        world.send([*a_run(40, 41), *(vote(t, 9) for t in range(20))])
        while not gate.reached.is_set():
            first.step(0.01)
        second = world.consumer()
        opener = threading.Timer(0.3, gate.opened.set)  # a revoke waits for what is being written
        opener.start()
        for _ in range(200):
            first.step(0.01)
            second.step(0.01)
    world.run(first, second)
    world.assert_exact()
    store = world.store
    assert isinstance(store, MemoryStore)
    assert [row.status for row in store.table(RunRow)] == ["adopted"]


@pytest.mark.parametrize("place", ["begin", "advance", "save", "commit", "committed"])
def test_an_adoption_that_the_database_fails_is_done_again(place: str) -> None:
    world = World()
    consumer = world.consumer()
    world.send(a_project(40))
    world.run(consumer)
    failed: list[str] = []

    def fail(at: str) -> None:
        if threading.current_thread().name == "adoption" and at == place and not failed:
            failed.append(at)
            raise DependencyError("the connection was lost")

    assert isinstance(world.store, MemoryStore)
    world.store.hook = fail
    world.send([*a_run(40, 41), *(vote(t, 9) for t in range(20))])
    world.run(consumer)
    assert failed == [place]
    world.assert_exact()


def test_a_run_with_more_messages_than_a_transaction_holds_is_exact(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (publisher, batch):
        monkeypatch.setattr(module, "MAX_MESSAGES", 50)
    monkeypatch.setattr("connector.engine.adopt.CHUNK", 7)
    world = World()
    world.send([*a_project(300), *a_run(300, 301), *(vote(t, 9) for t in range(20))])
    world.run(world.consumer())
    world.assert_exact()
    cola = [r for r in world.broker.read(RESOLVED) if b'"cola"' in (r.value or b"")]
    assert len(cola) >= 300


def test_a_stop_in_the_middle_leaves_the_run_to_the_next_process() -> None:
    world = World()
    first = world.consumer(drain_s=0.05)
    world.send(a_project(40))
    world.run(first)
    with gated(world, "begin") as gate:
        world.send(a_run(40, 41))
        while not gate.reached.is_set():
            first.step(0.01)
        gate.opened.set()
        first.finish()
        first.close()
    world.run(world.consumer())
    world.assert_exact()
