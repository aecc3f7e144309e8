"""Measured and predicted slopes."""

from __future__ import annotations

from math import exp, log

import pytest

from connector.simulate.crowd import Setting
from connector.simulate.slopes import bound, measured, predicted


def test_an_exponential_has_its_own_slope() -> None:
    errors = {R: 0.5 * exp(-0.1 * R) for R in (10, 20, 30, 40, 50, 60)}
    assert measured(errors) == pytest.approx(0.1)


def test_errors_outside_the_range_do_not_count() -> None:
    errors = {10: 0.4, 20: 0.1, 30: 0.01, 40: 0.0009, 50: 0.0}
    assert measured(errors) == pytest.approx(log(10.0) / 10.0)
    assert measured({10: 0.4, 20: 0.05, 30: 0.0}) is None


def test_the_theorems_speak_of_sbic_alone() -> None:
    setting = Setting()
    for policy, name, slope in [
        ("UNI", "fast_sbic", 0.033),
        ("UNI", "sorted_sbic", 0.048),
        ("US", "fast_sbic", 0.134),
        ("US", "sorted_sbic", 0.193),
    ]:
        found = predicted(policy, name, setting)  # type: ignore[arg-type]
        assert found == pytest.approx(slope, abs=0.0006)
    assert predicted("US", "kos", setting) is None


def test_a_bound_meets_the_last_error_that_is_not_zero() -> None:
    line = bound({10: 0.3, 20: 0.01, 30: 0.0}, 0.1)
    assert line[20] == pytest.approx(0.01)
    assert line[10] == pytest.approx(0.01 * exp(1.0))
    assert line[30] == pytest.approx(0.01 * exp(-1.0))
    assert bound({10: 0.0}, 0.1) == {}
