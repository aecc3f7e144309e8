"""Metrics against small cases worked by hand."""

from __future__ import annotations

import math

import krippendorff
import numpy as np
import pandas as pd
import pytest

from aggregators import MajorityVote, metrics
from aggregators.agreement import Level, alpha, coincidences

P = np.array([[0.7, 0.2, 0.1], [0.1, 0.45, 0.45], [0.0, 0.0, 1.0]])
Y = np.array([0, 2, 0])


def test_ties_are_broken_at_random() -> None:
    assert metrics.error(P, Y) == pytest.approx((0 + 0.5 + 1) / 3)


def test_likelihood_and_brier() -> None:
    assert metrics.nll(P, Y) == pytest.approx(
        -(math.log(0.7) + math.log(0.45) + math.log(1e-12)) / 3
    )
    expected = (0.09 + 0.04 + 0.01 + 0.01 + 0.2025 + 0.3025 + 1 + 1) / 3
    assert metrics.brier(P, Y) == pytest.approx(expected)


def test_ordinal_errors_in_expectation() -> None:
    assert metrics.l0(P, Y) == pytest.approx((0.3 + 0.55 + 1) / 3)
    assert metrics.l1(P, Y) == pytest.approx((0.2 + 0.2 + 0.2 + 0.45 + 2) / 3)
    assert metrics.l2(P, Y) == pytest.approx(math.sqrt((0.2 + 0.4 + 0.4 + 0.45 + 4) / 3))
    assert metrics.mse(P, Y) == pytest.approx((0.4**2 + 0.65**2 + 2**2) / 3)


def test_calibrated_probabilities_have_hardly_any_calibration_error() -> None:
    random = np.random.default_rng(0)
    p = random.beta(5, 1, 50_000)
    truth = (random.random(50_000) > p).astype(np.int64)
    assert metrics.ece(np.stack([p, 1 - p], axis=1), truth) < 0.01
    assert metrics.ece(np.tile([0.9, 0.1], (10, 1)), np.ones(10, int)) == pytest.approx(0.9)


def test_align_finds_the_gold_tasks() -> None:
    model = MajorityVote().fit(["a", "a", "b"], [1, 2, 1], ["x", "y", "y"])
    for gold in ({"b": "x", "c": "x"}, pd.Series({"b": "x", "c": "x"})):
        probas, truth = metrics.align(model, gold)
        assert probas.tolist() == [[0.0, 1.0]]
        assert truth.tolist() == [0]
    with pytest.raises(ValueError, match="not one of"):
        metrics.align(model, {"a": "z"})
    with pytest.raises(ValueError, match="no gold task"):
        metrics.align(model, {"q": "x"})


# Krippendorff (2011), section C: four observers, twelve units, five values, some missing.
READINGS = {
    "A": [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    "B": [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    "C": [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    "D": [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
}


@pytest.mark.parametrize(
    ("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_krippendorffs_own_example(level: str, alpha: float) -> None:
    rows = [
        (unit, who, value)
        for who, values in READINGS.items()
        for unit, value in enumerate(values)
        if value is not None
    ]
    found = metrics.krippendorff_alpha(tuple(zip(*rows, strict=True)), level=level)  # type: ignore[arg-type]
    assert found == pytest.approx(alpha, abs=5e-4)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_alpha_is_that_of_the_krippendorff_package(level: Level) -> None:
    random = np.random.default_rng(5)
    for K, tasks in ((2, 50), (5, 400), (9, 30)):
        truth = random.integers(0, K, tasks)
        counts = random.multinomial(3, np.full(K, 1 / K), tasks)
        counts[np.arange(tasks), truth] += random.integers(0, 5, tasks)
        halves = (counts[: tasks // 2].astype(float), counts[tasks // 2 :].astype(float))
        found = alpha(sum(map(coincidences, halves)), level)  # type: ignore[arg-type]
        want = krippendorff.alpha(value_counts=counts, level_of_measurement=level)
        assert found == pytest.approx(want, abs=1e-12)


def test_agreement_without_pairs_or_variety() -> None:
    assert math.isnan(metrics.krippendorff_alpha([1, 2], ["a", "b"], [0, 1]))
    assert metrics.krippendorff_alpha([1, 1], ["a", "b"], ["x", "x"]) == 1.0
    with pytest.raises(ValueError, match="level"):
        metrics.krippendorff_alpha([1, 1], ["a", "b"], ["x", "y"], level="odd")  # type: ignore[arg-type]
