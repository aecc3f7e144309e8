"""Synthetic crowds, and uniform sampling from them."""

from __future__ import annotations

import numpy as np
import pytest

from connector.simulate.crowd import Arrival, Setting, draw
from connector.simulate.errors import Misused
from connector.simulate.uniform import uniform

SMALL = Setting(tasks=60, labels_per_worker=5)


def test_the_seed_decides_everything() -> None:
    one, same, other = (draw(SMALL, 4, "interleaved", seed) for seed in (7, 7, 8))
    for name in ("truth", "accuracy", "arrivals"):
        assert np.array_equal(getattr(one, name), getattr(same, name))
        assert not np.array_equal(getattr(one, name), getattr(other, name))
    tasks = uniform(one, 0)
    assert np.array_equal(one.answers(tasks), same.answers(tasks))


def test_a_budget_has_as_many_workers_as_give_it() -> None:
    assert SMALL.workers(4) == 48
    assert SMALL.workers(1) == 12
    assert Setting(tasks=7, labels_per_worker=5).workers(2) == 3  # the last gives four
    crowd = draw(Setting(tasks=7, labels_per_worker=5), 2, "sessions", 0)
    assert np.bincount(crowd.arrivals).tolist() == [5, 5, 4]


@pytest.mark.parametrize("arrival", ["interleaved", "sessions"])
def test_everybody_gives_as_many_labels_as_the_setting_says(arrival: Arrival) -> None:
    crowd = draw(SMALL, 4, arrival, 3)
    assert set(np.bincount(crowd.arrivals).tolist()) == {5}
    sittings = 1 + int(np.count_nonzero(np.diff(crowd.arrivals)))
    assert (sittings == 48) == (arrival == "sessions")


def test_workers_are_right_as_often_as_their_accuracy_says() -> None:
    setting = Setting(tasks=2000, labels_per_worker=2000, alpha=6.0, beta=2.0)
    crowd = draw(setting, 12, "sessions", 0)
    tasks = np.tile(np.arange(2000), 12)
    right = (crowd.answers(tasks) == crowd.truth[tasks]).reshape(12, 2000).mean(axis=1)
    assert right == pytest.approx(crowd.accuracy, abs=0.05)
    one_by_one = [crowd.answer(n, int(t)) for n, t in enumerate(tasks[:500])]
    assert one_by_one == crowd.answers(tasks)[:500].tolist()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"labels_per_worker": 61}, "1 to 60 labels"),
        ({"alpha": 0.0}, "positive"),
        ({"q": 1.0}, "between 0 and 1"),
        ({"tasks": 0}, "at least one task"),
    ],
)
def test_a_setting_that_cannot_be_says_why(change: dict[str, float], said: str) -> None:
    with pytest.raises(Misused, match=said):
        Setting(**{"tasks": 60, "labels_per_worker": 5, **change})  # type: ignore[arg-type]


def test_more_labels_per_task_than_workers_are_refused() -> None:
    # 3 tasks of which everybody labels all 3: R labels per task have R workers.
    draw(Setting(tasks=3, labels_per_worker=3), 5, "sessions", 0)
    with pytest.raises(Misused, match="nobody labels a task twice"):
        draw(Setting(tasks=3, labels_per_worker=3), 0, "sessions", 0)


@pytest.mark.parametrize("arrival", ["interleaved", "sessions"])
def test_uniform_sampling_gives_every_task_the_same_number_and_nobody_one_twice(
    arrival: Arrival,
) -> None:
    crowd = draw(SMALL, 6, arrival, 1)
    task = uniform(crowd, 1)
    counts = np.bincount(task, minlength=60)
    assert counts.sum() == 360
    assert set(counts.tolist()) <= {5, 6, 7}
    assert len(set(zip(task.tolist(), crowd.arrivals.tolist(), strict=True))) == 360


def test_where_everybody_labels_everything_each_task_has_all_workers() -> None:
    crowd = draw(Setting(tasks=8, labels_per_worker=8), 5, "interleaved", 2)
    task = uniform(crowd, 2)
    pairs = set(zip(task.tolist(), crowd.arrivals.tolist(), strict=True))
    assert pairs == {(i, j) for i in range(8) for j in range(5)}
