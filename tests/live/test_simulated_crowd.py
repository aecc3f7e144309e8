"""`crowdresolve simulate crowd` against the service on a real broker."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path

from .deployment import Deployment, wait_for

Deploy = Callable[..., Deployment]

CROWD = ("--tasks", "60", "--workers", "12", "--alpha", "8", "--beta", "2", "--seed", "1")


def truth_of(path: Path) -> dict[str, str]:
    with path.open() as file:
        return {row["task"]: row["label"] for row in csv.DictReader(file)}


def test_a_crowd_s_votes_arrive_at_their_rate_and_its_truth_is_kept(
    deploy: Deploy, tmp_path: Path
) -> None:
    d = deploy(f"sqlite:///{tmp_path}/state.db", 3)
    service = d.run(CROWDRESOLVE_INSTANCE="one")
    said = d.command(
        "simulate", "crowd", *CROWD, "--labels-per-task", "7", "--rate", "200",
        "--truth-out", "truth.csv",
    )  # fmt: skip
    events, seconds = re.search(r"([\d,]+) events in ([\d.]+) s", said).groups()  # type: ignore[union-attr]
    assert int(events) == 1 + 60 * 7
    # Never faster than asked for; how much slower is the machine's affair.
    assert float(seconds) >= 420 / 200 - 0.1
    d.wait_applied(421)
    (progress,) = d.rows("project_progress")
    assert (progress["tasks"], progress["votes"]) == (60, 420)
    truth = truth_of(tmp_path / "truth.csv")
    labels = {row["task"]: row["label"] for row in d.rows("task_labels")}
    assert labels.keys() == truth.keys()
    assert sum(labels[t] == truth[t] for t in truth) >= 54
    assert service.terminate() == 0


def test_a_crowd_that_asks_labels_until_nothing_is_open(deploy: Deploy, tmp_path: Path) -> None:
    d = deploy(f"sqlite:///{tmp_path}/state.db", 2)
    service = d.run(CROWDRESOLVE_INSTANCE="one")
    said = d.command(
        "simulate", "crowd", *CROWD, "--ask", "--labels-per-task", "6", "--skips", "0.1",
        "--truth-out", "truth.csv",
    )  # fmt: skip
    found = re.search(
        r"([\d,]+) assignments: (\d+) answered, (\d+) skipped, (\d+) a second time", said
    )
    assert found is not None, said
    assigned, answered, skipped, again = map(int, found.groups())
    assert assigned == answered + skipped
    assert skipped > 0
    assert again == 0
    wait_for("every vote", lambda: d.rows("project_progress")[0]["votes"] == answered)
    labels = d.rows("task_labels")
    assert max(row["votes"] for row in labels) <= 6
    assert {row["status"] for row in labels} <= {"confident", "capped", "ambiguous", "open"}
    # Open is only what nobody is left for: who has skipped or answered it is not asked again.
    assert sum(row["status"] == "open" for row in labels) <= 6
    truth = truth_of(tmp_path / "truth.csv")
    assert sum(row["label"] == truth[row["task"]] for row in labels) >= 51
    assert service.terminate() == 0
