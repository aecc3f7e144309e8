"""`kill -9` at every place where it could hurt, on the real broker and database.

Each test proves that the process died where it was told to: its last words name the place, and it
ended by SIGKILL.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from contextlib import suppress

import pytest
import sqlalchemy as sa

from connector.pipeline.failpoints import NAMES
from tests.oracle.logs import random_log

from .deployment import Deployment, Process, wait_for

Deploy = Callable[..., Deployment]
SIZE = 600


def some_log(seed: int, size: int = SIZE) -> list[bytes | None]:
    """Votes and everything else, valid or not, of two projects."""
    return [r.value for r in random_log(seed, size, cloudevents=0.0, tasks=40, workers=25)]


def died_at(process: Process, name: str) -> None:
    assert process.wait() == -signal.SIGKILL
    assert f"failpoint {name}" in process.text()


def in_pieces(d: Deployment, log: list[bytes | None], pieces: int = 6) -> None:
    """Arrive in several batches, so that a later one can be the one that dies."""
    size = -(-len(log) // pieces)
    for start in range(0, len(log), size):
        d.send(log[start : start + size])


def passes(name: str) -> int:
    """At which pass to die: publishing takes several batches at once, so it comes there less."""
    return 2 if name in ("after_send", "before_kafka_commit", "after_kafka_commit") else 4


@pytest.mark.parametrize("name", [n for n in NAMES if n != "during_revoke"])
def test_killed_at(name: str, deploy: Deploy, postgres_url: str) -> None:
    d = deploy(postgres_url)
    log = some_log(seed=NAMES.index(name))
    first = d.run(
        "--batch-size",
        "50",
        CROWDRESOLVE_FAILPOINT=f"{name}:{passes(name)}",
        CROWDRESOLVE_INSTANCE="one",
    )
    in_pieces(d, log)
    died_at(first, name)
    second = d.run("--batch-size", "50", CROWDRESOLVE_INSTANCE="one")
    d.wait_applied(len(log))
    d.wait_published()
    assert second.terminate() == 0
    d.assert_exact()


@pytest.mark.parametrize("name", ["before_database_commit", "after_database_commit", "after_send"])
def test_killed_on_sqlite_at(name: str, deploy: Deploy, sqlite_url: str) -> None:
    d = deploy(sqlite_url)
    log = some_log(seed=50 + NAMES.index(name))
    first = d.run(
        "--batch-size",
        "50",
        CROWDRESOLVE_FAILPOINT=f"{name}:{passes(name)}",
        CROWDRESOLVE_INSTANCE="one",
    )
    in_pieces(d, log)
    died_at(first, name)
    second = d.run(CROWDRESOLVE_INSTANCE="one")
    d.wait_applied(len(log))
    d.wait_published()
    assert second.terminate() == 0
    d.assert_exact()


def test_killed_again_and_again(deploy: Deploy, postgres_url: str) -> None:
    """Each process gets a little further than the last."""
    d = deploy(postgres_url)
    log = some_log(seed=99)
    d.send(log)
    for name in ("before_kafka_commit", "after_apply", "after_send", "after_kafka_commit"):
        process = d.run(
            "--batch-size", "40", CROWDRESOLVE_FAILPOINT=f"{name}:2", CROWDRESOLVE_INSTANCE="one"
        )
        died_at(process, name)
    last = d.run(CROWDRESOLVE_INSTANCE="one")
    d.wait_applied(len(log))
    d.wait_published()
    assert last.terminate() == 0
    d.assert_exact()


def test_killed_during_revoke(deploy: Deploy, postgres_url: str) -> None:
    """It dies while it hands its partitions to a second member, which goes on alone."""
    d = deploy(postgres_url, partitions=2)
    first = d.run(CROWDRESOLVE_FAILPOINT="during_revoke")
    d.send(some_log(seed=7, size=300), partition=0)
    d.wait_applied(300)
    second = d.run()
    died_at(first, "during_revoke")
    d.send([b"{}"] * 100, partition=1)
    d.send([b"[]"] * 50, partition=0)
    d.wait_applied(450)
    d.wait_published()
    assert second.terminate() == 0
    d.assert_exact()


def test_an_aborted_transaction_stays_invisible(deploy: Deploy, postgres_url: str) -> None:
    """What a killed process had sent is in the log, and no subscriber ever reads it."""
    d = deploy(postgres_url)
    log = some_log(seed=5)
    first = d.run(CROWDRESOLVE_FAILPOINT="after_send:1", CROWDRESOLVE_INSTANCE="one")
    d.send(log)
    died_at(first, "after_send")
    second = d.run(CROWDRESOLVE_INSTANCE="one")
    d.wait_applied(len(log))
    d.wait_published()
    assert second.terminate() == 0
    d.assert_exact()
    sent = len(d.read(d.resolved, "read_uncommitted")) + len(d.read(d.dead, "read_uncommitted"))
    seen = len(d.read(d.resolved)) + len(d.read(d.dead))
    assert sent > seen


@pytest.mark.parametrize("places", [2, 3])
def test_members_join_and_leave_under_load(places: int, deploy: Deploy, postgres_url: str) -> None:
    """Several projects on each partition; members come, go in order, and are killed."""
    d = deploy(postgres_url, partitions=3)
    logs = []
    for p in range(3):
        names = (b'"p%d"' % p, b'"q%d"' % p)
        values = [
            v.replace(b'"p"', names[0]).replace(b'"q/r"', names[1])
            for v in some_log(seed=30 + p)
            if v is not None
        ]
        logs.append(values)
    members = [d.run(CROWDRESOLVE_KAFKA_SESSION_TIMEOUT_MS="3000") for _ in range(places)]
    sent = 0
    for turn in range(6):
        for p, values in enumerate(logs):
            part = values[turn * 100 : (turn + 1) * 100]
            d.send(part, partition=p)
            sent += len(part)
        if turn == 1:
            members[0].kill()
        if turn == 2:
            members.append(d.run(CROWDRESOLVE_KAFKA_SESSION_TIMEOUT_MS="3000"))
        if turn == 4:
            assert members[1].terminate() == 0
        d.wait_applied(sent // 2)
    d.wait_applied(sent)
    d.wait_published()
    for member in members[2:]:
        assert member.terminate() == 0
    d.assert_exact()


ZOMBIE = {"CROWDRESOLVE_KAFKA_SESSION_TIMEOUT_MS": "3000"}


@pytest.mark.parametrize(
    ("place", "refused_by"),
    [
        ("after_decode", "the database"),
        ("after_database_commit", "Kafka"),
        ("after_send", "Kafka"),
        ("before_kafka_commit", "Kafka"),
    ],
)
def test_a_zombie_with_work_in_its_hands_is_refused_and_says_so(
    place: str, refused_by: str, deploy: Deploy, postgres_url: str
) -> None:
    """Stopped past its session, its partition moved, and woken up again."""
    d = deploy(postgres_url)
    log = some_log(seed=70 + NAMES.index(place))
    zombie = d.run(
        "--batch-size", "50", CROWDRESOLVE_FAILPOINT=f"{place}:{passes(place)}:stop", **ZOMBIE
    )
    in_pieces(d, log[:400])
    wait_for("the zombie stopped", lambda: f"failpoint {place}" in zombie.text())
    heir = d.run(**ZOMBIE)
    wait_for("its partition moved", lambda: "partition_assigned" in heir.text())
    d.wait_applied(400)
    zombie.signal(signal.SIGCONT)
    wait_for("the zombie ended: " + zombie.text()[-3000:], lambda: not zombie.running)
    assert zombie.wait() == 1
    last_words = zombie.text()[-2000:]
    said = "taken over" in last_words or "this one was stopped" in last_words
    assert said, (refused_by, last_words)
    d.send(log[400:])
    d.wait_applied(len(log))
    d.wait_published()
    assert heir.terminate() == 0
    d.assert_exact()


def test_a_zombie_with_empty_hands_ends_too(deploy: Deploy, postgres_url: str) -> None:
    d = deploy(postgres_url)
    zombie = d.run(**ZOMBIE)
    log = some_log(seed=77)
    d.send(log[:200])
    d.wait_applied(200)
    zombie.signal(signal.SIGSTOP)
    heir = d.run(**ZOMBIE)
    wait_for("its partition moved", lambda: "partition_assigned" in heir.text())
    d.send(log[200:400])
    d.wait_applied(400)
    zombie.signal(signal.SIGCONT)
    assert zombie.wait() == 1, zombie.text()
    assert "taken over" in zombie.text()
    d.send(log[400:])
    d.wait_applied(len(log))
    d.wait_published()
    assert heir.terminate() == 0
    d.assert_exact()


def test_a_process_stopped_while_it_writes_does_not_hold_the_partition(
    deploy: Deploy, postgres_url: str
) -> None:
    """Its session lives and holds the partition's row, until the next owner ends it."""
    d = deploy(postgres_url)
    log = some_log(seed=78)
    d.send(log[:100])
    zombie = d.run(**ZOMBIE)
    d.wait_applied(100)
    zombie.signal(signal.SIGSTOP)
    # The session is ended under it, which it sees when it lets go.
    with suppress(sa.exc.OperationalError), sa.create_engine(postgres_url).connect() as held:
        # What the stopped process would hold in the middle of a COPY.
        held.exec_driver_sql("UPDATE partition_progress SET next_offset = next_offset")
        heir = d.run(**ZOMBIE)
        d.send(log[100:])
        d.wait_applied(len(log))
    zombie.kill()
    d.wait_published()
    assert heir.terminate() == 0
    d.assert_exact()
