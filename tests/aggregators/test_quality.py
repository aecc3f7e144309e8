"""Flags on crowds that are known, and the exact tests that they rest on."""

from __future__ import annotations

import doctest
from typing import Any

import numpy as np
import pytest
from scipy import stats

from aggregators import SortedSBIC, quality
from aggregators._types import FloatArray, IntArray
from aggregators.quality import FLAGS, expected_confusions, flag_workers
from aggregators.quality.accuracy import grid, intervals, log_likelihoods
from aggregators.quality.beliefs import Beliefs, beliefs
from aggregators.quality.drift import _latest
from aggregators.quality.information import information
from tests.bench.flags import ALARMS, FOUND_BY, flagged, looks
from tests.bench.workers import KINDS, PROJECTS, simulate

NOMINAL = [name for name, project in PROJECTS.items() if not project.ordinal]


def certain(truth: list[int], K: int = 2) -> FloatArray:
    return np.eye(K)[truth]


def of(
    task: Any, worker: Any, label: Any, posteriors: Any, truth: IntArray | None = None
) -> Beliefs:
    posteriors = np.asarray(posteriors, dtype=float)
    return beliefs(
        np.asarray(task),
        np.asarray(worker),
        np.asarray(label),
        posteriors,
        np.full(len(posteriors), -1) if truth is None else truth,
        alpha=2.0,
        beta=1.0,
        class_prior=None,
        weighs=None,
        workers=int(np.max(worker)) + 1,
    )


@pytest.mark.parametrize("name", NOMINAL)
def test_honest_people_are_not_flagged_however_often_one_looks(name: str) -> None:
    project = PROJECTS[name]
    ever = [
        s
        for seed in range(3)
        for s in looks(simulate(project, ["honest"] * 60, 150, seed), project)
    ]
    for flag in ALARMS:
        # 180 workers at 1 %: more than 6 of them would come by chance once in 300 times.
        assert sum(flag in seen for seen in ever) <= 6


def test_spammers_constant_answerers_and_reversed_ones_are_found() -> None:
    project = PROJECTS["4 classes"]
    kinds = ["honest"] * 40 + [kind for kind in KINDS[1:] for _ in range(3)]
    found: dict[str, list[bool]] = {kind: [] for kind in KINDS}
    for seed in range(3):
        for kind, flag in zip(
            kinds, flagged(simulate(project, kinds, 300, seed), project), strict=True
        ):
            found[kind].append(flag.flag in FOUND_BY.get(kind, {"ok"}))
    share = {kind: np.mean(hits) for kind, hits in found.items()}
    assert share["spammer"] == share["constant"] == 1.0
    assert min(share["frequencies"], share["drifter"]) >= 0.7
    assert share["honest"] >= 0.95


def test_answers_that_are_wrong_as_a_rule_are_adversarial() -> None:
    project = PROJECTS["binary"]
    kinds = ["honest"] * 30 + ["adversarial"] * 3
    flags = flagged(simulate(project, kinds, 150, 0), project)
    assert {flag.flag for flag in flags[30:]} == {"adversarial"}
    assert "turned round" in flags[30].reason


def test_one_answer_to_everything_is_constant_only_where_the_classes_vary() -> None:
    task = np.repeat(np.arange(400), 4)
    worker = np.tile(np.arange(4), 400)
    for rare, flag in ((0.5, "constant"), (0.0, "too_few")):
        truth = (np.arange(400) < 400 * rare).astype(int)
        label = np.where(worker < 3, truth[task], 0)
        said = flag_workers(task, worker, label, certain(list(truth)))
        assert said[3].flag == ("spammer" if rare else flag)  # 400 votes show no accuracy either
        assert ("class 0 in 400 of 400 votes" in said[3].reason) == bool(rare)


def test_the_good_workers_of_a_project_with_a_rare_class_are_not_constant() -> None:
    random = np.random.default_rng(1)
    truth = (random.random(1500) < 0.02).astype(int)
    task, worker = np.repeat(np.arange(1500), 3), np.tile(np.arange(3), 1500)
    label = np.where(random.random(4500) < 0.97, truth[task], 1 - truth[task])
    model = SortedSBIC(classes=[0, 1]).fit(task, worker, label)
    said = flag_workers(task, worker, label, model.probas_, class_prior=[0.5, 0.5])
    assert {flag.flag for flag in said} == {"ok"}


