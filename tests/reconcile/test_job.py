"""The job on a real database and a log in memory: what it sends, when, and what it leaves alone."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from sqlalchemy import Engine, text

from connector.adapters.sql import database, migrate
from connector.adapters.sql.leases import SqlLeases
from connector.adapters.sql.snapshots import SqlReader
from connector.adapters.sql.store import open_store
from connector.domain.errors import CrowdResolveError, DependencyError, Fenced
from connector.domain.records import TopicPartition
from connector.reconcile import result
from connector.reconcile import run as module
from connector.reconcile.fitting import Unsound
from connector.reconcile.job import Job, Round
from connector.reconcile.options import Options
from connector.reconcile.watch import Stopped
from tests import compare
from tests.oracle.fold import PlainFold, Record
from tests.oracle.logs import random_log
from tests.pipeline.folding import folded, records_of
from tests.pipeline.world import Stopwatch


class World:
    """A database, the log that it is folded from, and jobs on both."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.log: list[Record] = []
        self.applied = 0
        self.consuming = True
        self.opened: list[str] = []
        self.troubles: dict[str, Callable[[str], object]] = {}
        self._lock = threading.Lock()

    def append(self, *values: bytes) -> int:
        with self._lock:
            for value in values:
                at = len(self.log)
                self.log.append(Record(0, at, at * 1000, value, None, ()))
            return len(self.log) - 1

    def send(self, *events: dict[str, Any]) -> None:
        self.append(*(json.dumps({"project": "p", **e}).encode() for e in events))
        self.consume()

    def consume(self) -> None:
        """What the service would do."""
        with self._lock:
            new, self.applied = self.log[self.applied :], len(self.log)
            if new:
                store = open_store(self.engine.url.render_as_string(hide_password=False))
                folded(store, records_of(new), largest=500)
                store.close()

    def job(self, name: str = "one", watch: Any = None, **options: Any) -> Job:
        self.clock = Clock(self)
        return Job(
            SqlReader(self.engine),
            SqlLeases(self.engine),
            lambda project: Log(self, project),
            self.clock,
            watch or Watch(),
            Options(holder=name, **{"wait_s": 5.0, **options}),
        )

    def runs(self) -> list[list[dict[str, Any]]]:
        """The runs in the log, each with its parts."""
        found: list[list[dict[str, Any]]] = [[]]
        for record in self.log:
            event = json.loads(record.value or b"")
            if event["type"].startswith("reconciliation."):
                found[-1].append(event)
                if event["type"] == "reconciliation.completed":
                    found.append([])
        assert found[-1] == [], "a part without an end"
        return found[:-1]

    def rows(self, view: str) -> list[dict[str, Any]]:
        with self.engine.connect() as connection:
            return [dict(r) for r in connection.execute(text(f"SELECT * FROM {view}")).mappings()]

    def assert_exact(self) -> None:
        """The views are what the plain fold makes of the log, runs and all."""
        fold = PlainFold()
        for record in self.log:
            fold.feed(record)
        compare.assert_views(fold, self.rows)

    def lease(self, project: str = "p") -> Any:
        statement = text("SELECT * FROM job_leases WHERE project = :p")
        with self.engine.connect() as connection:
            return connection.execute(statement, {"p": project}).one()


class Clock(Stopwatch):
    """The service goes on while a job waits."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        if self._world.consuming:
            self._world.consume()


class Watch:
    def step(self, project: str, stage: str, done: int, total: int) -> None: ...

    def done(self, project: str) -> None: ...


class Log:
    """`connector.reconcile.ports.RunLog` on the world's log."""

    def __init__(self, world: World, project: str) -> None:
        self._world = world
        self._project = project

    def _trouble(self, place: str) -> None:
        if (trouble := self._world.troubles.get(place)) is not None:
            trouble(self._project)

    def open(self) -> None:
        self._world.opened.append(self._project)
        self._trouble("open")

    def send(self, partition: TopicPartition, key: bytes, values: Sequence[bytes]) -> int:
        assert partition == TopicPartition("annotations", 0)
        assert key == self._project.encode()
        self._trouble("before")
        offset = self._world.append(*values)
        self._trouble("after")
        return offset

    def find(self, partition: TopicPartition, start: int, needle: bytes) -> int | None:
        at = [r.offset for r in self._world.log if r.offset >= start and needle in (r.value or b"")]
        return at[-1] if at else None

    def close(self) -> None: ...


