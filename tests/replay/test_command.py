"""`crowdresolve replay` as it is typed."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from .files import write_csv, write_jsonl

COMMAND = str(Path(sys.executable).with_name("crowdresolve"))
Run = Callable[..., "subprocess.CompletedProcess[str]"]

VOTES = [(f"t{i % 20}", f"w{i % 7}", int(i % 7 != 0 or i % 2)) for i in range(140)]
DECLARED = {"type": "project.declared", "kind": "binary", "classes": ["0", "1"]}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def run(*arguments: str, stdin: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
        clean = {k: v for k, v in os.environ.items() if not k.startswith("CROWDRESOLVE_")}
        return subprocess.run(
            [COMMAND, "replay", *arguments],
            input=stdin,
            env=clean | variables,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
        )

    return run


def test_without_an_output_it_prints_a_summary(run: Run, tmp_path: Path) -> None:
    write_csv(tmp_path / "crowd.csv", VOTES)
    done = run("crowd.csv")
    assert done.returncode == 0, done.stderr
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    summary = dict(zip(lines[0], lines[1], strict=True))
    assert summary["project"] == "crowd"
    assert summary["tasks"] == "20"
    assert summary["votes"] == "140"
    assert int(summary["resolved"]) + int(summary["open"]) == 20
    assert "most accurate worker" in done.stdout
    assert "least accurate worker" in done.stdout
    assert "140 rows: 140 applied, 0 duplicates, 0 stale, 0 dead" in done.stderr
    assert list(tmp_path.iterdir()) == [tmp_path / "crowd.csv"]


def test_it_writes_what_is_asked_for_and_says_so(run: Run, tmp_path: Path) -> None:
    write_csv(tmp_path / "crowd.csv", VOTES)
    outputs = ["--out", "l.csv", "--workers-out", "w.jsonl", "--events-out", "e.jsonl"]
    done = run("crowd.csv", "--project", "named", "--confidence", "0.9", *outputs)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert "20 tasks in l.csv" in done.stderr
    assert "7 workers in w.jsonl" in done.stderr
    with (tmp_path / "l.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 20
    assert len((tmp_path / "w.jsonl").read_text().splitlines()) == 7
    assert '"key":"named/t' in (tmp_path / "e.jsonl").read_text()


def test_dead_letters_are_told_with_their_lines_and_do_not_fail_it(
    run: Run, tmp_path: Path
) -> None:
    bad = [("", "w", 1)] * 5 + [("t", "w", "maybe")]
    write_csv(tmp_path / "crowd.csv", [*VOTES, *bad])
    done = run("crowd.csv", "--classes", "0,1")
    assert done.returncode == 0
    assert "6 could not be used" in done.stderr
    assert "5 invalid_field" in done.stderr
    assert "crowd.csv, line 142" in done.stderr
    assert "and 2 more" in done.stderr
    assert "1 unknown_class" in done.stderr


def test_classes_may_be_a_json_list(run: Run, tmp_path: Path) -> None:
    write_csv(tmp_path / "crowd.csv", [("t", "v", "a,b"), ("t", "w", "c")])
    assert run("crowd.csv", "--classes", '["c", "a,b"]', "--out", "l.csv").returncode == 0
    assert 'p_c,"p_a,b"' in (tmp_path / "l.csv").read_text()
    assert run("crowd.csv", "--classes", "[c").returncode == 2


def test_standard_input_and_another_algorithm(run: Run, tmp_path: Path) -> None:
    text = "task,worker,label\n" + "".join(f"{t},{w},{x}\n" for t, w, x in VOTES)
    done = run("-", "--algorithm", "majority", "--out", "l.csv", stdin=text)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "l.csv").read_text().count(",aggregated,") == 20


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["two.jsonl", "--out", "l.csv"], 2, "--project"),
        (["crowd.csv", "--out", "l.xlsx"], 2, ".parquet"),
        (["crowd.csv", "--algorithm", "magic"], 2, "majority"),
        (["crowd.csv", "--algorithm", "majority", "--events-out", "e"], 2, "--events-out"),
        (["crowd.csv", "--worker-prior", "2"], 2, "--worker-prior"),
        (["crowd.csv", "--kind", "odd"], 2, "kind"),
        (["two.jsonl", "--kind", "binary"], 2, "--kind"),
        (["nowhere.csv"], 1, "nowhere.csv"),
        (["crowd.csv", "--database", "mysql://x"], 3, "--database"),
        ([], 2, "FILE"),
    ],
)
def test_what_cannot_be_done_has_its_exit_code(
    arguments: list[str], code: int, said: str, run: Run, tmp_path: Path
) -> None:
    write_csv(tmp_path / "crowd.csv", VOTES)
    write_jsonl(tmp_path / "two.jsonl", [DECLARED | {"project": p} for p in "pq"])
    done = run(*arguments)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_the_service_s_database_is_never_written_by_chance(run: Run, tmp_path: Path) -> None:
    write_csv(tmp_path / "crowd.csv", VOTES)
    done = run("crowd.csv", CROWDRESOLVE_DATABASE=f"sqlite:///{tmp_path}/service.db")
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "service.db").exists()


def test_what_was_there_stays_where_a_replay_fails(run: Run, tmp_path: Path) -> None:
    kept = tmp_path / "keep.csv"
    kept.write_text("precious\n")
    (tmp_path / "odd.csv").write_text("a,b\n1,2\n")
    for votes in ("nowhere.csv", "odd.csv"):
        assert run(votes, "--out", "keep.csv", "--workers-out", "workers.csv").returncode != 0
        assert kept.read_text() == "precious\n"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["keep.csv", "odd.csv"]


def test_a_file_that_is_read_is_never_written(run: Run, tmp_path: Path) -> None:
    votes = tmp_path / "votes.csv"
    write_csv(votes, VOTES)
    before = votes.read_bytes()
    for flag in ("--out", "--workers-out", "--events-out"):
        done = run("votes.csv", flag, "./votes.csv")
        assert done.returncode == 2
        assert flag in done.stderr
        assert votes.read_bytes() == before
