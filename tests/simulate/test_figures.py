"""Figures 2 and 3, small."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from connector.reports.formats import Unsupported, Unwritable
from connector.simulate import pictures
from connector.simulate.crowd import Setting
from connector.simulate.errors import Misused
from connector.simulate.figure2 import Plan, Point, error, figure2, means
from connector.simulate.figure3 import Plan as TimePlan
from connector.simulate.figure3 import Timing, figure3
from connector.simulate.picture2 import draw_figure2
from connector.simulate.picture3 import draw_figure3
from connector.simulate.sampling import Sampled
from connector.simulate.tables import figure2_lines, figure3_lines

SMALL = Setting(tasks=100, labels_per_worker=5, alpha=5.0, beta=2.0)
TWO = ("majority", "fast_sbic")


def test_every_policy_method_budget_and_run_has_one_point() -> None:
    plan = Plan(SMALL, (4, 8), runs=2, algorithms=(*TWO, "sorted_sbic"), every=100)
    points = figure2(plan)
    keys = [p[:5] for p in points]
    assert keys == [
        (policy, name, "interleaved", R, run)
        for policy in ("UNI", "US")
        for R in (4, 8)
        for run in range(2)
        for name in plan.algorithms
    ]
    assert all(0.0 <= p.error <= 0.6 for p in points)


def test_the_points_do_not_depend_on_the_number_of_processes() -> None:
    plan = Plan(Setting(tasks=20, labels_per_worker=4), (3,), runs=2, algorithms=TWO)
    told: list[tuple[int, int]] = []
    assert figure2(plan, 2, lambda *at: told.append(at)) == figure2(plan)
    assert told[0] == (0, 6)
    assert told[-1] == (6, 6)


def test_uncertainty_sampling_makes_fewer_errors_than_uniform() -> None:
    found = means(figure2(Plan(Setting(tasks=300), (25,), runs=2, algorithms=TWO)))
    for name in TWO:
        assert found["US", name][25] < 0.8 * found["UNI", name][25]
    assert found["US", "fast_sbic"][25] < found["US", "majority"][25]


def test_all_can_aggregate_what_one_method_collected() -> None:
    plan = Plan(SMALL, (5,), runs=1, algorithms=TWO, policies=("US",))
    own = {p.algorithm: p.error for p in figure2(plan)}
    for collector in TWO:
        shared = Plan(SMALL, (5,), 1, 0, TWO, ("US",), collect=collector)
        found = {p.algorithm: p.error for p in figure2(shared)}
        assert found[collector] == own[collector]
        assert found != own


def test_a_task_without_a_label_is_half_an_error() -> None:
    assert error(np.array([1, 0, -1, 1]), np.array([1, 1, 1, 1])) == pytest.approx(1.5 / 4)


@pytest.mark.parametrize("names", [("nobody",), (), ("majority", "majority")])
def test_methods_that_there_are_not_are_refused(names: tuple[str, ...]) -> None:
    with pytest.raises(Misused):
        Plan(SMALL, algorithms=names)


def test_times_are_ratios_to_majority_with_each_interval_named() -> None:
    plan = TimePlan(SMALL, (4,), runs=1, algorithms=(*TWO, "sorted_sbic"), every=200)
    told: list[tuple[int, int]] = []
    timings = figure3(plan, lambda *at: told.append(at))
    assert [(t.algorithm, t.votes_between_fits) for t in timings] == [
        ("majority", 1),
        ("fast_sbic", 1),
        ("sorted_sbic", 200),
    ]
    majority, *_ = timings
    assert majority.run_ratio == majority.ratio_without_choice == 1.0
    for t in timings:
        assert t.run_s == pytest.approx(t.choosing_s + t.estimating_s + t.keeping_s)
    assert told[-1] == (3, 3)
    with pytest.raises(Misused, match="ratios are to majority"):
        TimePlan(SMALL, algorithms=("fast_sbic",))
    columns, lines = figure3_lines(timings)
    assert {len(line) for line in lines} == {len(columns)}


def test_the_choices_are_measured_apart_from_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine that becomes slower all the time, the ratios stay what they are."""
    slow = [1.0]

    def timed(crowd: object, setting: object, method: str, *_: object) -> Sampled:
        slow[0] += method == "majority"
        estimating = {"majority": 1.0, "fast_sbic": 2.0}[method]
        return Sampled(np.array([0]), 4.0 * slow[0], estimating * slow[0], slow[0])

    monkeypatch.setattr("connector.simulate.figure3.sample", timed)
    (fast, _) = figure3(TimePlan(SMALL, (4,), runs=3, algorithms=("fast_sbic", "majority")))
    assert (fast.run_ratio, fast.ratio_without_choice) == pytest.approx((7.0 / 6.0, 3.0 / 2.0))
    assert fast.choosing_s == 2.0 * fast.estimating_s == 4.0 * fast.keeping_s


POINTS = [
    Point(policy, name, "interleaved", R, run, e / R)
    for policy in ("UNI", "US")
    for name, e in (("majority", 3.0), ("fast_sbic", 1.0))
    for R in (20, 40)
    for run in range(2)
]


@pytest.mark.parametrize("extension", ["png", "svg", "pdf"])
def test_a_picture_is_what_its_extension_says(tmp_path: Path, extension: str) -> None:
    beginnings = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    two, three = (str(tmp_path / f"figure{n}.{extension}") for n in (2, 3))
    draw_figure2(two, POINTS, SMALL)
    timings = [Timing(n, R, 1, 0.1, 0.05, 0.02, 0.03, 1.0, 1.0) for n in TWO for R in (10, 20)]
    draw_figure3(three, timings)
    for path in (two, three):
        assert Path(path).read_bytes().startswith(beginnings[extension])


def test_the_same_points_give_the_same_picture(tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg"):
        draw_figure2(str(tmp_path / name), POINTS, SMALL)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_a_picture_that_cannot_be_is_refused_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Unsupported, match=r"\.png, \.svg, \.pdf"):
        pictures.check_picture(str(tmp_path / "figure.gif"))
    with pytest.raises(Unwritable, match="there is no directory"):
        pictures.check_picture(str(tmp_path / "nowhere" / "figure.png"))
    pictures.check_picture(None)
    monkeypatch.setattr(pictures, "find_spec", lambda name: None)
    with pytest.raises(Unsupported, match=r"pip install crowdresolve\[pictures\]"):
        pictures.check_picture(str(tmp_path / "figure.png"))


def test_the_table_has_the_slope_beside_the_theorem_s() -> None:
    columns, lines = figure2_lines(POINTS, Setting())
    fast = next(line for line in lines if line[:2] == ["US", "fast_sbic"])
    assert columns[-2:] == ["slope", "theorem"]
    assert fast[-2:] == ["0.035", "0.134"]  # log(2) / 20
