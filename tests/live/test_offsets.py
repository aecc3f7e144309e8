"""What happens when the log, the group and the database do not agree, on the real ones."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable

import pytest
import sqlalchemy as sa
from kafka import KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.admin import KafkaAdminClient

from .deployment import Deployment, wait_for
from .test_kill import died_at, some_log

Deploy = Callable[..., Deployment]


def set_cursor(d: Deployment, offset: int) -> None:
    """What an operator does who resets the group, while no member is there."""
    consumer = KafkaConsumer(
        bootstrap_servers=d.bootstrap, group_id=d.group, enable_auto_commit=False
    )
    where = TopicPartition(d.annotations, 0)
    consumer.assign([where])
    consumer.commit({where: OffsetAndMetadata(offset, "", -1)})
    consumer.close()


def folded(d: Deployment, log: list[bytes | None]) -> None:
    """Run over the log and end in order, so that the group has no member left."""
    d.send(log)
    process = d.run()
    d.wait_applied(len(log))
    d.wait_published()
    assert process.terminate() == 0


def test_a_group_reset_to_0_applies_nothing_twice(deploy: Deploy, postgres_url: str) -> None:
    d = deploy(postgres_url)
    folded(d, some_log(1, 200))
    set_cursor(d, 0)
    more = some_log(2, 50)
    d.send(more)
    process = d.run()
    d.wait_applied(250)
    d.wait_published()
    assert process.terminate() == 0
    d.assert_exact()


def test_a_database_that_was_emptied_is_refused_and_rebuilt(
    deploy: Deploy, postgres_url: str, sqlite_url: str
) -> None:
    d = deploy(sqlite_url)
    folded(d, some_log(3, 200))
    d.database = postgres_url
    refused = d.run()
    assert refused.wait() == 1
    assert "--rebuild" in refused.text()
    d.send(some_log(4, 60))
    process = d.run("--rebuild")
    d.wait_applied(260)
    d.wait_published()
    assert process.terminate() == 0
    d.assert_exact()


def test_records_that_the_broker_no_longer_has_are_refused(
    deploy: Deploy, postgres_url: str
) -> None:
    d = deploy(postgres_url)
    folded(d, some_log(5, 100))
    d.send(some_log(6, 100))
    admin = KafkaAdminClient(bootstrap_servers=d.bootstrap)
    admin.delete_records({TopicPartition(d.annotations, 0): 150})
    admin.close()
    refused = d.run()
    assert refused.wait() == 1
    assert "were deleted" in refused.text()
    assert "--rebuild" in refused.text()
    process = d.run("--rebuild")
    d.wait_applied(150)
    assert process.terminate() == 0


def test_a_topic_that_begins_again_is_refused(deploy: Deploy, postgres_url: str) -> None:
    d = deploy(postgres_url)
    folded(d, some_log(7, 100))
    with sa.create_engine(postgres_url).begin() as connection:
        connection.exec_driver_sql("UPDATE partition_progress SET next_offset = 5000")
    refused = d.run()
    assert refused.wait() == 1
    assert "another cluster" in refused.text()


def test_one_record_with_many_effects_is_published_in_several_transactions(
    deploy: Deploy, postgres_url: str
) -> None:
    """Killed between two of them; each message comes once, in order."""
    d = deploy(postgres_url)
    tasks = 25_000

    def declared(confidence: float) -> bytes:
        return json.dumps(
            {
                "type": "project.declared",
                "project": "p",
                "kind": "binary",
                "classes": ["0", "1"],
                "resolve": {"confidence": confidence, "min_labels": 1, "calibrate": False},
            }
        ).encode()

    vote = b'{"type":"annotation.submitted","project":"p","task":%d,"worker":"w%d","label":"%d"}'
    log: list[bytes | None] = [
        declared(0.99),
        *(vote % (i, i % 50, i % 2) for i in range(tasks)),
        declared(0.51),
    ]
    d.send(log[:-1])
    first = d.run(CROWDRESOLVE_INSTANCE="one")
    d.wait_applied(len(log) - 1)
    d.wait_published()
    assert first.terminate() == 0
    d.send(log[-1:])
    killed = d.run(CROWDRESOLVE_FAILPOINT="after_kafka_commit:1", CROWDRESOLVE_INSTANCE="one")
    died_at(killed, "after_kafka_commit")
    half = len(d.read(d.resolved))
    assert 0 < half < tasks
    last = d.run(CROWDRESOLVE_INSTANCE="one")
    d.wait_published()
    wait_for("all messages", lambda: len(d.read(d.resolved)) >= tasks)
    assert last.terminate() == 0
    ids = [dict(r.headers)["ce_id"].decode() for r in d.read(d.resolved)]
    assert sorted(ids, key=lambda i: int(i.rsplit("/", 1)[1])) == [
        f"{d.annotations}/0/{len(log) - 1}/{n}" for n in range(tasks)
    ]
    assert d.rows("project_progress")[0]["resolved"] == tasks


def test_at_least_once_publishes_the_same_messages_in_the_same_order(
    deploy: Deploy, postgres_url: str
) -> None:
    d = deploy(postgres_url)
    log = some_log(8, 300)
    d.send(log)
    process = d.run("--delivery", "at_least_once")
    d.wait_applied(len(log))
    d.wait_published()
    assert process.terminate() == 0
    d.assert_exact()


@pytest.mark.parametrize("wait", ["before", "after"])
def test_nothing_that_a_producer_sends_stops_it(
    wait: str, deploy: Deploy, postgres_url: str
) -> None:
    """Every poison, with sound votes before and after it."""
    d = deploy(postgres_url)
    process = d.run() if wait == "after" else None
    good: list[bytes | None] = some_log(9, 50)
    d.send(good)
    big = b'{"type":"annotation.submitted","project":"p","task":"' + b"x" * 1_000_000 + b'"}'
    d.send([big[:1_000_000], b"[" * 100_000, b"\xff\xfe", b"\0", b"null", None, b'{"a":NaN}'])
    packed = KafkaProducer(
        bootstrap_servers=d.bootstrap,
        compression_type="gzip",
        max_request_size=64 * 2**20,
    )
    huge = b'{"type":"task.gold","project":"p","task":"t","label":null,"x":"%s"}' % (
        b"a" * 30_000_000
    )
    assert len(gzip.compress(huge)) < 1_000_000
    for value in (huge, huge[:-1]):
        packed.send(d.annotations, value, partition=0, headers=[("h", b"\xff")]).get(60)
    packed.close()
    d.send(some_log(10, 50))
    process = process or d.run()
    d.wait_applied(50 + 7 + 2 + 50)
    d.wait_published()
    assert process.terminate() == 0
    fold = d.assert_exact()
    assert fold.event_accounting()[0]["received"] == 109
