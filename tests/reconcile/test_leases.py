"""One job at a time on a project, however many want it."""

from __future__ import annotations

import threading
import time

import pytest
from sqlalchemy import Engine, text

from connector.adapters.sql.leases import SqlLeases
from connector.adapters.sql.snapshots import SqlReader
from connector.domain.errors import DependencyError, Fenced
from connector.domain.records import TopicPartition
from connector.reconcile.changes import Mark, from_text
from connector.reconcile.lease import Lease

MARK = Mark(3, (1, 2), "0:0:0", "0:0", "c")
WHERE = TopicPartition("annotations", 2)


def row(engine: Engine) -> dict[str, object]:
    with engine.connect() as connection:
        found = connection.execute(text("SELECT * FROM job_leases")).mappings().one()
        return dict(found)


def expire(engine: Engine) -> None:
    """As if time had passed."""
    with engine.begin() as connection:
        connection.execute(text("UPDATE job_leases SET expires_at = 1"))


def test_a_lease_is_one_jobs_until_it_gives_it_back(engine: Engine) -> None:
    leases = SqlLeases(engine)
    assert leases.take("p", "one", 60)
    assert not leases.take("p", "two", 60)
    assert not leases.take("p", "one", 60), "a second process of one name is another job"
    assert leases.take("q", "two", 60)
    leases.release("p", "two")
    assert not leases.take("p", "two", 60), "what is not ours is not released"
    leases.release("p", "one")
    assert leases.take("p", "two", 60)


def test_a_lease_that_was_not_renewed_is_taken_over(engine: Engine) -> None:
    leases = SqlLeases(engine)
    assert leases.take("p", "one", 60)
    expire(engine)
    assert leases.renew("p", "one", 60), "late, but nobody has taken it"
    assert not leases.take("p", "two", 60)
    expire(engine)
    assert leases.take("p", "two", 60)
    assert not leases.renew("p", "one", 60)
    assert not leases.note_run("p", "one", WHERE, "r", MARK)
    assert not leases.note_completed("p", "one", 7)
    assert not leases.forget_run("p", "one")
    assert row(engine)["run"] is None


def test_a_lease_lasts_by_the_databases_clock(engine: Engine) -> None:
    leases = SqlLeases(engine)
    before = time.time()
    assert leases.take("p", "one", 30)
    until = row(engine)["expires_at"]
    assert isinstance(until, int)
    assert before + 29 < until / 1e6 < time.time() + 31


def test_of_many_that_come_at_once_one_has_it(engine: Engine) -> None:
    barrier = threading.Barrier(8)
    taken: list[str] = []

    def job(name: str) -> None:
        leases = SqlLeases(engine)
        barrier.wait(30)
        if leases.take("p", name, 60):
            taken.append(name)

    threads = [threading.Thread(target=job, args=(f"job-{n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(taken) == 1
    assert row(engine)["holder"] == taken[0]


def test_what_is_noted_of_a_run_outlives_the_lease(engine: Engine) -> None:
    leases = SqlLeases(engine)
    assert leases.take("p", "one", 60)
    assert leases.note_run("p", "one", WHERE, "7-abc", MARK)
    assert row(engine)["completed"] is None
    assert leases.note_completed("p", "one", 41)
    leases.release("p", "one")
    assert leases.take("p", "two", 60)
    found = row(engine)
    assert (found["run"], found["completed"]) == ("7-abc", 41)
    assert (found["topic"], found["partition"]) == WHERE
    assert isinstance(found["mark"], str)
    assert from_text(found["mark"]) == MARK
    assert leases.forget_run("p", "two")
    found = row(engine)
    assert (found["run"], found["mark"], found["completed"]) == (None, None, None)


def test_a_lease_is_renewed_for_as_long_as_the_block_lasts(engine: Engine) -> None:
    leases = SqlLeases(engine)
    assert leases.take("p", "one", 1.0)
    with Lease(leases, "p", "one", 1.0) as lease:
        time.sleep(2.5)
        assert not leases.take("p", "two", 60)
        lease.check()
    assert leases.take("p", "two", 60)


def test_a_holder_whose_lease_is_gone_is_told(engine: Engine) -> None:
    leases = SqlLeases(engine)
    assert leases.take("p", "one", 60)
    with Lease(leases, "p", "one", 60) as lease:
        expire(engine)
        assert leases.take("p", "two", 60)
        with pytest.raises(Fenced, match="p: another job has taken its lease"):
            lease.check()
        with pytest.raises(Fenced):
            lease.still()
    assert row(engine)["holder"] == "two", "it is not given back by who has lost it"


def test_a_database_that_is_busy_for_a_while_does_not_cost_the_lease() -> None:
    class Busy:
        def __init__(self) -> None:
            self.calls = 0

        def renew(self, *_: object) -> bool:
            self.calls += 1
            if self.calls < 3:
                raise DependencyError("locked")
            return True

        def release(self, *_: object) -> None:
            raise DependencyError("locked")

    busy = Busy()
    with Lease(busy, "p", "one", 0.2) as lease:  # type: ignore[arg-type]
        while busy.calls < 4:
            time.sleep(0.02)
        lease.still()


def test_two_processes_see_the_same_lease(engine: Engine) -> None:
    """What `standings` says of it."""
    leases, reader = SqlLeases(engine), SqlReader(engine)
    assert reader.standings() == []
    assert leases.take("p", "one", 60)
    assert reader.standings("p") == [], "a lease alone is no project"
