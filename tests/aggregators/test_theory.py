"""Theorems 1 and 2: closed cases, the paper's figures, simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aggregators import FastSBIC, SortedSBIC, theory

VARIANTS: tuple[theory.Variant, ...] = ("fast", "sorted")
SHAPES = st.floats(0.5, 20)


@settings(deadline=None)
@given(SHAPES, SHAPES)
def test_the_first_label_of_a_worker_tells_what_the_prior_tells(alpha: float, beta: float) -> None:
    p = alpha / (alpha + beta)
    for f in (theory.f_fast, theory.f_sorted):
        assert f(1, alpha, beta) == pytest.approx(2 * math.sqrt(p * (1 - p)))
    for g in (theory.g_fast, theory.g_sorted):
        assert g(1, alpha, beta) == pytest.approx(math.log(p / (1 - p)) * (2 * p - 1), abs=1e-12)


@settings(deadline=None)
@given(st.integers(1, 60), SHAPES, SHAPES)
def test_more_is_learned_of_workers_who_give_more_labels(L: int, alpha: float, beta: float) -> None:
    chance, p = theory.known_answers(L, alpha, beta)
    assert chance.sum() == pytest.approx(1)
    assert chance @ p == pytest.approx(alpha / (alpha + beta))
    assert theory.f_sorted(L + 1, alpha, beta) <= theory.f_sorted(L, alpha, beta) + 1e-12
    assert theory.g_sorted(L + 1, alpha, beta) >= theory.g_sorted(L, alpha, beta) - 1e-12
    assert theory.f_sorted(L, alpha, beta) <= theory.f_fast(L, alpha, beta) + 1e-12


def test_many_labels_lead_to_the_limit_of_known_accuracies() -> None:
    p = np.random.default_rng(0).beta(4, 3, 200_000)
    assert theory.f_sorted(3000, 4, 3) == pytest.approx(np.mean(2 * np.sqrt(p * (1 - p))), abs=2e-3)


def test_slopes_are_those_of_the_papers_figure_2() -> None:
    slopes = [
        theory.slope(10, 4, 3, variant, policy)
        for policy in ("uniform", "uncertainty")
        for variant in ("fast", "sorted")
    ]
    assert [round(s, 3) for s in slopes] == pytest.approx([0.033, 0.048, 0.134, 0.193], abs=1e-3)


def test_equal_workers_give_the_binomial_tail() -> None:
    """Beta(3e6, 1e6): all workers have accuracy 3/4, and the majority is the best rule."""
    for R in (0, 1, 2, 3, 10, 15):
        wrong = sum(
            math.comb(R, k) * 0.75**k * 0.25 ** (R - k) * (1.0 if 2 * k < R else 0.5)
            for k in range(R // 2 + 1)
            if 2 * k <= R
        )
        assert theory.expected_error(R, 1, 3e6, 1e6) == pytest.approx(wrong, rel=0.02)


@settings(deadline=None)
@given(st.integers(0, 80), st.integers(1, 20), st.floats(1, 8), st.floats(1, 8))
def test_the_expected_error_stays_below_the_bound(R: int, L: int, a: float, b: float) -> None:
    for variant in VARIANTS:
        expected = theory.expected_error(R, L, a, b, variant)
        assert expected <= theory.error_bound(R, L, a, b, variant) * 1.001 + 1e-9


def simulated(R: int, L: int, alpha: float, beta: float, seed: int) -> tuple[float, float]:
    M = 1000
    random = np.random.default_rng(seed)
    N = M * R // L
    p = random.beta(alpha, beta, N)
    truth = random.integers(0, 2, M)
    worker = random.permutation(np.repeat(np.arange(N), L))
    task = np.concatenate([random.permutation(M) for _ in range(R)])
    label = np.where(random.random(M * R) < p[worker], truth[task], 1 - truth[task])
    errors = []
    for model in (FastSBIC(alpha=alpha, beta=beta), SortedSBIC(alpha=alpha, beta=beta)):
        model.fit(task, worker, label)
        errors.append(float((model.labels_ != truth[np.array(model.tasks_)]).mean()))
    return errors[0], errors[1]


def test_simulated_errors_lie_between_the_expected_and_the_bound() -> None:
    for R in (20, 40):
        fast, by_sorting = np.mean([simulated(R, 10, 4, 3, s) for s in range(5)], axis=0)
        for variant, seen in zip(VARIANTS, (fast, by_sorting), strict=True):
            low = theory.expected_error(R, 10, 4, 3, variant)
            high = theory.error_bound(R, 10, 4, 3, variant)
            assert low * 0.9 < seen < high, (R, variant)


def test_labels_needed_reach_the_error_and_one_less_does_not() -> None:
    R = theory.labels_needed(0.05, 10, 4, 3)
    assert theory.error_bound(R, 10, 4, 3) <= 0.05 < theory.error_bound(R - 1, 10, 4, 3)
    few = theory.labels_at_least(0.05, 10, 4, 3)
    assert theory.expected_error(few, 10, 4, 3) <= 0.05 < theory.expected_error(few - 1, 10, 4, 3)
    assert few < R
    assert theory.labels_needed(0.05, 10, 4, 3, policy="uncertainty") < R


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="out of this crowd's reach"):
        theory.labels_needed(0.01, 1, 2, 2)
    with pytest.raises(ValueError, match="error must be"):
        theory.labels_needed(0.7, 10, 4, 3)
    with pytest.raises(ValueError, match="alpha and beta"):
        theory.f_fast(10, 0, 3)
    with pytest.raises(ValueError, match="L must be"):
        theory.g_fast(0, 4, 3)
    with pytest.raises(ValueError, match="R must not"):
        theory.expected_error(-1, 10, 4, 3)
