# ruff: noqa: N803, N806 -- the names of the paper
"""COLA: the bound at every update, the updates against plain loops, clusters, seeds, figures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import betaln, digamma, gammaln

from aggregators import COLA
from aggregators._cola import Ascent, Hyper
from aggregators._cola_data import crowd
from aggregators._cola_start import start_ru, start_rz
from aggregators.cola import first_stage
from aggregators.votes import Votes, read_votes

from .data import classes, error, load
from .synthetic import ordinal


def hyper(M: int, N: int, **changes: Any) -> Hyper:
    values = {"beta_a": 1.0, "beta_b": 1.0, "alpha": 0.2 * M, "lambda_a": 10.0}
    return Hyper(**{**values, "lambda_b": 10.0 * M / N, **changes})


def started(votes: Votes, K1: int = 6, K2: int = 4, **changes: Any) -> Ascent:
    data = crowd(votes)
    random = np.random.default_rng(5)
    rz = start_rz(data, data.shares, K1, random)
    ru = start_ru(data, K2, random)
    return Ascent(data, hyper(votes.M, votes.N, **changes), data.shares, rz, ru)


def updates(run: Ascent) -> Iterator[str]:
    """The updates of a sweep one by one; after each the bound may be asked for."""
    n = run.tensor()
    run.update_workers(n, 10)
    yield "mu, v"
    run.update_items(n, 10)
    yield "nu, w"
    U = run.utility()
    run.update_rz(U)
    yield "rz"
    run.update_sticks_a()
    yield "gamma"
    P = run.evidence(U)
    run.update_ru(P)
    yield "ru"
    run.update_sticks_b()
    yield "eta"
    run.update_rY(P)
    yield "rY"
    run.update_classes()
    yield "a"
    run.sort_clusters()
    yield "order"


def assert_ascent(run: Ascent, sweeps: int) -> None:
    before = run.bound()
    for sweep in range(sweeps):
        for name in updates(run):
            now = run.bound()
            assert now >= before - 1e-9 * abs(before), (sweep, name, now - before)
            before = now


@pytest.mark.parametrize("m", [2, 3, 5])
@pytest.mark.parametrize("fixed", [False, True])
def test_no_update_lowers_the_bound(m: int, fixed: bool) -> None:
    votes = read_votes(*ordinal(m, tasks=80, workers=40, per_task=5, seed=m)[:3])
    prior = np.log(np.arange(1, m + 1) / sum(range(1, m + 1))) if fixed else None
    assert_ascent(started(votes, log_prior=prior), 15)
    data = crowd(votes)
    assert_ascent(Ascent(data, hyper(80, 40, lambda_b=10.0), data.shares), 8)


@pytest.mark.parametrize(("name", "sweeps"), [("web", 3), ("ac2", 1), ("trec_graded", 1)])
def test_no_update_lowers_the_bound_on_real_data(data_dir: Path, name: str, sweeps: int) -> None:
    votes = read_votes(load(data_dir, name)[0], classes=classes(data_dir, name))
    assert_ascent(started(votes, K1=15, K2=5), sweeps)


def test_the_bound_and_the_updates_are_the_formulas() -> None:
    """Plain loops over votes and clusters, from cola.md's and the paper's equations."""
    m = 3
    task, worker, label, _ = ordinal(m, tasks=12, workers=7, per_task=4, seed=9)
    votes = read_votes(task, worker, label, classes=range(m))
    run = started(votes, K1=3, K2=2)
    run.sweep()
    assert run.rz is not None
    h = run.hyper
    K1, K2 = 3, 2
    rows = list(zip(votes.task, votes.worker, votes.label, strict=True))

    def e(c: int, k: int) -> np.ndarray:
        out = np.zeros((m - 1, 2))
        for s in range(1, m):
            out[s - 1, int(c >= s)] = 0.5 if k >= s else -0.5
        return out

    U = np.zeros((K1, K2, m, m))
    for at in range(K1):
        for g in range(K2):
            for c in range(m):
                logits = [float((e(c, k) * (run.mu[at] + run.nu[g])).sum()) for k in range(m)]
                cost = sum(
                    run.v[at, s - 1, int(c >= s)] + run.w[g, s - 1, int(c >= s)]
                    for s in range(1, m)
                )
                for k in range(m):
                    U[at, g, c, k] = logits[k] - np.log(np.exp(logits).sum()) - cost / 8
    np.testing.assert_allclose(run.utility(), U, atol=1e-12)

    fit = sum(
        run.rz[i, at] * run.ru[j, g] * run.rY[j, c] * U[at, g, c, k]
        for j, i, k in rows
        for at in range(K1)
        for g in range(K2)
        for c in range(m)
    )
    log_pi = digamma(run.a) - digamma(run.a.sum())
    total = fit + (run.rY * (log_pi - np.log(run.rY))).sum()
    total -= gammaln(run.a.sum()) - gammaln(run.a).sum() - gammaln(h.alpha)
    total -= m * gammaln(h.alpha / m) + ((run.a - h.alpha / m) * log_pi).sum()
    for r, g12, beta in ((run.rz, run.gamma, h.beta_a), (run.ru, run.eta, h.beta_b)):
        L = r.shape[1]
        log_phi = np.zeros(L)
        for at in range(L):
            if at < L - 1:
                log_phi[at] += digamma(g12[at, 0]) - digamma(g12[at].sum())
            log_phi[at] += sum(digamma(g12[d, 1]) - digamma(g12[d].sum()) for d in range(at))
        total += (r * (log_phi - np.log(r))).sum()
        for g1, g2 in g12:
            total -= betaln(1, beta) - betaln(g1, g2)
            total -= (g1 - 1) * (digamma(g1) - digamma(g1 + g2))
            total -= (g2 - beta) * (digamma(g2) - digamma(g1 + g2))
    for mean, var, lam in ((run.mu, run.v, h.lambda_a), (run.nu, run.w, h.lambda_b)):
        total += 0.5 * (np.log(var * lam / 2) + 1 - lam / 2 * (var + mean**2)).sum()
    assert run.bound() == pytest.approx(total, abs=1e-8)

    # the label update, from the votes themselves
    logs = np.tile(log_pi, (votes.M, 1))
    for j, i, k in rows:
        for c in range(m):
            logs[j, c] += sum(
                run.rz[i, at] * run.ru[j, g] * U[at, g, c, k] for at in range(K1) for g in range(K2)
            )
    expected = np.exp(logs - logs.max(axis=1, keepdims=True))
    expected /= expected.sum(axis=1, keepdims=True)
    run.update_rY(run.evidence(run.utility()))
    np.testing.assert_allclose(run.rY, expected, atol=1e-10)


def test_the_same_seed_repeats_to_the_bit_and_threads_change_nothing() -> None:
    votes = ordinal(4, tasks=150, workers=60, per_task=5, seed=2)[:3]
    one, two = COLA(seed=3).fit(*votes), COLA(seed=3, n_jobs=3).fit(*votes)
    np.testing.assert_array_equal(one.probas_, two.probas_)
    np.testing.assert_array_equal(one.cluster_confusions_, two.cluster_confusions_)
    np.testing.assert_array_equal(one.elbo_history_, two.elbo_history_)


def test_clusters_of_a_clustered_crowd_are_found() -> None:
    """D2 of the paper's section 4.1: 300 tasks with 30 labels each, workers 200, 50, 50."""
    task, worker, label, truth = ordinal(
        5, tasks=300, workers=300, per_task=30, seed=0, sizes=(200, 50, 50)
    )
    model = COLA(seed=0, classes=range(5)).fit(task, worker, label)
    assert (model.labels_ != truth[np.array(model.tasks_)]).mean() < 0.02
    sizes = model.worker_cluster_probas_.sum(axis=0)
    assert sizes[0] > 170
    assert sizes[:3].sum() > 270
    assert (np.diff(sizes) <= 1e-9).all()
    np.testing.assert_allclose(model.cluster_confusions_.sum(axis=2), 1.0)
    assert model.cluster_confusions_.shape == (25, 5, 5)
    assert model.task_cluster_confusions_.shape == (10, 5, 5)
    assert (np.diag(model.cluster_confusions_[0]) > 0.4).all()


