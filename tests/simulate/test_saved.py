"""Labels asked for once more: what the stop rule saves."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import pytest

from aggregators import MajorityVote
from connector.replay import replay
from connector.simulate.crowd import Setting
from connector.simulate.dataset import Dataset, order, read, synthetic
from connector.simulate.errors import Misused
from connector.simulate.picture_saved import draw_saved
from connector.simulate.saved import Plan, Point, asked, curve, error, fixed, labels_for, saved
from connector.simulate.stopping import Board, configured
from connector.simulate.tables import saved_lines


def perfect(tasks: int, workers: int) -> Dataset:
    labels = {(t, w): t % 2 for t in range(tasks) for w in range(workers)}
    truth = {t: t % 2 for t in range(tasks)}
    return Dataset("perfect", ("0", "1"), labels, truth, tasks, workers)


def test_labels_are_judged_as_the_service_judges_them(tmp_path: Path, data_dir: Path) -> None:
    """The same votes through `replay`: every label and every status."""
    data = read(str(data_dir / "dog"))
    pairs = order(data, "interleaved", 0)[:3000]
    file = tmp_path / "votes.csv"
    rows = [f"t{t},w{w},{data.classes[data.labels[t, w]]}" for t, w in pairs]
    file.write_text("\n".join(["task,worker,label", *rows]) + "\n")
    settings = {"resolve": {"confidence": 0.9, "max_labels": 5}}
    config = configured("categorical", data.classes, **settings)
    board = Board(config, data.tasks, data.workers)
    for t, w in pairs:
        board.vote(t, w, data.labels[t, w])
    with replay([file], kind="categorical", classes=data.classes, settings=settings) as replayed:
        found = {label.task: label for label in replayed.project().labels()}
    assert {label.status for label in found.values()} >= {"open", "confident", "capped"}
    for task, label in found.items():
        number = int(task[1:])
        assert (board.status[number], board.votes[number]) == (label.status, label.votes)
        assert data.classes[board.labels[number]] == label.label


@pytest.mark.parametrize("policy", ["uncertainty", "uniform"])
def test_nobody_is_asked_for_a_label_that_the_dataset_lacks(policy: str) -> None:
    rng = random.Random(3)
    labels = {(t, w): rng.randrange(2) for t in range(40) for w in rng.sample(range(15), 6)}
    data = Dataset("some", ("0", "1"), labels, dict.fromkeys(range(40), 1), 40, 15)
    # Looking up a pair that is not there, or one twice, would raise or exceed six.
    board = asked(data, order(data, "interleaved", 1), Plan(), policy, 0.999, 1)
    assert max(board.votes) <= 6
    assert sum(board.votes) > 150


def test_a_perfect_crowd_needs_few_labels_and_makes_no_error() -> None:
    data = perfect(50, 30)
    board = asked(data, order(data, "interleaved", 0), Plan(probes=0), "uncertainty", 0.95, 0)
    assert set(board.status) == {"confident"}
    assert error(data, board.labels) == 0.0
    assert sum(board.votes) / 50 < 6.0
    sure = asked(data, order(data, "interleaved", 0), Plan(probes=0), "uncertainty", 0.99, 0)
    assert sum(sure.votes) > sum(board.votes)


def test_all_labels_of_a_fixed_overlap_are_the_whole_dataset(data_dir: Path) -> None:
    data = read(str(data_dir / "rte"))
    pairs = order(data, "interleaved", 5)
    labels, wrong = fixed(data, pairs, 10, "majority")
    assert labels == 10.0
    assert wrong == pytest.approx(0.1031, abs=1e-4)  # data/README.md
    one, _ = fixed(data, pairs, 1, "fast_sbic")
    assert one == 1.0


def test_a_majority_s_tie_is_half_an_error() -> None:
    labels = {(0, 0): 1, (0, 1): 0, (1, 0): 1, (1, 1): 1}
    data = Dataset("ties", ("0", "1"), labels, {0: 1, 1: 1}, 2, 2)
    assert fixed(data, list(labels), 2, "majority") == (2.0, 0.25)
    assert MajorityVote(classes=[0, 1]).fit([0, 0], [0, 1], [1, 0]).labels_.tolist() == [0]


def test_equal_error_lies_between_two_points() -> None:
    line = {1.0: (1.0, 0.3), 2.0: (2.0, 0.3), 3.0: (3.0, 0.2), 4.0: (3.5, 0.1)}
    assert labels_for(0.25, line) == pytest.approx(2.5)
    assert labels_for(0.1, line) == pytest.approx(3.5)
    assert labels_for(0.4, line) == 1.0
    assert labels_for(0.05, line) is None


def test_the_stop_rule_saves_labels_on_a_synthetic_crowd(tmp_path: Path) -> None:
    setting = Setting(tasks=150, labels_per_worker=30, alpha=6.0, beta=2.0)
    data = synthetic(setting, 10, 0)
    plan = Plan(runs=2, stops=(0.9,), policies=("uncertainty",))
    points = saved([data], plan)
    assert points == saved([data], plan, processes=2)
    ((labels, wrong),) = curve(points, "synthetic", "uncertainty").values()
    needed = labels_for(wrong, curve(points, "synthetic", "majority"))
    assert needed is None or labels < 0.9 * needed
    columns, (line,) = saved_lines(points)
    assert len(columns) == len(line)
    draw_saved(str(tmp_path / "saved.png"), points)
    assert (tmp_path / "saved.png").stat().st_size > 1000


def test_a_share_that_was_never_reached_is_marked() -> None:
    points = [
        Point("d", "uncertainty", "interleaved", 0.95, 0, 4.0, 0.05),
        *(Point("d", "majority", "interleaved", n, 0, n, 0.2 / n) for n in (1.0, 2.0)),
        *(Point("d", "fast_sbic", "interleaved", n, 0, n, 0.1 / n) for n in (1.0, 8.0)),
    ]
    _, (line,) = saved_lines(points)
    assert line[5:] == ["> 2.0 (0.1000)", "> -100%", "5.00", "20%"]


def test_a_dataset_is_a_directory_or_a_file_with_its_truth(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("task,worker,label\nt,a,no\nt,b,yes\nt,a,yes\nu,a,no\n")
    with pytest.raises(Misused, match="--gold FILE"):
        read(str(tmp_path))
    (tmp_path / "gold.csv").write_text("task,label\nt,yes\nv,no\n")
    data = read(str(tmp_path))
    # Of a repeated pair the last row counts, at its place: b is the first worker to appear.
    assert data.labels == {(0, 0): 1, (0, 1): 1, (1, 1): 0}
    assert data.truth == {0: 1}  # v has no label
    assert read(str(tmp_path / "labels.csv"), str(tmp_path / "gold.csv")).classes == ("no", "yes")
    (tmp_path / "other.csv").write_text("task,label\nx,yes\n")
    with pytest.raises(Misused, match="no task with a label has a known truth"):
        read(str(tmp_path), str(tmp_path / "other.csv"))


def test_sessions_come_worker_by_worker() -> None:
    data = perfect(6, 4)
    workers = [w for _, w in order(data, "sessions", 0)]
    assert sum(a != b for a, b in pairwise(workers)) == 3
    assert sorted(order(data, "sessions", 0)) == sorted(order(data, "interleaved", 0))


@pytest.mark.parametrize("change", [{"arrival": "never"}, {"stops": (1.0,)}])
def test_a_plan_that_cannot_be_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(Misused):
        Plan(**change)  # type: ignore[arg-type]
