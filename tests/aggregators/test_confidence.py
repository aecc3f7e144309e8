"""`confidence` against algorithms.md, formula by formula."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aggregators import confidence
from aggregators.stating import stated_rows

from . import plain

Task = tuple[list[float], list[int], list[float]]
Records = list[tuple[float, bool]]


@st.composite
def tasks(draw: st.DrawFn) -> Task:
    K = draw(st.integers(2, 10))
    c = draw(st.lists(st.integers(0, 40), min_size=K, max_size=K))
    prior = [v + 0.05 for v in draw(st.lists(st.floats(0, 1), min_size=K, max_size=K))]
    prior = [v / sum(prior) for v in prior]
    m = [math.log(v) for v in prior]
    for x in range(K):
        for _ in range(c[x]):
            plain.weight(m, x, draw(st.sampled_from([0.3, 0.6, 2 / 3, 0.9])))
    return m, c, prior


@settings(max_examples=300, deadline=None)
@given(tasks(), st.sampled_from([0.0, 0.01, 0.1, 0.5, 0.9]))
def test_stated_is_the_formula(task: Task, doubt: float) -> None:
    m, c, prior = task
    q = confidence.stated(m, {x: n for x, n in enumerate(c) if n}, prior, doubt)
    np.testing.assert_allclose(q, plain.stated(m, c, prior, doubt), atol=1e-12)
    rows = stated_rows(np.array([m]), np.array([c]), np.array(prior), doubt)
    np.testing.assert_allclose(rows[0], q, atol=1e-12)


@pytest.mark.parametrize("K", range(2, 11))
def test_agreeing_votes_of_good_workers_never_lower_the_stated_top(K: int) -> None:
    for p in (2 / 3, 0.8, 0.99):
        m = [math.log(1 / K)] * K
        before = 1 / K
        for n in range(1, 1001):
            plain.weight(m, 0, p)
            now = confidence.stated(m, {0: n}, [1 / K] * K, 0.1)[0]
            assert now >= before - 1e-12, (K, p, n)
            before = now


def test_the_top_of_near_equals_is_the_earlier_class() -> None:
    assert confidence.top([0.3, 0.35, 0.35 + 5e-10]) == 1
    assert confidence.top([0.3, 0.35, 0.35 + 5e-9]) == 2


@settings(deadline=None)
@given(st.lists(st.floats(0.001, 1), min_size=2, max_size=6), st.floats(0.05, 3.0))
def test_bending_keeps_a_distribution_and_its_top(weights: list[float], b: float) -> None:
    q = [v / sum(weights) for v in weights]
    bent = confidence.bend(q, b)
    assert sum(bent) == pytest.approx(1)
    x = confidence.top(q)
    if q[x] <= 0.5:
        assert bent == q
    else:
        z = min(20.0, math.log(q[x] / (1 - q[x]))) if q[x] < 1 else 20.0
        assert bent[x] == pytest.approx(1 / (1 + math.exp(-b * z)))
        for y in range(len(q)):
            if y != x:
                assert bent[y] * (1 - q[x]) == pytest.approx(q[y] * (1 - bent[x]), abs=1e-12)


RECORDS = st.lists(st.tuples(st.floats(0, 20), st.booleans()), max_size=100)


@settings(deadline=None)
@given(RECORDS, st.sampled_from([0.6, 0.9]), st.floats(0.05, 3))
def test_the_slope_is_found_by_the_newton_steps_of_the_specification(
    records: Records, b0: float, start: float
) -> None:
    b = start
    for _ in range(30):
        G = -(b - b0) / 0.25**2
        H = 1 / 0.25**2
        for z, hit in records:
            s = 1 / (1 + math.exp(-b * z))
            G += (hit - s) * z
            H += s * (1 - s) * z * z
        b += min(1.0, max(-1.0, G / H))
        if abs(G / H) < 1e-6:
            break
    ours = confidence.fit_slope([z for z, _ in records], [h for _, h in records], start, b0)
    assert ours == pytest.approx(min(3.0, max(0.05, b)), abs=1e-5)


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.floats(0, 5), st.booleans()), max_size=40), st.sampled_from([0.6, 0.9])
)
def test_the_slope_of_moderate_records_is_the_mode_of_its_posterior(
    records: Records, b0: float
) -> None:
    b = confidence.fit_slope([z for z, _ in records], [h for _, h in records], b0, b0)

    def log_posterior(b: float) -> float:
        hits: float = sum(-math.log1p(math.exp(-b * z if hit else b * z)) for z, hit in records)
        return hits - (b - b0) ** 2 / (2 * 0.25**2)

    best = max(np.linspace(0.05, 3, 300), key=log_posterior)
    assert abs(b - best) < 0.02
