"""The commands together, on a real Kafka and database: as an operator uses them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.live.crowd import encoded
from tests.live.deployment import Deployment, Process, wait_for

pytestmark = pytest.mark.services

Deploy = Callable[..., Deployment]

PROJECT = """
[project]
name = "{name}"
kind = "binary"
classes = ["0", "1"]
[resolve]
confidence = 0.8
"""


def _file(directory: Path, name: str, more: str = "") -> str:
    path = directory / f"{name}.toml"
    path.write_text(PROJECT.format(name=name) + more)
    return str(path)


def _votes(project: str, tasks: int, workers: int = 4) -> Iterator[bytes]:
    for t in range(tasks):
        for w in range(workers):
            yield encoded(
                type="annotation.submitted",
                project=project,
                task=f"t{t}",
                worker=f"w{w}",
                label="1",
            )


def _consuming(process: Process, partitions: int = 1) -> None:
    wait_for(
        "partitions assigned",
        lambda: process.text().count("partition_assigned") >= partitions,
    )


def _events(process: Process) -> list[dict[str, Any]]:
    return [json.loads(line) for line in process.text().splitlines()]


def test_from_nothing_to_resolved_labels_and_a_clean_end(
    deploy: Deploy, database_url: str, tmp_path: Path
) -> None:
    it = deploy(database_url, partitions=2)
    assert it.command("topics", "create").count(": exists, 2 partitions, 1 copy") == 4
    assert "from nothing to" in it.command("db", "upgrade")
    assert "already" in it.command("db", "upgrade")
    it.command("db", "check")
    assert "revision 0001; this release: revision 0001" in it.command("db", "current")

    process = it.run()
    said = it.command("project", "apply", _file(tmp_path, "rte"), _file(tmp_path, "dog"))
    assert "rte: applied from" in said
    assert "dog: applied from" in said

    home = json.loads(it.command("project", "show", "rte", "--json"))["partition"]
    it.send(_votes("rte", 10), partition=int(home.rpartition("/")[2]))
    it.wait_applied(42)
    wait_for("ten resolved labels", lambda: len(it.read(it.resolved)) == 10)
    (progress,) = [
        line
        for line in json.loads(it.command("project", "list", "--json"))
        if line["project"] == "rte"
    ]
    assert (progress["tasks"], progress["resolved"], progress["votes"]) == (10, 10, 40)
    assert "rte\tbinary\t2" in it.command("project", "list")

    assert process.terminate(within_s=10) == 0
    events = [line["event"] for line in _events(process)]
    assert events[:1] == ["starting"]
    assert events[-1] == "consumer_stopped"


def test_a_shown_project_can_be_applied_again_and_changes_nothing(
    deploy: Deploy, sqlite_url: str, tmp_path: Path
) -> None:
    it = deploy(sqlite_url)
    it.run()
    it.command("project", "apply", _file(tmp_path, "rte", "max_labels = 7\n"))
    shown = tmp_path / "shown.toml"
    shown.write_text(it.command("project", "show", "rte"))
    it.command("project", "apply", str(shown))
    it.wait_applied(2)
    (counts,) = it.rows("event_accounting")
    assert (counts["applied"], counts["duplicates"]) == (1, 1)


def test_votes_that_came_before_their_project_count_after_dead_redrive(
    deploy: Deploy, database_url: str, tmp_path: Path
) -> None:
    it = deploy(database_url)
    process = it.run()
    it.send([*_votes("late", 5), b"{not json", None])
    it.producer.send(
        it.annotations,
        key=b"late",
        value=next(_votes("late", 1, 1)),
        headers=[("trace", b"7"), ("error-code", b"forged")],
        partition=0,
    )
    it.producer.flush()
    it.wait_applied(23)

    listed = json.loads(it.command("dead", "list", "--code", "unknown_project", "--json"))
    assert len(listed) == 21
    assert {(line["code"], line["topic"]) for line in listed} == {
        ("unknown_project", it.annotations)
    }
    assert listed[0]["offset"] == 22
    assert "`crowdresolve project apply`" in listed[0]["message"]
    assert len(it.command("dead", "list", "--limit", "3").splitlines()) == 5
    assert len(json.loads(it.command("dead", "list", "--project", "late", "--json"))) == 21

    it.command("project", "apply", _file(tmp_path, "late"))
    assert "21 sent again" in it.command("dead", "redrive", "--code", "unknown_project")
    it.wait_applied(24 + 21)
    (progress,) = it.rows("project_progress")
    assert (progress["tasks"], progress["resolved"], progress["votes"]) == (5, 5, 20)

    again = it.command("dead", "redrive", "--code", "unknown_project")
    assert "0 sent again" in again
    assert "21 left out" in again

    records = it.read(it.annotations)
    last = records[-1]
    headers = dict(last.headers)
    assert (last.key, last.value) == (records[22].key, records[22].value)
    assert headers["trace"] == b"7"
    assert not [name for name in headers if name.startswith(("error-", "origin-"))]
    assert process.terminate() == 0


def test_a_record_that_died_again_is_sent_once_more_only_when_asked(
    deploy: Deploy, sqlite_url: str, tmp_path: Path
) -> None:
    it = deploy(sqlite_url)
    it.run()
    it.send(_votes("late", 2))
    it.wait_applied(8)
    assert "8 sent again" in it.command("dead", "redrive")
    it.wait_applied(16)
    said = it.command("dead", "redrive")
    assert "0 sent again" in said
    assert "8 left out: sent again before" in said
    assert "8 left out: died again" in said
    it.command("project", "apply", _file(tmp_path, "late"))
    assert "8 sent again" in it.command("dead", "redrive", "--again")
    it.wait_applied(25)
    (progress,) = it.rows("project_progress")
    assert progress["votes"] == 8
    marks = [dict(record.headers).get("redriven-from") for record in it.read(it.annotations)]
    origins = [f"{it.annotations}/0/{offset}".encode() for offset in range(8)]
    assert [mark for mark in marks if mark] == origins * 2


def test_a_dead_letter_whose_origin_is_gone_is_redriven_from_the_dead_letter_topic(
    deploy: Deploy, sqlite_url: str, tmp_path: Path
) -> None:
    from kafka import KafkaAdminClient, TopicPartition

    it = deploy(sqlite_url)
    it.run()
    it.send(_votes("late", 2))
    it.wait_applied(8)
    wait_for("dead letters", lambda: len(it.read(it.dead)) == 8)
    it.wait_published()
    admin = KafkaAdminClient(bootstrap_servers=it.bootstrap)
    admin.delete_records({TopicPartition(it.annotations, 0): 8})
    admin.close()
    it.command("project", "apply", _file(tmp_path, "late"))
    assert "8 sent again" in it.command("dead", "redrive")
    it.wait_applied(17)
    (progress,) = it.rows("project_progress")
    assert progress["votes"] == 8


def test_a_refused_declaration_is_said_with_its_code(
    deploy: Deploy, sqlite_url: str, tmp_path: Path
) -> None:
    it = deploy(sqlite_url, partitions=2)
    it.run()
    it.command("project", "apply", _file(tmp_path, "rte"), "--partition", "1")
    assert "on annotations" in it.command("project", "show", "rte")
    # Where it lives is found out; and another place is refused by the service.
    assert "/1 at offset 1" in it.command("project", "apply", _file(tmp_path, "rte"))
    said = it.command("project", "apply", _file(tmp_path, "rte"), "--partition", "0", code=1)
    assert "rte: refused as wrong_partition: " in said
    said = it.command("project", "apply", _file(tmp_path, "rte"), "--partition", "2", code=3)
    assert "has 2 partitions, 0 to 1" in said


def test_a_mistake_in_one_file_sends_none(deploy: Deploy, sqlite_url: str, tmp_path: Path) -> None:
    it = deploy(sqlite_url)
    right, wrong = _file(tmp_path, "rte"), _file(tmp_path, "dog", "confidnce = 1\n")
    said = it.command("project", "apply", right, wrong, code=3)
    assert (
        "dog.toml: there is no key `resolve.confidnce`; did you mean `resolve.confidence`?" in said
    )
    assert it.read(it.annotations) == []
    assert "both declare" in it.command("project", "apply", right, right, code=3)


def test_apply_waits_for_a_service_that_is_not_there_only_so_long(
    deploy: Deploy, sqlite_url: str, tmp_path: Path
) -> None:
    it = deploy(sqlite_url)
    said = it.command("project", "apply", _file(tmp_path, "rte"), "--timeout", "0.5", code=1)
    assert "is `crowdresolve run` running" in said
    assert not Path(sqlite_url.removeprefix("sqlite:///")).exists()
    said = it.command("project", "apply", _file(tmp_path, "rte"), "--no-wait")
    assert "rte: sent to" in said
    nowhere = ("--database", "postgresql://me@127.0.0.1:1/x")
    said = it.command("project", "apply", _file(tmp_path, "rte"), "--no-wait", *nowhere)
    assert "Warning: rte goes to its key's partition" in said
    assert len(it.read(it.annotations)) == 3


def test_an_unknown_project_is_said_with_the_nearest(
    deploy: Deploy, sqlite_url: str, tmp_path: Path
) -> None:
    it = deploy(sqlite_url)
    it.run()
    it.command("project", "apply", _file(tmp_path, "rte"))
    assert "did you mean rte?" in it.command("project", "show", "rtes", code=1)


def test_doctor_finds_everything_in_order_and_what_is_not(
    deploy: Deploy, database_url: str, tmp_path: Path
) -> None:
    it = deploy(database_url, partitions=2)
    process = it.run()
    _consuming(process, 2)
    it.command("project", "apply", _file(tmp_path, "rte"))
    it.send([b"{not json"])
    it.wait_applied(2)
    it.wait_published()
    report = json.loads(it.command("doctor", "--json"))
    assert report["ok"]
    states = {check["what"]: check["state"] for check in report["checks"]}
    assert {what for what, state in states.items() if state != "ok"} == {"dead letters of a day"}
    topics = (it.annotations, it.resolved, it.assigned, it.dead)
    assert set(states) >= {
        "Python", "libraries", "settings", "database", "durability", "schema", "projects",
        "broker", "transactions", "partition count", "consumer group", "offsets",
        *(f"topic {name}" for name in topics),
    }  # fmt: skip
    assert process.terminate() == 0

    said = it.command("doctor", "--topic-resolved", "nix", code=1)
    assert "failed   topic nix: does not exist -> `crowdresolve topics create`" in said
    assert "nobody consumes" in said
    url = f"sqlite:///{tmp_path / 'empty.db'}"
    it.command("db", "upgrade", "--database", url)
    said = it.command("doctor", "--database", url, code=1)
    assert "--rebuild" in said


def test_a_second_signal_ends_at_once(deploy: Deploy, sqlite_url: str) -> None:
    import signal

    it = deploy(sqlite_url)
    process = it.run()
    _consuming(process)
    process.signal(signal.SIGSTOP)
    process.signal(signal.SIGTERM)
    process.signal(signal.SIGINT)
    process.signal(signal.SIGCONT)
    process.wait(10)
    assert "consumer_stopped" not in process.text()


def test_sigterm_while_it_still_connects_ends_it_cleanly(deploy: Deploy, sqlite_url: str) -> None:
    it = deploy(sqlite_url)
    process = it.run(CROWDRESOLVE_BOOTSTRAP_SERVERS="127.0.0.1:1")
    wait_for("starting", lambda: '"connecting"' in process.text())
    assert process.terminate(within_s=10) == 0


def test_run_makes_the_topics_when_told_to(deploy: Deploy, sqlite_url: str, tmp_path: Path) -> None:
    it = deploy(sqlite_url)
    it.annotations += "-new"
    refused = it.run()
    assert refused.wait(30) == 3
    assert "`crowdresolve topics create`" in refused.text()
    process = it.run("--create-topics", "--partitions", "3")
    _consuming(process, 3)
    it.command("project", "apply", _file(tmp_path, "rte"))
    assert process.terminate() == 0


def test_at_least_once_delivers_and_commits(
    deploy: Deploy, sqlite_url: str, tmp_path: Path
) -> None:
    it = deploy(sqlite_url)
    process = it.run("--delivery", "at_least_once")
    it.command("project", "apply", _file(tmp_path, "rte"))
    it.send(_votes("rte", 5))
    it.wait_published()
    assert len(it.read(it.resolved)) == 5
    assert process.terminate() == 0


def test_a_killed_instance_of_a_stable_name_has_its_partitions_back_at_once(
    deploy: Deploy, sqlite_url: str, tmp_path: Path
) -> None:
    it = deploy(sqlite_url)
    # A nameless one would wait out the session: longer than this test has patience.
    session = {"CROWDRESOLVE_KAFKA_SESSION_TIMEOUT_MS": "600000"}
    first = it.run("--instance", "stable", **session)
    it.command("project", "apply", _file(tmp_path, "rte"))
    first.kill()
    second = it.run("--instance", "stable", **session)
    _consuming(second)
    it.send(_votes("rte", 3))
    wait_for("three resolved labels", lambda: len(it.read(it.resolved)) == 3)
    assert second.terminate() == 0


def test_a_database_that_was_emptied_is_refused_until_rebuild_is_asked_for(
    deploy: Deploy, sqlite_url: str, tmp_path: Path
) -> None:
    it = deploy(sqlite_url)
    process = it.run("--instance", "stable")
    it.command("project", "apply", _file(tmp_path, "rte"))
    it.send(_votes("rte", 3))
    it.wait_published()
    assert process.terminate() == 0
    for file in tmp_path.glob("crowdresolve.db*"):
        file.unlink()
    refused = it.run("--instance", "stable")
    assert refused.wait(60) == 1
    assert "crowdresolve run --rebuild" in _events(refused)[-1]["reason"]
    process = it.run("--instance", "stable", "--rebuild")
    it.send(_votes("rte", 4))
    wait_for("four resolved labels", lambda: len(it.read(it.resolved)) == 4)
    assert process.terminate() == 0


def test_a_record_that_only_compression_made_fit_is_redriven_too(
    deploy: Deploy, sqlite_url: str, tmp_path: Path
) -> None:
    from kafka import KafkaProducer

    it = deploy(sqlite_url)
    it.run()
    vote = json.loads(next(_votes("big", 1, 1)))
    producer = KafkaProducer(
        bootstrap_servers=it.bootstrap, compression_type="gzip", max_request_size=64 * 2**20
    )
    producer.send(it.annotations, value=encoded(**vote, pad="x" * 5_000_000)).get(30)
    producer.close(timeout=5)
    it.wait_applied(1)
    it.command("project", "apply", _file(tmp_path, "big"))
    assert "1 sent again" in it.command("dead", "redrive")
    it.wait_applied(3)
    (progress,) = it.rows("project_progress")
    assert progress["votes"] == 1
