"""What a run hands over: with its bases and p the live rules say what the method says."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aggregators import COLA, DawidSkene, SortedSBIC
from aggregators.handover import largest_confusions
from connector.reconcile.result import Result, compute
from connector.reconcile.snapshot import Snapshot

from .crowds import (
    crowd,
    log_prior,
    log_sum,
    plain_m,
    plain_p,
    snapshot,
    snapshots,
    softmax,
    votes_of,
)

METHODS = ["sorted_sbic", "cola", "dawid_skene"]


def free_of(result: Result, task: int) -> list[float]:
    return softmax(plain_m(result.snapshot, result.base, result.p, task))


@settings(max_examples=20, deadline=None)
@given(snapshots(), st.sampled_from(METHODS))
def test_base_and_votes_add_up_to_the_posteriors(s: Snapshot, method: str) -> None:
    result = compute(s, method)
    for task in range(len(s.tasks)):
        assert sum(result.probas[task]) == pytest.approx(1)
        if task not in s.truth:
            np.testing.assert_allclose(free_of(result, task), result.probas[task], atol=1e-9)


@settings(max_examples=20, deadline=None)
@given(snapshots(), st.sampled_from(METHODS))
def test_p_is_the_workers_share_of_right_answers_with_gold_as_certain(
    s: Snapshot, method: str
) -> None:
    result = compute(s, method)
    for task, x in s.truth.items():
        assert result.probas[task].tolist() == [float(y == x) for y in range(s.config.K)]
    for worker, p in enumerate(result.p):
        assert p == pytest.approx(plain_p(s, result.probas, worker), abs=1e-12)


@settings(max_examples=15, deadline=None)
@given(snapshots(), st.sampled_from(["cola", "dawid_skene"]))
def test_the_evidence_of_other_methods_is_that_of_one_coin_workers(
    s: Snapshot, method: str
) -> None:
    """So that `doubt` keeps its meaning: log sum exp(m) is that of the prior plus the weights."""
    result = compute(s, method)
    zeros = np.zeros_like(result.base)
    for task in range(len(s.tasks)):
        weights = plain_m(s, zeros, result.p, task)
        prior = log_prior(s, task)
        want = log_sum([a + b for a, b in zip(prior, weights, strict=True)])
        got = log_sum(plain_m(s, result.base, result.p, task))
        assert got == pytest.approx(want, abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(snapshots())
def test_sorted_sbic_hands_over_its_own_log_weights(s: Snapshot) -> None:
    stated = len(set(s.config.class_prior)) > 1
    model = SortedSBIC(
        alpha=s.config.alpha,
        beta=s.config.beta,
        classes=range(s.config.K),
        prior=s.config.class_prior if stated else None,
    ).fit(s.task, s.worker, s.label, gold=dict(s.truth) or None)
    result = compute(s, "sorted_sbic")
    for row, task in enumerate(model.tasks_):
        shift = [
            own - math.log(v)
            for own, v in zip(log_prior(s, task), s.config.class_prior, strict=True)
        ]
        np.testing.assert_allclose(
            plain_m(s, result.base, result.p, task), model.log_weights_[row] + shift, atol=1e-9
        )


@pytest.mark.parametrize("method", METHODS)
def test_a_gold_tasks_base_does_not_know_its_truth(method: str) -> None:
    """Whatever is declared to be its truth, its votes alone speak in its base."""
    votes, truth = crowd(2, tasks=20, seed=3)
    said = [free_of(compute(snapshot(votes, 2, truth={7: x}), method), 7) for x in (0, 1)]
    np.testing.assert_allclose(said[0], said[1], atol=1e-9)
    assert said[0].index(max(said[0])) == truth[7]


@pytest.mark.parametrize(("method", "model"), [("cola", COLA), ("dawid_skene", DawidSkene)])
def test_gold_changes_what_is_said_of_other_tasks(method: str, model: Any) -> None:
    votes, truth = crowd(2, tasks=30, good=0.65, seed=5)
    gold = dict(enumerate(truth[:10]))
    s = snapshot(votes, 2, truth=gold)
    want = model(classes=range(2)).fit(s.task, s.worker, s.label, gold=gold)
    blind = model(classes=range(2)).fit(s.task, s.worker, s.label)
    result = compute(s, method)
    for row, task in enumerate(want.tasks_):
        np.testing.assert_allclose(result.probas[task], want.probas_[row], atol=1e-12)
    order = np.argsort(want.tasks_)
    assert np.abs(want.probas_[order][10:] - blind.probas_[order][10:]).max() > 1e-3


def test_what_a_method_rules_out_can_come_back() -> None:
    """Entries end 700 below the largest, however sure the method is."""
    votes = [(i, j, i % 2) for i in range(40) for j in range(40)]
    result = compute(snapshot(votes, 2), "dawid_skene")
    assert np.isfinite(result.base).all()
    assert (result.base.max(axis=1) - result.base.min(axis=1)).max() <= 700.0


@pytest.mark.parametrize("method", METHODS)
def test_the_same_snapshot_gives_the_same_bits(method: str) -> None:
    votes, truth = crowd(3, tasks=15, seed=9)
    s = snapshot(votes, 3, kind="ordinal", truth=dict(enumerate(truth[:5])))
    one, two = compute(s, method), compute(s, method)
    assert one.base.tobytes() == two.base.tobytes()
    assert one.p.tobytes() == two.p.tobytes()


@settings(max_examples=30, deadline=None)
@given(snapshots(), st.integers(1, 12))
def test_confusions_are_expected_counts_the_largest_first(s: Snapshot, most: int) -> None:
    result = compute(s, "sorted_sbic")
    K = s.config.K
    got: dict[int, list[tuple[int, int, float]]] = {}
    for cells in largest_confusions(s.task, s.worker, s.label, result.probas, most):
        for j, true, given_, count in zip(*(c.tolist() for c in cells), strict=True):
            got.setdefault(j, []).append((true, given_, count))
    for worker in range(len(s.workers)):
        want = {
            (true, x): math.fsum(
                float(result.probas[i][true])
                for i, j, given_ in votes_of(s)
                if j == worker and given_ == x
            )
            for true in range(K)
            for x in range(K)
        }
        large = {cell: count for cell, count in want.items() if count > 1e-6}
        counts = [count for _, _, count in got[worker]]
        assert len(counts) == min(most, len(large))
        assert counts == sorted(counts, reverse=True)
        np.testing.assert_allclose(counts, sorted(large.values(), reverse=True)[:most])
        for true, given_, count in got[worker]:
            assert count == pytest.approx(want[true, given_])


def test_clusters_add_up_to_all_votes() -> None:
    votes, _ = crowd(3, tasks=20, seed=2)
    s = snapshot(votes, 3, kind="ordinal")
    result = compute(s, "auto")
    assert result.algorithm == "cola"
    assert result.cluster is not None
    assert result.cluster_confusions is not None
    assert result.cluster_confusions.sum() == pytest.approx(len(votes))
    given_ = np.bincount(s.label, minlength=3)
    np.testing.assert_allclose(result.cluster_confusions.sum(axis=(0, 1)), given_)
