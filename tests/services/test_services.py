"""The services are real: they keep what was committed, even over a crash."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import NewTopic
from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError

from tests.services import (
    CannotCrash,
    KafkaService,
    PostgresService,
    ServiceUnavailable,
    find_kafka,
    find_postgres,
)
from tests.services.network import wait_until

pytestmark = pytest.mark.services

REPOSITORY = Path(__file__).parents[2]


def _new_topic(kafka: KafkaService) -> str:
    name = f"services-{secrets.token_hex(4)}"
    admin = KafkaAdminClient(bootstrap_servers=kafka.bootstrap)
    admin.create_topics([NewTopic(name=name, num_partitions=1, replication_factor=1)])
    admin.close()
    return name


def _produce(kafka: KafkaService, topic: str, value: bytes, *, commit: bool) -> None:
    producer = KafkaProducer(
        bootstrap_servers=kafka.bootstrap, transactional_id=f"services-{secrets.token_hex(4)}"
    )
    producer.init_transactions()
    producer.begin_transaction()
    producer.send(topic, value).get(timeout=10)
    if commit:
        producer.commit_transaction()
    else:
        producer.abort_transaction()
    producer.close(timeout=5)


def _committed(kafka: KafkaService, topic: str, count: int) -> list[bytes]:
    """The first `count` records that a subscriber sees who reads committed ones only.

    A commit returns before its markers are in the topic, and a broker that was killed in between
    writes them after its start: so this waits, and does not believe `end_offsets`.
    """
    consumer = KafkaConsumer(
        bootstrap_servers=kafka.bootstrap,
        isolation_level="read_committed",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )
    consumer.assign([TopicPartition(topic, 0)])
    found: list[bytes] = []
    deadline = time.monotonic() + 30
    while len(found) < count and time.monotonic() < deadline:
        for records in consumer.poll(timeout_ms=500).values():
            found += [record.value for record in records]
    consumer.close()
    return found


def test_an_aborted_record_is_invisible_and_a_committed_one_is_not(kafka: KafkaService) -> None:
    topic = _new_topic(kafka)
    _produce(kafka, topic, b"aborted", commit=False)
    _produce(kafka, topic, b"committed", commit=True)
    assert _committed(kafka, topic, 1) == [b"committed"]


def test_a_topic_that_nobody_made_is_not_there(kafka: KafkaService) -> None:
    consumer = KafkaConsumer(bootstrap_servers=kafka.bootstrap)
    assert "mistyped" not in consumer.topics()
    consumer.close()


def test_a_killed_broker_comes_back_with_its_records(kafka: KafkaService) -> None:
    if not kafka.can_kill:
        pytest.skip("the broker is not ours")
    topic = _new_topic(kafka)
    _produce(kafka, topic, b"before", commit=True)
    before = kafka.pid
    kafka.kill()
    assert not kafka.alive()
    assert not kafka.serves()
    kafka.start()
    assert before is None or kafka.pid != before
    _produce(kafka, topic, b"after", commit=True)
    assert _committed(kafka, topic, 2) == [b"before", b"after"]


def test_a_stopped_broker_comes_back_with_its_records(kafka: KafkaService) -> None:
    if not kafka.can_kill:
        pytest.skip("the broker is not ours")
    topic = _new_topic(kafka)
    _produce(kafka, topic, b"before", commit=True)
    kafka.restart()
    assert _committed(kafka, topic, 1) == [b"before"]


def test_a_database_is_empty_and_durable(postgres_url: str) -> None:
    engine = create_engine(postgres_url)
    with engine.connect() as connection:
        tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
        assert connection.execute(text(tables)).scalar() == 0
        assert connection.execute(text("SHOW fsync")).scalar() == "on"
        assert connection.execute(text("SHOW synchronous_commit")).scalar() == "on"
    engine.dispose()


def test_a_copy_has_what_its_template_had(postgres: PostgresService, postgres_url: str) -> None:
    engine = create_engine(postgres_url)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE votes AS SELECT 1 AS n"))
    engine.dispose()
    copy = postgres.create_database(template=postgres_url)
    engine = create_engine(copy)
    with engine.connect() as connection:
        assert connection.execute(text("SELECT n FROM votes")).scalar() == 1
    postgres.drop_database(copy)  # although the engine is still connected
    with pytest.raises(OperationalError), engine.connect() as connection:
        connection.execute(text("SELECT 1"))
    engine.dispose()


@pytest.mark.parametrize("how", ["kill", "stop"])
def test_a_crashed_server_keeps_what_was_committed(
    postgres: PostgresService, postgres_url: str, how: str
) -> None:
    if not postgres.can_kill:
        pytest.skip("the server is not ours")
    engine = create_engine(postgres_url)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE votes (n integer)"))
        connection.execute(text("INSERT INTO votes VALUES (1)"))
    uncommitted = engine.connect()
    uncommitted.execute(text("INSERT INTO votes VALUES (2)"))
    getattr(postgres, how)()
    assert not postgres.alive()
    with pytest.raises(OperationalError):
        uncommitted.execute(text("SELECT 1"))
    uncommitted.invalidate()
    uncommitted.close()
    engine.dispose()
    postgres.start()
    with engine.connect() as connection:
        assert connection.execute(text("SELECT n FROM votes")).scalars().all() == [1]
    engine.dispose()


def test_a_database_of_either_kind_can_be_used(database_url: str) -> None:
    engine = create_engine(database_url)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE votes (n integer)"))
    engine.dispose()


def test_a_service_that_the_environment_names_is_used_and_never_stopped(
    kafka: KafkaService, postgres: PostgresService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CROWDRESOLVE_TEST_KAFKA", kafka.bootstrap)
    monkeypatch.setenv("CROWDRESOLVE_TEST_DATABASE", postgres.url.replace("+psycopg", ""))
    named_kafka, named_postgres = find_kafka(), find_postgres()
    assert named_kafka.bootstrap == kafka.bootstrap
    assert named_postgres.url == postgres.url
    for named in (named_kafka, named_postgres):
        assert not named.can_kill
        with pytest.raises(CannotCrash):
            named.kill()
        named.close()
    assert kafka.alive()
    assert postgres.alive()


def test_a_named_service_that_does_not_answer_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROWDRESOLVE_TEST_DATABASE", "postgresql://nobody@127.0.0.1:9/nothing")
    with pytest.raises(ServiceUnavailable, match="CROWDRESOLVE_TEST_DATABASE"):
        find_postgres()


@pytest.mark.parametrize(("ci", "outcome"), [("true", "1 error"), ("", "1 skipped")])
def test_a_missing_service_is_a_failure_in_ci_and_a_skip_elsewhere(ci: str, outcome: str) -> None:
    missing = {"CI": ci, "CROWDRESOLVE_TEST_DATABASE": "postgresql://127.0.0.1:9/nothing"}
    test = f"{__file__}::{test_a_database_is_empty_and_durable.__name__}"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", test],
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
        env={**os.environ, **missing},
        check=False,
    )
    assert outcome in done.stdout.splitlines()[-1]


SESSION = """
import time
from tests.services import find_postgres
service = find_postgres()
print(service.pid, flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_of_a_session_however_it_ends(
    postgres: PostgresService, ending: signal.Signals
) -> None:
    if postgres.pid is None:
        pytest.skip("the server is not a program of this machine")
    session = subprocess.Popen(
        [sys.executable, "-c", SESSION],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=REPOSITORY,
    )
    assert session.stdout is not None
    with session.stdout as output:
        server = int(output.readline())
    os.kill(server, 0)
    session.send_signal(ending)
    session.wait(30)
    assert wait_until(lambda: not Path(f"/proc/{server}").exists(), 15)
