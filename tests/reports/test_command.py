"""`crowdresolve report` as it is typed."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from connector.replay import replay
from tests.replay.files import write_jsonl

COMMAND = str(Path(sys.executable).with_name("crowdresolve"))
Run = Callable[..., "subprocess.CompletedProcess[str]"]


def lines() -> list[dict[str, object]]:
    def event(type_: str, project: str, **fields: object) -> dict[str, object]:
        return {"type": type_, "project": project} | fields

    found = []
    for project, offset in (("p", 0), ("q", 1)):
        found.append(event("project.declared", project, kind="binary", classes=["no", "yes"]))
        for i in range(30):
            for j in range(6):
                label = "yes" if j == 5 or (i + offset) % 2 else "no"
                fields = {"task": f"t{i}", "worker": f"w{j}", "label": label}
                found.append(event("annotation.submitted", project, **fields))
        for i in range(4):
            label = "yes" if (i + offset) % 2 else "no"
            found.append(event("task.gold", project, task=f"t{i}", label=label))
    return found


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> str:
    directory = tmp_path_factory.mktemp("reports")
    url = f"sqlite:///{directory / 'reports.db'}"
    with replay([write_jsonl(directory / "events.jsonl", lines())], database=url):
        return url


@pytest.fixture
def run(database: str, tmp_path: Path) -> Run:
    def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        clean = {k: v for k, v in os.environ.items() if not k.startswith("CROWDRESOLVE_")}
        return subprocess.run(
            [COMMAND, "report", *arguments],
            env=clean | {"CROWDRESOLVE_DATABASE": database} | variables,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
        )

    return run


def test_csv_and_json_are_complete_and_agree(run: Run) -> None:
    counts = {"tasks": 60, "project": 2}
    for kind in counts:
        rows = list(csv.DictReader(io.StringIO(run(kind, "--format", "csv").stdout)))
        documents = json.loads(run(kind, "--format", "json").stdout)
        assert len(rows) == len(documents) == counts[kind]
        for row, document in zip(rows, documents, strict=True):
            assert list(row) == list(document)
            for name, value in document.items():
                if isinstance(value, dict):
                    assert json.loads(row[name]) == value
                elif isinstance(value, int | float):
                    assert float(row[name]) == value
                else:
                    assert row[name] == (value or "")


def test_the_worst_worker_comes_first_in_the_table(run: Run) -> None:
    done = run("workers", "--project", "p")
    assert done.returncode == 0, done.stderr
    header, first, *_ = done.stdout.splitlines()
    assert header.split()[:2] == ["worker", "accuracy"]
    assert first.startswith("w5")
    assert ".o" in first or "-o" in first
    few = run("workers", "--limit", "3").stdout
    assert "3 of 6 workers; --limit shows more" in few
    assert few.splitlines()[0].split()[:2] == ["worker", "projects"]
    assert few.splitlines()[1].split()[:3] == ["w5", "p,", "q"]


def test_one_long_name_leaves_the_other_columns_their_room(run: Run, tmp_path: Path) -> None:
    name = "x" * 500
    votes = [
        {"type": "annotation.submitted", "project": "p", "task": t, "worker": w, "label": "1"}
        for t in ("a" * 400, "b")
        for w in (name, "\x1b[31mred\n")
    ]
    first = {"type": "project.declared", "project": "p", "kind": "binary", "classes": ["0", "1"]}
    url = f"sqlite:///{tmp_path / 'long.db'}"
    with replay([write_jsonl(tmp_path / "long.jsonl", [first, *votes])], database=url):
        pass
    for kind in ("workers", "tasks"):
        header, *rows = run(kind, CROWDRESOLVE_DATABASE=url).stdout.splitlines()
        assert "votes" in header
        assert len(header) <= 160
        assert not any("\x1b" in row for row in rows)
    shown = run("workers", CROWDRESOLVE_DATABASE=url).stdout
    assert f"{'x' * 15}…{'x' * 15}" in shown
    assert r'"\x1b[31mred\n"' in shown
    assert name in run("workers", "--format", "csv", CROWDRESOLVE_DATABASE=url).stdout


def test_a_worker_can_be_asked_for_by_name(run: Run, tmp_path: Path) -> None:
    for project in ((), ("--project", "p")):
        rows = json.loads(run("workers", *project, "--worker", "w2", "--format", "json").stdout)
        assert [row["worker"] for row in rows] == ["w2"]
        unknown = run("workers", *project, "--worker", "w2", "--worker", "nobody")
        assert unknown.returncode == 1
        assert "there is no worker 'nobody'" in unknown.stderr
    assert run("workers", "--worker", "w2", "--out", "w2.html").returncode == 0
    page = (tmp_path / "w2.html").read_text()
    assert "<h1>w2</h1>" in page
    assert "Accuracy of w2 in q over time" in page


def test_a_project_is_told_in_words(run: Run) -> None:
    done = run("project", "--project", "p")
    assert "Project p" in done.stdout
    assert "Project q" not in done.stdout
    assert "30: " in done.stdout
    assert "180, 6.0 per task" in done.stdout
    assert "of the labels we call 95 % sure" in done.stdout
    assert "gold tasks" in done.stdout


def test_resolutions_are_counted_by_status_and_confidence(run: Run) -> None:
    done = run("resolutions", "--project", "q")
    rows = json.loads(run("resolutions", "--project", "q", "--format", "json").stdout)
    assert f"{len(rows)} tasks resolved" in done.stdout
    gold = next(line for line in done.stdout.splitlines() if line.startswith("gold"))
    assert gold.split()[1] == "4"


def test_a_report_goes_to_a_file_in_the_format_of_its_name(run: Run, tmp_path: Path) -> None:
    for name in ("workers.csv", "workers.json", "workers.txt"):
        done = run("workers", "--out", name)
        assert done.returncode == 0, done.stderr
        assert done.stdout == ""
    pooled = json.loads((tmp_path / "workers.json").read_text())
    assert len(pooled) == 6
    assert pooled[0]["projects"] == ["p", "q"]
    assert len((tmp_path / "workers.csv").read_text().splitlines()) == 7
    assert (tmp_path / "workers.txt").read_text().startswith("worker  projects")


def test_a_page_goes_to_a_file_or_to_the_screen(run: Run, tmp_path: Path) -> None:
    done = run("workers", "--out", "workers.html", "--limit", "2")
    assert done.returncode == 0, done.stderr
    assert "2 of 6 workers are listed here" in (tmp_path / "workers.html").read_text()
    shown = run("project", "--project", "p", "--format", "html")
    assert shown.stdout.lstrip().startswith("<!doctype html>")
    assert "Of the labels we call 95 % sure" in shown.stdout


def test_what_cannot_be_reported_has_its_exit_code(run: Run, tmp_path: Path) -> None:
    unknown = run("tasks", "--project", "nobody")
    assert unknown.returncode == 1
    assert "'p', 'q'" in unknown.stderr
    assert run("tasks", "--format", "xlsx").returncode == 2
    missing = run("tasks", "--database", f"sqlite:///{tmp_path}/nothing.db")
    assert missing.returncode == 3
    assert not (tmp_path / "nothing.db").exists()
    (tmp_path / "empty.db").touch()
    empty = run("tasks", "--database", f"sqlite:///{tmp_path}/empty.db")
    assert empty.returncode == 3
    assert "db upgrade" in empty.stderr
    for done in (unknown, missing, empty):
        assert "Traceback" not in done.stderr