@pytest.fixture
def world(sqlite_url: str) -> Iterator[World]:
    engine = database.engine(sqlite_url)
    migrate.ensure(engine)
    yield World(engine)
    engine.dispose()


def declared(project: str = "p", **more: Any) -> dict[str, Any]:
    classes = {"kind": "binary", "classes": ["n", "y"]}
    return {"type": "project.declared", "project": project, **classes, **more}


def vote(task: str, worker: str, label: str, project: str = "p") -> dict[str, Any]:
    names = {"project": project, "task": task, "worker": worker, "label": label}
    return {"type": "annotation.submitted", **names}


def some_votes(project: str = "p", tasks: int = 12) -> list[dict[str, Any]]:
    return [
        vote(f"t{i}", f"w{j}", "yn"[(i + (j == 3)) % 2], project)
        for i in range(tasks)
        for j in range(4)
    ]


def test_a_run_is_sent_waited_for_and_not_repeated(world: World) -> None:
    world.send(declared(), *some_votes())
    job = world.job()
    (done,) = job.round().done
    assert (done.project, done.algorithm) == ("p", "sorted_sbic")
    ((*parts, end),) = world.runs()
    assert (end["run"], end["upto"], end["parts"]) == (done.run, 49, len(parts))
    assert {p["run"] for p in parts} == {done.run}
    assert world.applied == len(world.log), "it returned before its run was consumed"
    lease = world.lease()
    assert (lease.holder, lease.run, lease.completed) == (None, done.run, len(world.log) - 1)
    assert job.round() == Round([], {})
    world.send(vote("t1", "w9", "y"))
    assert len(job.round().done) == 1
    assert len(world.runs()) == 2


