"""Labels that an error needs."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest

from aggregators import theory
from connector.simulate.crowd import Setting
from connector.simulate.errors import Misused
from connector.simulate.figure2 import Plan, figure2, means
from connector.simulate.planning import Question, answer, beta_of, labels_for

CROWD = Setting(tasks=150, labels_per_worker=10, alpha=6.0, beta=2.0)


def test_an_exponential_error_needs_what_its_rate_says() -> None:
    errors = {R: 0.5 * exp(-0.2 * R) for R in (5, 10, 20)}
    labels, measured = labels_for(0.05, errors, 9.9, 0.001)
    assert measured
    assert labels == pytest.approx(np.log(10.0) / 0.2)
    labels, measured = labels_for(0.4, errors, 9.9, 0.001)
    assert (round(labels, 6), measured) == (round(np.log(1.25) / 0.2, 6), True)


def test_beyond_what_was_simulated_the_theorem_s_slope_holds() -> None:
    errors = {10: 0.2, 20: 0.1}
    labels, measured = labels_for(0.01, errors, 0.1, 0.001)
    assert not measured
    assert labels == pytest.approx(20 + np.log(10.0) / 0.1)


def test_errors_that_are_too_few_to_count_are_not_believed() -> None:
    errors = {10: 0.1, 20: 0.001}
    labels, measured = labels_for(0.005, errors, 0.1, 0.01)
    assert not measured
    assert labels == pytest.approx(10 + np.log(20.0) / 0.1)


def test_both_policies_are_answered_by_theorem_and_by_simulation() -> None:
    told: list[tuple[int, int]] = []
    uniform, uncertainty = answer(Question(0.1, CROWD, runs=2), lambda *at: told.append(at))
    for found, policy, name in ((uniform, "UNI", "uniform"), (uncertainty, "US", "uncertainty")):
        assert (found.policy, found.algorithm, found.measured) == (name, "fast_sbic", True)
        assert found.theorem == theory.labels_needed(0.1, 10, 6.0, 2.0, "fast", found.policy)  # type: ignore[arg-type]
        below = [R for R, e in found.errors.items() if e <= 0.1]
        above = [R for R, e in found.errors.items() if e > 0.1]
        assert max(above, default=0) <= found.simulated <= min(below)
        plan = Plan(CROWD, below[:1], 2, 0, ("fast_sbic",), (policy,))  # type: ignore[arg-type]
        assert means(figure2(plan))[policy, "fast_sbic"][below[0]] == found.errors[below[0]]  # type: ignore[index]
    assert uncertainty.simulated < uniform.simulated
    assert told[-1][0] == told[-1][1]
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_a_crowd_s_beta_is_found_from_its_answers() -> None:
    random = np.random.default_rng(0)
    n = np.full(3000, 30.0)
    right = random.binomial(30, random.beta(4.0, 2.0, 3000)).astype(float)
    alpha, beta = beta_of(right.tolist(), n.tolist())
    assert [alpha, beta] == pytest.approx([4.0, 2.0], rel=0.1)
    with pytest.raises(Misused, match="nobody has answered"):
        beta_of([0.0], [0.0])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"error": 0.5}, "between 0 and 0.5"),
        ({"algorithms": ("kos",)}, "fast_sbic and sorted_sbic"),
        ({"setting": Setting(alpha=2.0, beta=2.0)}, "no more often than a coin"),
    ],
)
def test_what_cannot_be_planned_says_why(change: dict[str, object], said: str) -> None:
    given: dict[str, object] = {"error": 0.1, "setting": CROWD, **change}
    with pytest.raises(Misused, match=said.replace("no more", "no\\s+more")):
        Question(**given)  # type: ignore[arg-type]
