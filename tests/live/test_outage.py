"""Broker and database that go away under load: the service waits, says so, and goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.services import KafkaService, PostgresService, find_kafka

from .deployment import Deployment, Process, deployments, wait_for
from .test_kill import some_log

Deploy = Callable[..., Deployment]


@pytest.fixture(scope="module")
def own_kafka() -> Iterator[KafkaService]:
    """A broker of our own: killing the others' would be rude."""
    service = find_kafka()
    if not service.can_kill:
        pytest.fail("a broker that can be killed is needed: unset CROWDRESOLVE_TEST_KAFKA")
    yield service
    service.close()


@pytest.fixture
def deploy_own(own_kafka: KafkaService, tmp_path: Path) -> Iterator[Deploy]:
    yield from deployments(own_kafka.bootstrap, tmp_path)


def noticed(process: Process, times: int) -> bool:
    return process.text().count("partition_waits") >= times


def test_a_database_that_is_killed_under_load_costs_nothing(
    deploy: Deploy, postgres: PostgresService, postgres_url: str
) -> None:
    """Several times; a commit whose outcome got lost with it has one effect."""
    if not postgres.can_kill:
        pytest.fail("a PostgreSQL that can be killed is needed: unset CROWDRESOLVE_TEST_DATABASE")
    d = deploy(postgres_url)
    log = some_log(seed=61, size=1200)
    process = d.run("--batch-size", "40")
    for start in range(0, 1200, 300):
        d.send(log[start : start + 300])
        d.wait_applied(start + 60)
        postgres.kill()
        waits = start // 300 + 1
        wait_for("the service noticed", partial(noticed, process, waits), 20)
        postgres.start()
        d.wait_applied(start + 300)
    d.wait_published()
    assert process.terminate() == 0, process.text()[-3000:]
    d.assert_exact()


def test_a_broker_that_is_killed_under_load_costs_nothing(
    deploy_own: Deploy, own_kafka: KafkaService, postgres_url: str
) -> None:
    d = deploy_own(postgres_url)
    log = some_log(seed=62, size=900)
    process = d.run("--batch-size", "40")
    for start in range(0, 900, 300):
        d.send(log[start : start + 300])
        d.wait_applied(start + 60)
        own_kafka.kill()
        own_kafka.start()
        d.wait_applied(start + 300)
    d.wait_published()
    assert process.running, process.text()[-3000:]
    assert process.terminate() == 0, process.text()[-3000:]
    d.assert_exact()


def test_a_broker_that_is_away_shows_in_the_log_though_nothing_is_to_be_sent(
    deploy_own: Deploy, own_kafka: KafkaService, postgres_url: str
) -> None:
    d = deploy_own(postgres_url)
    process = d.run()
    wait_for("it started", lambda: "partition_assigned" in process.text())
    own_kafka.kill()
    wait_for("it was noticed", lambda: "broker_unreachable" in process.text())
    own_kafka.start()
    wait_for("it is back", lambda: "broker_back" in process.text())
    assert process.text().count("broker_unreachable") == 1
    assert process.terminate() == 0


def test_a_stopping_service_does_not_wait_for_a_dead_broker(
    deploy_own: Deploy, own_kafka: KafkaService, postgres_url: str
) -> None:
    d = deploy_own(postgres_url)
    process = d.run()
    d.send(some_log(seed=63, size=100))
    d.wait_applied(100)
    own_kafka.kill()
    assert process.terminate(within_s=10.0) == 0, process.text()[-3000:]
    own_kafka.start()
    process = d.run()
    wait_for("it started", lambda: "partition_assigned" in process.text())
    d.wait_published()
    assert process.terminate() == 0
    d.assert_exact()
