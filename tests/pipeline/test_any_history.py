"""Whatever happens between two records, the end is the plain fold of the log.

Records of every sort, batches of any size, redelivery, crashes anywhere, commits that fail or
whose outcome nobody knows, members that come and go, a group that is reset.
"""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from connector.adapters.memory.broker import Fault
from connector.adapters.memory.store import MemoryStore
from connector.domain.records import Cursor, TopicPartition
from connector.pipeline.consumer import Consumer
from tests.engine.plain_chooser import CHOICES
from tests.oracle.logs import random_log

from .flaky import FlakyStore
from .world import TOPIC, World

P0 = TopicPartition(TOPIC, 0)


class AnyHistory(RuleBasedStateMachine):
    @initialize(seed=st.integers(0, 10_000), held=st.sampled_from([0, 200_000]))
    def begin(self, seed: int, held: int) -> None:
        self.store = FlakyStore(MemoryStore())
        self.world = World(store=self.store)
        log = random_log(seed, 300, cloudevents=0.0, runs=0.03, assignments=0.2, choices=CHOICES)
        self.log = [r.value for r in log]
        self.options: dict[str, Any] = {"held": held, "drain_s": 0.05}
        self.consumers: list[Consumer] = []
        self.reset = False

    @rule(count=st.integers(1, 40))
    def arrive(self, count: int) -> None:
        self.world.send(self.log[:count])
        self.log = self.log[count:]

    @precondition(lambda self: len(self.consumers) < 2)
    @rule()
    def join(self) -> None:
        self.consumers.append(self.world.consumer(**self.options))

    @precondition(lambda self: self.consumers)
    @rule(which=st.integers(0, 1), turns=st.integers(1, 4))
    def work(self, which: int, turns: int) -> None:
        for _ in range(turns):
            self.consumers[which % len(self.consumers)].step(0.001)
            self.world.clock.now += 1.0

    @precondition(lambda self: self.consumers)
    @rule(which=st.integers(0, 1))
    def crash(self, which: int) -> None:
        """What waits to be published is gone with the process."""
        self.consumers.pop(which % len(self.consumers)).close()
        self.world.broker.expire_transactions()

    @precondition(lambda self: self.consumers)
    @rule()
    def leave(self) -> None:
        """What could not go out is left to the next owner, as after a crash."""
        consumer = self.consumers.pop()
        consumer.finish()
        consumer.close()
        self.world.broker.expire_transactions()

    @rule(faults=st.lists(st.sampled_from([Fault.LOST, Fault.UNKNOWN, Fault.HELD]), max_size=2))
    def broker_fails(self, faults: list[Fault]) -> None:
        self.world.broker.faults.extend(faults)

    @rule(faults=st.lists(st.sampled_from(["lost", "unknown", "fine"]), max_size=3))
    def database_fails(self, faults: list[str]) -> None:
        self.store.faults.extend(faults)

    @precondition(lambda self: self.consumers)
    @rule()
    def group_expires(self) -> None:
        """The cursor is gone; the outbox still knows what was not trimmed, ids drop the rest."""
        self.crash(0)
        while self.consumers:
            self.crash(0)
        self.world.broker.set_cursor("crowdresolve", P0, Cursor(0))
        self.reset = True

    @invariant()
    def nothing_is_applied_twice(self) -> None:
        if not hasattr(self, "store"):
            return
        row = self.store.progress(P0)
        if row is not None:
            assert row.received == row.next_offset
            assert row.received == row.applied + row.duplicates + row.stale + row.dead

    def teardown(self) -> None:
        if not hasattr(self, "store"):
            return
        self.world.broker.faults.clear()
        self.store.faults.clear()
        if not self.consumers:
            self.join()
        try:
            self.world.run(*self.consumers)
            self.world.assert_exact(repeats=self.reset)
        finally:
            for consumer in self.consumers:
                consumer.close()


def test_any_history_ends_in_the_plain_fold() -> None:
    run_state_machine_as_test(
        AnyHistory,
        settings=settings(
            max_examples=100,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