def test_converging_raises_the_bound_until_it_stands() -> None:
    votes = ordinal(5, tasks=200, workers=100, per_task=6, seed=4)[:3]
    short, long = COLA(seed=1).fit(*votes), COLA(seed=1, converge=True).fit(*votes)
    assert long.elbo_ > short.elbo_
    assert long.n_iter_ > short.n_iter_
    for model in (short, long):
        history = model.elbo_history_
        assert (np.diff(history) >= -1e-9 * abs(history[0])).all()


def test_tuning_finds_hyper_parameters_with_a_higher_bound() -> None:
    votes = ordinal(3, tasks=60, workers=30, per_task=5, seed=6)[:3]
    plain = COLA(restarts=1).fit(*votes)
    tuned = COLA(restarts=1, tune=True).fit(*votes)
    assert tuned.elbo_ > plain.elbo_
    assert tuned.hyper_ != plain.hyper_
    ratio = tuned.hyper_["lambda_b"] / tuned.hyper_["lambda_a"]
    assert ratio == pytest.approx(plain.hyper_["lambda_b"] / plain.hyper_["lambda_a"])


def test_few_workers_are_clusters_of_their_own() -> None:
    votes = ordinal(3, tasks=60, workers=8, per_task=5, seed=7)[:3]
    model = COLA(classes=range(3)).fit(*votes)
    assert model.worker_clusters_.tolist() == list(range(8))
    assert model.cluster_confusions_.shape == (8, 3, 3)


@pytest.mark.parametrize(
    "params", [{"worker_clusters": 0}, {"beta_a": 0.0}, {"alpha": -1.0}, {"restarts": 0}]
)
def test_parameters_out_of_range_are_refused(params: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(params))):
        COLA(**params).fit([1], [1], [1])


def test_the_first_stage_alone_is_already_better_than_the_majority(data_dir: Path) -> None:
    votes, gold = load(data_dir, "web")
    read = read_votes(votes, classes=classes(data_dir, "web"))
    rY = first_stage(crowd(read), hyper(read.M, read.N))
    found = {i: read.classes[x] for i, x in zip(read.tasks, rY.argmax(axis=1), strict=True)}
    assert sum(found[i] != x for i, x in gold.items()) / len(gold) < 0.13


FIGURES = {"web": 0.108, "ac2": 0.226, "trec_graded": 0.485, "rte": 0.073, "birds": 0.14}


@pytest.mark.parametrize("name", FIGURES)
def test_errors_on_real_data_are_those_of_the_recipe(data_dir: Path, name: str) -> None:
    votes, gold = load(data_dir, name)
    model = COLA(classes=classes(data_dir, name)).fit(votes)
    assert error(model, gold) <= FIGURES[name]