def test_each_project_has_one_run_however_many_jobs_start_at_once(world: World) -> None:
    world.send(*(e for name in "abc" for e in (declared(name), *some_votes(name))))
    barrier = threading.Barrier(4)
    found: list[Round] = []

    def work(name: str) -> None:
        job = world.job(name)
        barrier.wait(30)
        found.append(job.round())

    threads = [threading.Thread(target=work, args=(f"job-{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert [dict(r.failures) for r in found] == [{}] * 4
    assert sorted(d.project for r in found for d in r.done) == ["a", "b", "c"]
    assert sorted(run[-1]["project"] for run in world.runs()) == ["a", "b", "c"]


def test_what_one_project_fails_by_does_not_stop_the_others(world: World) -> None:
    def trouble(project: str) -> None:
        if project == "a":
            raise DependencyError("the broker is away")
        if project == "b":
            raise ZeroDivisionError

    world.send(*(e for name in "abc" for e in (declared(name), *some_votes(name))))
    world.troubles["open"] = trouble
    found = world.job().round()
    assert [d.project for d in found.done] == ["c"]
    assert {p: type(e) for p, e in found.failures.items()} == {
        "a": DependencyError,
        "b": ZeroDivisionError,
    }
    world.troubles.clear()
    assert [d.project for d in world.job().round().done] == ["a", "b"]


def test_what_must_not_be_adopted_goes_out_as_a_failed_run(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsound(*_: Any) -> Any:
        raise Unsound("the bound fell from 2 to 1 in sweep 3")

    world.send(declared(), *some_votes())
    monkeypatch.setattr(module, "compute", unsound)
    (done,) = world.job().round().done
    assert done.algorithm is None
    ((end,),) = world.runs()
    assert (end["parts"], end["error"]) == (0, "the bound fell from 2 to 1 in sweep 3")
    assert world.job().round().done == [], "nothing has changed: it would fail again"
    monkeypatch.undo()
    world.send(vote("t1", "w9", "y"))
    assert world.job().round().done[0].algorithm == "sorted_sbic"


def test_a_run_that_a_dead_job_has_sent_is_found_in_the_log(world: World) -> None:
    """The commit's outcome was never known; the service has not come so far either."""

    def broken(_: str) -> None:
        raise DependencyError("no answer")

    world.send(declared(), *some_votes())
    world.troubles["after"] = broken
    assert "p" in world.job("one").round().failures
    assert (world.lease().run is not None, world.lease().completed) == (True, None)
    world.troubles.clear()
    assert world.job("two").round() == Round([], {})
    assert len(world.runs()) == 1
    assert world.applied == len(world.log)
    assert world.lease().completed == len(world.log) - 1


def test_a_run_that_a_dead_job_has_not_sent_is_made_again(world: World) -> None:
    def broken(_: str) -> None:
        raise DependencyError("no answer")

    world.send(declared(), *some_votes())
    world.troubles["before"] = broken
    assert "p" in world.job("one").round().failures
    assert world.runs() == []
    world.troubles.clear()
    assert len(world.job("two").round().done) == 1
    assert len(world.runs()) == 1
    assert world.opened == ["p", "p", "p"], "the dead one's transaction is ended before all else"


def test_a_database_that_is_busy_adopting_is_waited_for(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On SQLite the service may hold the file while the job wants to note that its run is out."""
    note = SqlLeases.note_completed
    busy = [DependencyError("locked")] * 3

    def noted(*arguments: Any) -> bool:
        if busy:
            raise busy.pop()
        return note(*arguments)

    world.send(declared(), *some_votes())
    monkeypatch.setattr(SqlLeases, "note_completed", noted)
    assert len(world.job().round().done) == 1
    assert world.lease().completed == len(world.log) - 1


def test_a_job_that_has_lost_its_lease_sends_nothing(world: World) -> None:
    """Stopped for too long while it computed: another has taken over, and has the say."""

    def stolen(_: str) -> None:
        with world.engine.begin() as connection:
            connection.execute(text("UPDATE job_leases SET holder = 'two'"))

    world.send(declared(), *some_votes())
    world.troubles["open"] = stolen
    failure = world.job("one").round().failures["p"]
    assert isinstance(failure, Fenced)
    assert world.runs() == []
    assert (world.lease().holder, world.lease().run) == ("two", None)


def test_a_project_that_another_job_is_at_work_on_is_left_to_it(world: World) -> None:
    world.send(declared(), *some_votes())
    assert SqlLeases(world.engine).take("p", "other", 60)
    assert world.job().round() == Round([], {})
    assert world.runs() == []


@pytest.mark.parametrize("stage", ["reading", "computing", "waiting for the service"])
def test_a_job_that_is_asked_to_end_gives_its_lease_back(world: World, stage: str) -> None:
    class Ending(Watch):
        def step(self, project: str, stage_: str, done: int, total: int) -> None:
            if stage_ == stage:
                raise Stopped

    world.send(declared(), *some_votes())
    world.consuming = False
    with pytest.raises(Stopped):
        world.job(watch=Ending()).round()
    assert world.lease().holder is None
    sent = stage.startswith("waiting")
    assert len(world.runs()) == sent
    world.consuming = True
    world.consume()
    assert len(world.job("two").round().done) == (not sent)
    assert len(world.runs()) == 1


def test_a_run_that_is_not_consumed_in_time_keeps_others_from_making_one(world: World) -> None:
    world.send(declared(), *some_votes())
    world.consuming = False
    failure = world.job().round().failures["p"]
    assert isinstance(failure, CrowdResolveError)
    assert "not consumed within 5 s: is `crowdresolve run` running?" in str(failure)
    assert world.job("two").round() == Round([], {})
    assert len(world.runs()) == 1
    world.consuming = True
    world.send(vote("t1", "w9", "y"))
    assert len(world.job("two").round().done) == 1


def test_so_many_votes_must_have_changed(world: World) -> None:
    world.send(declared(), *some_votes())
    job = world.job(min_new_votes=3)
    assert len(job.round().done) == 1
    world.send(vote("t1", "w8", "y"), vote("t1", "w9", "y"))
    assert job.round().done == []
    world.send({"type": "annotation.retracted", "task": "t2", "worker": "w1"})
    assert job.round().done == []
    world.send(vote("t2", "w8", "y"))
    assert len(job.round().done) == 1


def test_a_project_whose_votes_are_all_blocked_has_no_run(world: World) -> None:
    world.send(declared(), vote("t1", "w1", "y"), {"type": "worker.blocked", "worker": "w1"})
    assert world.job().round() == Round([], {})
    assert world.runs() == []


def test_one_project_alone_and_the_callers_method(world: World) -> None:
    world.send(*(e for name in "ab" for e in (declared(name), *some_votes(name))))
    (done,) = world.job(project="b", algorithm="dawid_skene").round().done
    assert (done.project, done.algorithm) == ("b", "dawid_skene")


def test_projects_of_another_topic_are_anothers(world: World) -> None:
    world.send(declared(), *some_votes())
    assert world.job(topic="others").round() == Round([], {})


def test_a_spammer_is_blocked_by_the_run_and_the_next_run_does_without(world: World) -> None:
    rng = random.Random(0)
    world.send(
        declared(quality={"block_spammers_after": 100}),
        *(
            vote(f"t{i}", f"w{j}", "yn"[(i + ((i + j) % 9 < 1)) % 2])
            for i in range(700)
            for j in range(5)
        ),
        *(vote(f"t{i}", "dice", rng.choice("ny")) for i in range(700)),
    )
    assert len(world.job().round().done) == 1
    quality = {row["worker"]: row for row in world.rows("worker_quality")}
    assert quality["dice"]["flag"] == "spammer"
    assert {r["blocked"] for r in world.rows("workers") if r["name"] == "dice"} == {True}
    *_, last = (json.loads(r.value or b"") for r in world.log)
    assert (last["type"], last["worker"]) == ("worker.blocked", "dice")
    assert len(world.job().round().done) == 1, "the others' votes are worth something else now"
    assert json.loads(world.log[-1].value or b"")["type"] == "reconciliation.completed"
    quality = {row["worker"]: row for row in world.rows("worker_quality")}
    assert quality["dice"]["flag"] == "spammer", "the flag stays"
    assert world.job().round().done == []
    world.assert_exact()


@pytest.mark.parametrize("seed", [3, 4])
def test_runs_between_random_events_end_in_the_plain_fold(world: World, seed: int) -> None:
    """Votes, retractions, gold, blocks, declarations, others' runs; a job after every piece."""
    values = [r.value for r in random_log(seed, 500, cloudevents=0.0, tasks=12, workers=8)]
    sent = 0
    for first in range(0, len(values), 100):
        world.append(*(v or b"" for v in values[first : first + 100]))
        world.consume()
        found = world.job(f"job-{first}").round()
        assert found.failures == {}
        sent += len(found.done)
    assert sent > 5
    world.assert_exact()


def test_the_projects_own_method_is_used(world: World) -> None:
    world.send(declared(reconcile={"algorithm": "cola"}), *some_votes())
    (done,) = world.job().round().done
    assert done.algorithm == "cola"


def test_votes_that_come_while_it_computes_are_for_the_next_run(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(*arguments: Any) -> Any:
        world.send(vote("late", "w1", "y"))
        return result.compute(*arguments)

    world.send(declared(), *some_votes())
    monkeypatch.setattr(module, "compute", slow)
    assert len(world.job().round().done) == 1
    monkeypatch.undo()
    ((*parts, end),) = world.runs()
    assert end["upto"] == 49
    assert "late" not in [t["task"] for p in parts for t in p.get("tasks", [])]
    assert len(world.job().round().done) == 1