def test_to_give_the_likelier_answer_every_time_is_not_constant() -> None:
    """However often: only tasks that are probably something else show it."""
    truth = np.arange(600) % 2
    posteriors = np.concatenate([np.tile([0.7, 0.3], (300, 1)), certain(list(truth))])
    task = np.concatenate([np.arange(300), np.arange(300, 900), np.arange(300, 900)])
    worker = np.repeat([0, 1, 2], [300, 600, 600])  # two more show what mistakes are like
    label = np.concatenate([np.zeros(300, int), truth, truth])
    said, *_ = flag_workers(task, worker, label, posteriors, weighs=[False, True, True])
    assert said.flag == "too_few"


def test_gold_that_is_failed_counts_against_a_crowd_that_agrees() -> None:
    """Three who copy from each other pass by each other's votes, not by gold."""
    truth = np.arange(200) % 2
    shared = 1 - truth
    shared[40:] = truth[40:]
    task, worker = np.repeat(np.arange(200), 3), np.tile(np.arange(3), 200)
    label = shared[task]
    gold = np.where(np.arange(200) < 15, truth, -1)
    said = flag_workers(task, worker, label, certain(list(shared)), truth=gold)
    assert {flag.flag for flag in said} == {"gold_failed"}
    assert said[0].reason.startswith("0 of 15 gold tasks right")
    assert said[0].numbers["gold"] == 15


def test_a_worker_who_becomes_careless_is_drifting() -> None:
    random = np.random.default_rng(2)
    truth = random.integers(0, 2, 300)
    task = np.arange(300)
    late = task >= 200
    label = np.where(late & (random.random(300) < 0.5), 1 - truth, truth)
    said = flag_workers(task, np.zeros(300, int), label, certain(list(truth)), truth=truth)
    assert said[0].flag == "drifting"
    better = flag_workers(
        task, np.zeros(300, int), label[::-1], certain(list(truth[::-1])), truth=truth[::-1]
    )
    assert better[0].flag == "ok"


def test_few_votes_say_so() -> None:
    said = flag_workers([0, 1], [0, 0], [0, 1], certain([0, 1]) * 0.9 + 0.05, workers=2)
    assert [flag.flag for flag in said] == ["too_few", "too_few"]
    assert said[1].reason == "no votes"
    assert said[0].numbers["votes"] == 2
    assert [f.flag for f in flag_workers([], [], [], np.ones((1, 2)) / 2, workers=1)] == ["too_few"]


def test_votes_that_nobody_else_has_looked_at_prove_nothing() -> None:
    """A worker alone on every task agrees with the posterior, which is their own vote."""
    n = 500
    posterior = np.full((n, 2), 0.1)
    label = np.arange(n) % 2
    posterior[np.arange(n), label] = 0.9
    (said,) = flag_workers(np.arange(n), np.zeros(n, int), label, posterior, alpha=9, beta=1)
    assert said.flag == "too_few"


def test_leaving_a_vote_out_gives_what_the_others_alone_say() -> None:
    p = np.array([0.9, 0.7, 0.6])
    labels = np.array([0, 0, 1])

    def posterior(who: list[int]) -> FloatArray:
        weight = np.ones(3) / 3
        for j in who:
            likely = np.full(3, (1 - p[j]) / 2)
            likely[labels[j]] = p[j]
            weight = weight * likely
        return np.asarray(weight / weight.sum())

    found = of([0, 0, 0], [0, 1, 2], labels, [posterior([0, 1, 2])])
    object.__setattr__(found, "p", p)
    for j in range(3):
        others = posterior([i for i in range(3) if i != j])
        np.testing.assert_allclose(found.rows(np.array([j]))[0], others, rtol=1e-9)
        assert found.of(np.full(3, 2))[j] == pytest.approx(others[2])
        assert found.top[0][j] == others.argmax()
        assert found.top[1][j] == pytest.approx(others.max())


