"""FastSBIC and `streaming` against the plain form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aggregators import FastSBIC, _steps, streaming

from . import plain
from .data import load

TASKS = [f"t{i}" for i in range(6)]
WORKERS = [f"w{j}" for j in range(5)]
HYPERS = st.sampled_from([(2.0, 1.0), (4.0, 3.0), (1.0, 1.0), (0.5, 2.0)])


Data = tuple[int, list[plain.Vote], list[float] | None]
Action = tuple[str, str, str, int]


@st.composite
def datasets(draw: st.DrawFn) -> Data:
    K = draw(st.integers(2, 10))
    pairs = draw(
        st.lists(
            st.tuples(st.sampled_from(TASKS), st.sampled_from(WORKERS)), min_size=2, unique=True
        )
    )
    votes = [(i, j, draw(st.integers(0, K - 1))) for i, j in pairs]
    prior = draw(st.none() | st.lists(st.floats(0.05, 1.0), min_size=K, max_size=K))
    return K, votes, None if prior is None else [v / sum(prior) for v in prior]


def fitted(
    votes: list[plain.Vote], K: int, prior: list[float] | None = None, **params: Any
) -> FastSBIC:
    task, worker, label = zip(*votes, strict=True)
    return FastSBIC(classes=range(K), prior=prior, **params).fit((task, worker, label))


@settings(max_examples=150, deadline=None)
@given(datasets(), HYPERS)
def test_fit_equals_the_sum_over_histories(data: Data, hypers: tuple[float, float]) -> None:
    K, votes, prior = data
    alpha, beta = hypers
    m, skills = plain.fast(votes, K, alpha, beta, prior)
    model = fitted(votes, K, prior, alpha=alpha, beta=beta)
    np.testing.assert_allclose(model.probas_, [plain.softmax(m[i]) for i in m], atol=1e-12)
    np.testing.assert_allclose(model.skills_, list(skills.values()), atol=1e-12)


@settings(max_examples=100, deadline=None)
@given(datasets(), st.sampled_from([0.0, 0.1, 0.4]))
def test_votes_one_by_one_give_what_fit_gives(data: Data, doubt: float) -> None:
    K, votes, prior = data
    model = fitted(votes, K, prior, doubt=doubt)
    live = FastSBIC(classes=range(K), prior=prior, doubt=doubt)
    for i, j, x in votes:
        last = live.update(i, j, x)
        np.testing.assert_array_equal(last, live.posterior(i))
    assert live.tasks_ == model.tasks_
    np.testing.assert_allclose(live.probas_, model.probas_, atol=1e-12)
    np.testing.assert_allclose(live.skills_, model.skills_, atol=1e-12)


@settings(max_examples=100, deadline=None)
@given(datasets(), st.data())
def test_a_fit_can_be_gone_on_from(data: Data, draw: st.DataObject) -> None:
    K, votes, prior = data
    cut = draw.draw(st.integers(1, len(votes)))
    model = fitted(votes[:cut], K, prior)
    live = FastSBIC(classes=range(K), prior=prior)
    for i, j, x in votes[:cut]:
        live.update(i, j, x)
    for i, j, x in votes[cut:]:
        np.testing.assert_allclose(model.update(i, j, x), live.update(i, j, x), atol=1e-12)
    np.testing.assert_allclose(model.skills_, live.skills_, atol=1e-12)


ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(["vote", "vote", "vote", "retract", "gold", "ungold"]),
        st.sampled_from(TASKS[:3]),
        st.sampled_from(WORKERS),
        st.integers(0, 9),
    ),
    max_size=40,
)


@settings(max_examples=200, deadline=None)
@given(st.integers(2, 10), ACTIONS, HYPERS, st.sampled_from([0.0, 0.1]))
def test_votes_replacements_retractions_and_gold_equal_the_plain_form(
    K: int, actions: list[Action], hypers: tuple[float, float], doubt: float
) -> None:
    alpha, beta = hypers
    live = FastSBIC(classes=range(K), alpha=alpha, beta=beta, doubt=doubt)
    oracle = plain.PlainFastSBIC(K, alpha, beta)
    answers: dict[tuple[str, str], int] = {}
    for kind, i, j, number in actions:
        x = number % K
        if kind == "vote":
            if answers.get((i, j)) != x:
                oracle.update(i, j, x)
            live.update(i, j, x)
            answers[i, j] = x
        elif kind == "retract":
            if (i, j) not in answers:
                with pytest.raises(KeyError, match="has no vote"):
                    live.retract(i, j)
                continue
            live.retract(i, j)
            oracle.retract(i, j)
            del answers[i, j]
        elif kind == "gold":
            live.set_gold(i, x)
            oracle.gold[i] = x
        else:
            live.set_gold(i, None)
            oracle.gold.pop(i, None)
    for i in TASKS[:3]:
        expected = oracle.mu(i)
        if i not in oracle.gold:
            expected = plain.stated(oracle.log_weights(i), oracle.counts(i), oracle.prior, doubt)
        np.testing.assert_allclose(live.posterior(i), expected, atol=1e-9)
    for j in WORKERS:
        assert live.skill(j) == pytest.approx(oracle.skill(j), abs=1e-9)


def test_retracting_every_vote_leaves_exactly_the_prior() -> None:
    live = FastSBIC(classes=["a", "b", "c"])
    for j in WORKERS:
        live.update("t", j, "b")
    for j in WORKERS[::-1]:
        live.retract("t", j)
    assert live.posterior("t").tolist() == [1 / 3, 1 / 3, 1 / 3]
    assert all(live.skill(j) == 2 / 3 for j in WORKERS)


def test_the_same_vote_again_changes_nothing() -> None:
    live = FastSBIC(classes=[0, 1])
    before = live.update("t", "w", 1)
    assert live.update("t", "w", 1).tolist() == before.tolist()
    assert live.skill("w") == (2 / 3 + 2) / 4


def test_replace_needs_a_vote_and_a_known_class() -> None:
    live = FastSBIC(classes=[0, 1])
    with pytest.raises(KeyError, match="has no vote"):
        live.replace("t", "w", 1)
    live.update("t", "w", 1)
    with pytest.raises(ValueError, match="not one of the classes"):
        live.replace("t", "w", 7)
    assert live.replace("t", "w", 0)[0] == pytest.approx(2 / 3)


def test_live_votes_need_declared_classes() -> None:
    with pytest.raises(ValueError, match="classes"):
        FastSBIC().update("t", "w", 1)


def test_a_task_unanimous_beyond_the_floating_range_falls_back_to_logarithms() -> None:
    workers = np.arange(5000)
    votes = (np.zeros(5000, int), workers, np.ones(5000, int))
    model = FastSBIC(classes=[0, 1, 2], alpha=8, beta=1).fit(votes)
    assert model.probas_[0].tolist() == [0.0, 1.0, 0.0]
    assert np.isfinite(model.skills_).all()
    turned = (np.zeros(10000, int), np.arange(10000), np.repeat([1, 0], 5000))
    for classes in ([0, 1], [0, 1, 2]):
        model = FastSBIC(classes=classes, alpha=8, beta=1).fit(turned)
        np.testing.assert_allclose(model.probas_[0, :2], 0.5, atol=1e-9)


def test_the_pass_clips_p_as_streaming_does() -> None:
    assert _steps.P_MIN == streaming.P_MIN


@pytest.mark.parametrize("name", ["birds", "rte", "temp", "weather", "music", "labelme"])
def test_fit_equals_the_plain_form_on_real_data(data_dir: Path, name: str) -> None:
    votes, _ = load(data_dir, name)
    classes = sorted(set(votes["label"]))
    rows = [
        (i, j, classes.index(x))
        for i, j, x in zip(votes["task"], votes["worker"], votes["label"], strict=True)
    ]
    last = {(i, j): n for n, (i, j, _) in enumerate(rows)}
    rows = [r for n, r in enumerate(rows) if last[r[0], r[1]] == n]
    model = FastSBIC().fit(votes)
    m, skills = plain.fast(rows, len(classes))
    np.testing.assert_allclose(
        model.probas_, [plain.softmax(m[i]) for i in model.tasks_], atol=1e-9
    )
    np.testing.assert_allclose(model.skills_, [skills[j] for j in model.workers_], atol=1e-9)
