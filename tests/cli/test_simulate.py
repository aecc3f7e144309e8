"""`crowdresolve simulate` and `crowdresolve plan`, as users call them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from .conftest import Run

SMALL = ("--tasks", "40", "--labels-per-worker", "4", "--runs", "1", "--seed", "3")
TWO = ("--algorithms", "majority,fast_sbic")


def test_figure2_writes_points_a_picture_and_a_table(crowdresolve: Run, tmp_path: Path) -> None:
    done = crowdresolve(
        "simulate", "figure2", *SMALL, *TWO, "--labels-per-task", "4,6", "--jobs", "1",
        "--arrival", "sessions", "--probes", "auto", "--out", "points.csv", "--picture", "f.svg",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    with (tmp_path / "points.csv").open() as file:
        points = list(csv.DictReader(file))
    assert list(points[0]) == [
        "policy",
        "algorithm",
        "arrival",
        "labels_per_task",
        "run",
        "error",
    ]
    assert len(points) == 8
    assert {p["arrival"] for p in points} == {"sessions"}
    header, *lines = done.stdout.splitlines()
    assert header.split("\t") == ["policy", "algorithm", "R=4", "R=6", "slope", "theorem"]
    assert [line.split("\t")[:2] for line in lines] == [
        ["UNI", "majority"],
        ["UNI", "fast_sbic"],
        ["US", "majority"],
        ["US", "fast_sbic"],
    ]
    assert "Fast SBIC" in (tmp_path / "f.svg").read_text()


def test_the_csv_can_go_to_the_screen_alone(crowdresolve: Run) -> None:
    done = crowdresolve(
        "simulate", "figure2", *SMALL, *TWO, "--labels-per-task", "4", "--jobs", "1", "--out", "-"
    )
    assert done.stdout.splitlines()[0] == "policy,algorithm,arrival,labels_per_task,run,error"
    assert len(done.stdout.splitlines()) == 5


def test_figure3_names_each_interval(crowdresolve: Run) -> None:
    done = crowdresolve(
        "simulate", "figure3", *SMALL, "--labels-per-task", "4", "--fit-every", "80",
        "--algorithms", "majority,fast_sbic,kos",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = [line.split("\t")[:3] for line in done.stdout.splitlines()[1:]]
    assert lines == [
        ["majority", "vote", "4"],
        ["fast_sbic", "vote", "4"],
        ["kos", "80 votes", "4"],
    ]


def test_saved_reads_files_of_votes(crowdresolve: Run, tmp_path: Path) -> None:
    workers = [f"w{j}" for j in range(8)]
    votes = [f"t{i},{w},{i % 2}" for i in range(20) for w in workers]
    (tmp_path / "mine.csv").write_text("\n".join(["task,worker,label", *votes]))
    (tmp_path / "truth.csv").write_text(
        "task,label\n" + "".join(f"t{i},{i % 2}\n" for i in range(9))
    )
    done = crowdresolve(
        "simulate", "saved", "mine.csv", "--gold", "truth.csv", "--confidence", "0.9", "--runs",
        "1", "--jobs", "1", "--policies", "uncertainty", "--out", "points.csv",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (line,) = [line.split("\t") for line in done.stdout.splitlines()[1:]]
    assert line[:3] == ["mine", "uncertainty", "0.9"]
    assert line[4] == "0.0000"
    assert "17 points in points.csv" in done.stderr


def test_a_plan_says_labels_total_and_cost(crowdresolve: Run) -> None:
    crowd = ("--error", "0.2", "--alpha", "8", "--beta", "2", "--runs", "1", "--tasks", "500")
    done = crowdresolve("plan", *crowd, "--price", "0.1")
    assert done.returncode == 0, done.stderr
    header, uniform, uncertainty = [line.split("\t") for line in done.stdout.splitlines()]
    assert header[-2:] == ["for 500 tasks", "cost"]
    for line in (uniform, uncertainty):
        total, cost = (float(cell.replace(",", "")) for cell in line[-2:])
        assert cost == pytest.approx(total / 10, abs=0.1)
        assert total == pytest.approx(500 * float(line[3]), abs=25)  # 0.05 of a label
    assert "hold up to a constant" in done.stderr
    found = json.loads(crowdresolve("plan", *crowd, "--json").stdout)
    assert [a["policy"] for a in found] == ["uniform", "uncertainty"]
    assert f"{found[0]['simulated']:.1f}" == uniform[3]
    assert found[0]["cost"] is None


def test_a_plan_takes_a_project_s_own_workers(crowdresolve: Run, tmp_path: Path) -> None:
    good = [f"t{i},w{j},{i % 2}" for i in range(30) for j in range(10)]
    (tmp_path / "p.csv").write_text("\n".join(["task,worker,label", *good]))
    database = f"sqlite:///{tmp_path}/p.db"
    assert crowdresolve("replay", "p.csv", "--database", database).returncode == 0
    done = crowdresolve(
        "plan", "--project", "p", "--database", database, "--runs", "1", "--error", "0.1", "--json"
    )
    assert done.returncode == 0, done.stderr
    uniform, _ = json.loads(done.stdout)
    assert (uniform["tasks"], uniform["labels_per_worker"]) == (30, 30)
    assert uniform["alpha"] > 5 * uniform["beta"]  # all of them agree
    missing = crowdresolve("plan", "--project", "q", "--database", database)
    assert missing.returncode == 1
    assert "'p'" in missing.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("simulate", "figure2", "--algorithms", "nobody"), "no method 'nobody'"),
        (("simulate", "figure2", "--labels-per-task", "ten"), "--labels-per-task"),
        (("simulate", "figure2", "--picture", "f.gif"), ".png, .svg, .pdf"),
        (("simulate", "figure2", "--arrival", "late"), "interleaved and sessions"),
        (("simulate", "figure2", "--probes", "-1"), "--probes"),
        (("simulate", "figure3", "--algorithms", "fast_sbic"), "ratios are to majority"),
        (("plan", "--alpha", "1", "--beta", "2"), "a coin"),
        (("plan", "--project", "p", "--alpha", "2"), "leave --alpha and --beta out"),
    ],
)
def test_what_cannot_be_simulated_is_a_mistake_of_usage(
    crowdresolve: Run, arguments: tuple[str, ...], said: str
) -> None:
    done = crowdresolve(*arguments)
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_dataset_that_is_not_there_is_named(crowdresolve: Run) -> None:
    done = crowdresolve("simulate", "saved", "nowhere.csv")
    assert done.returncode == 1
    assert "nowhere.csv cannot be read" in done.stderr


def test_a_crowd_needs_a_broker(crowdresolve: Run) -> None:
    done = crowdresolve(
        "simulate", "crowd", "--bootstrap-servers", "127.0.0.1:1", "--kafka",
        "bootstrap_timeout_ms=500",
    )  # fmt: skip
    assert done.returncode == 4, done.stderr
    assert "127.0.0.1:1" in done.stderr