def test_with_certain_truths_the_likelihood_is_the_binomial_s() -> None:
    truth = np.zeros(30, int)
    label = (np.arange(30) < 9).astype(int)
    found = of(np.arange(30), np.zeros(30, int), label, certain([0] * 30), truth)
    at = grid(2, False, found.frequencies)
    logs = log_likelihoods(found, at, 1, np.arange(30))
    want = stats.binom.logpmf(21, 30, at.accuracy) - np.log(
        float(stats.binom(30, 0.5).pmf(21)) / 0.5**30
    )
    np.testing.assert_allclose(logs[0] - logs[0, at.chance], want - want[at.chance], atol=1e-9)
    said = intervals(logs, at, 0.01)
    assert said.estimate[0] == pytest.approx(22 / 32, abs=1e-3)  # the mean of its Beta(22, 10)
    assert (
        said.lower[0]
        < stats.beta(22, 10).ppf(0.005)
        < stats.beta(22, 10).ppf(0.995)
        < said.upper[0]
    )


def test_the_interval_holds_at_every_look() -> None:
    """1,000 workers of accuracy 0.7 looked at after every vote: 1 % may leave it, ever."""
    random = np.random.default_rng(3)
    right = np.cumsum(random.random((1000, 400)) < 0.7, axis=1)
    at = grid(2, False, np.full(2, 0.5))
    left = np.zeros(1000, bool)
    for n in range(1, 401):
        k = right[:, n - 1][:, None]
        logs = k * np.log(at.accuracy) + (n - k) * np.log1p(-at.accuracy)
        said = intervals(logs, at, 0.01)
        left |= (said.lower > 0.7) | (said.upper < 0.7)
    assert left.mean() <= 0.01


def test_a_change_is_fishers_exact_test() -> None:
    right = np.array([1] * 38 + [0] * 2 + [1, 0, 0, 1, 0] * 4)
    found = _latest(np.zeros(60, int), right, 1.0)
    assert found is not None
    table = np.array([[8, 12], [38, 2]])
    assert found.chance == pytest.approx(stats.fisher_exact(table, alternative="less").pvalue)
    # Of two classes that differ, a batch of the harder one is no change.
    true = np.array([0] * 40 + [1] * 20)
    assert _latest(true, right, 1.0) is None


def test_information_is_youdens_index_and_its_error_that_of_random_orders() -> None:
    random = np.random.default_rng(4)
    truth = (np.arange(80) < 24).astype(int)
    label = np.where(random.random(80) < 0.75, truth, 1 - truth)
    found = of(np.arange(80), np.zeros(80, int), label, certain(list(truth)), truth)
    said = information(found, 1, ordinal=False)
    youden = label[truth == 1].mean() - label[truth == 0].mean()
    assert said.J[0] == pytest.approx(youden)
    shuffled = [random.permutation(label) for _ in range(20_000)]
    spread = np.std([x[truth == 1].mean() - x[truth == 0].mean() for x in shuffled])
    assert said.error[0] == pytest.approx(spread, rel=0.03)


def test_confusions_are_the_posteriors_summed_over_the_votes() -> None:
    P = np.array([[0.8, 0.2, 0.0], [0.1, 0.3, 0.6], [0.2, 0.2, 0.6]])
    task, worker, label = np.array([0, 1, 2, 0]), np.array([0, 0, 0, 2]), np.array([0, 2, 2, 1])
    found = expected_confusions(task, worker, label, P, np.array([-1, -1, 1]))
    want = {(0, 0, 0): 0.8, (0, 1, 0): 0.2, (0, 0, 2): 0.1, (0, 1, 2): 1.3, (0, 2, 2): 0.6}
    want |= {(2, 0, 1): 0.8, (2, 1, 1): 0.2}
    got = zip(found.worker, found.true, found.given, found.expected, strict=True)
    assert {(int(w), int(c), int(x)): pytest.approx(n) for w, c, x, n in got} == want
    assert list(zip(found.worker, found.true, found.given, strict=True)) == sorted(want)


def test_the_package_s_example_runs() -> None:
    assert doctest.testmod(quality).failed == 0


def test_arrays_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="one length"):
        flag_workers([0, 1], [0], [0, 1], np.ones((2, 2)) / 2)
    with pytest.raises(ValueError, match="tasks x classes"):
        flag_workers([0], [0], [0], np.ones(2) / 2)


def test_every_flag_has_its_place() -> None:
    assert FLAGS == (
        "adversarial",
        "spammer",
        "constant",
        "gold_failed",
        "drifting",
        "too_few",
        "ok",
    )
