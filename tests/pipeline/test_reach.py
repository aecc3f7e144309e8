"""A broker that is away while there is nothing to send shows in the log alone."""

from __future__ import annotations

from structlog.testing import capture_logs

from connector.pipeline.consumer import Consumer
from connector.pipeline.reach import UNREACHABLE_S

from .world import World


def said(world: World, consumer: Consumer, seconds: float, reachable: bool) -> list[str]:
    """What is logged in a time with or without a broker."""
    poll = consumer._source.poll

    def polled(timeout_s: float) -> object:
        found = poll(timeout_s)
        found.reachable = reachable
        return found

    with capture_logs() as lines:
        consumer._source.poll = polled  # type: ignore[assignment]
        for _ in range(int(seconds / 0.25)):
            consumer.step(0.001)
            world.clock.now += 0.25
        consumer._source.poll = poll  # type: ignore[method-assign]
    return [line["event"] for line in lines if line["event"].startswith("broker")]


def test_a_broker_that_cannot_be_reached_is_said_once_and_so_is_its_return() -> None:
    world = World()
    consumer = world.consumer()
    assert said(world, consumer, 10.0, reachable=True) == []
    for _ in range(2):
        assert said(world, consumer, 10.0, reachable=False) == ["broker_unreachable"]
        assert said(world, consumer, 10.0, reachable=True) == ["broker_back"]


def test_a_broker_that_is_away_for_a_moment_is_not_worth_a_line() -> None:
    world = World()
    consumer = world.consumer()
    for _ in range(3):
        assert said(world, consumer, UNREACHABLE_S / 2, reachable=False) == []
        assert said(world, consumer, 1.0, reachable=True) == []
