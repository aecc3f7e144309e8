"""How many labels a crowd needs: Theorems 1 and 2 of the SBIC paper.

Workers' accuracies are Beta(alpha, beta), each worker gives ``L`` labels, each task gets ``R`` on
average, both classes are equally likely. Source: Manino, Tran-Thanh, Jennings (NeurIPS 2019),
section 4. The printed bound of Theorem 1, exp(-R log F) with F < 1, grows with R; F^R is meant.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from ._types import FloatArray

Variant: TypeAlias = Literal["fast", "sorted"]
Policy: TypeAlias = Literal["uniform", "uncertainty"]

STEP = 0.01
"""Width of a cell, in nats, of the grid on which `expected_error` adds log-odds."""

LIMIT_R = 100_000


def known_answers(past: int, alpha: float, beta: float) -> tuple[FloatArray, FloatArray]:
    """What is known of a worker after ``past`` answers whose truth is known (equation 10).

    Returns:
        P(k), the chance of k right answers, and the accuracy then believed, both length past + 1.
    """
    from scipy.special import betaln, gammaln

    if past < 0:
        raise ValueError(f"L must be at least 1, it is {past + 1}")
    if not (alpha > 0 and beta > 0):
        raise ValueError(f"alpha and beta must be positive, they are {alpha}, {beta}")
    k = np.arange(past + 1, dtype=np.float64)
    choose = gammaln(past + 1) - gammaln(k + 1) - gammaln(past - k + 1)
    chance = np.exp(choose + betaln(k + alpha, past - k + beta) - betaln(alpha, beta))
    return chance, (k + alpha) / (past + alpha + beta)


def f_sorted(L: int, alpha: float, beta: float) -> float:
    """F of Theorem 1 for Sorted SBIC (equation 11)."""
    chance, p = known_answers(L - 1, alpha, beta)
    return float((chance * 2.0 * np.sqrt(p * (1.0 - p))).sum())


def f_fast(L: int, alpha: float, beta: float) -> float:
    """F of Theorem 1 for Fast SBIC (equation 12): the mean over a worker's first L labels."""
    _ = known_answers(L - 1, alpha, beta)
    return float(np.mean([f_sorted(h, alpha, beta) for h in range(1, L + 1)]))


def g_sorted(L: int, alpha: float, beta: float) -> float:
    """G of Theorem 2 for Sorted SBIC (equation 14)."""
    chance, p = known_answers(L - 1, alpha, beta)
    return float((chance * np.log(p / (1.0 - p)) * (2.0 * p - 1.0)).sum())


def g_fast(L: int, alpha: float, beta: float) -> float:
    """G of Theorem 2 for Fast SBIC (equation 15)."""
    _ = known_answers(L - 1, alpha, beta)
    return float(np.mean([g_sorted(h, alpha, beta) for h in range(1, L + 1)]))


def slope(
    L: int,
    alpha: float,
    beta: float,
    variant: Variant = "fast",
    policy: Policy = "uniform",
) -> float:
    """By how much the log of the error bound falls with each further label per task."""
    if policy == "uniform":
        f = f_fast if variant == "fast" else f_sorted
        return float(-np.log(f(L, alpha, beta)))
    g = g_fast if variant == "fast" else g_sorted
    return g(L, alpha, beta)


def error_bound(
    R: float,
    L: int,
    alpha: float,
    beta: float,
    variant: Variant = "fast",
    policy: Policy = "uniform",
) -> float:
    """The theorems' bound with the constant 1/2, which is the error without any label.

    Both theorems hold up to a constant. Under uniform sampling 1/2 has been enough wherever it was
    tried. Under uncertainty sampling the first labels, given before anything is known of anybody,
    cost extra, and only the slope is to be trusted (seen, Fast, Beta(4, 3), L = 10, R = 10, 20,
    30, 40: 0.24, 0.13, 0.044, 0.009 simulated against 0.13, 0.035, 0.009, 0.002 here): about ten
    labels a task more than this says, though never more than uniform sampling needs.
    """
    return 0.5 * float(np.exp(-R * slope(L, alpha, beta, variant, policy)))


def expected_error(R: int, L: int, alpha: float, beta: float, variant: Variant = "fast") -> float:
    """Expected error under uniform sampling, once workers' earlier tasks are as good as known.

    The sum of R independent log-odds, each of a worker with a random past, computed on a grid;
    where Theorem 1 bounds its tail, this is the tail. Early on, tasks are not as good as known,
    and the real error lies above (seen for Beta(4, 3), L = 10, R = 10 and 40: Fast 0.21 and 0.051
    here, 0.29 and 0.080 simulated, 0.36 and 0.13 by the bound; Sorted 0.16 and 0.024, 0.25 and
    0.030, 0.31 and 0.072). Uncertainty sampling has no such form: see `error_bound`.
    """
    if R < 0:
        raise ValueError(f"R must not be negative, it is {R}")
    pasts = range(L) if variant == "fast" else [L - 1]
    step = _log_odds(pasts, alpha, beta)
    total = _power(step, R)
    middle = len(total) // 2
    return float(total[:middle].sum() + 0.5 * total[middle])


def labels_needed(
    error: float,
    L: int,
    alpha: float,
    beta: float,
    variant: Variant = "fast",
    policy: Policy = "uniform",
) -> int:
    """Labels per task that suffice for an error of ``error``: where `error_bound` reaches it.

    For uncertainty sampling see there: the figure leaves out what the first labels cost.

    Raises:
        ValueError: error not in (0, 0.5], or out of this crowd's reach.
    """
    if not 0.0 < error <= 0.5:
        raise ValueError(f"error must be in (0, 0.5], it is {error}")
    rate = slope(L, alpha, beta, variant, policy)
    if rate * LIMIT_R <= np.log(0.5 / error):
        raise ValueError(f"an error of {error} is out of this crowd's reach")
    return int(np.ceil(np.log(0.5 / error) / rate))


def labels_at_least(
    error: float, L: int, alpha: float, beta: float, variant: Variant = "fast"
) -> int:
    """Labels per task below which uniform sampling cannot do: where `expected_error` reaches it.

    The need lies between this and `labels_needed`.
    """
    low, high = 0, labels_needed(error, L, alpha, beta, variant)
    while low < high:
        middle = (low + high) // 2
        if expected_error(middle, L, alpha, beta, variant) <= error:
            high = middle
        else:
            low = middle + 1
    return low


def _log_odds(pasts: range | list[int], alpha: float, beta: float) -> FloatArray:
    """Distribution of one vote's log-odds for the truth, on a grid centred at 0.

    A mass between two cells is shared between them, so that the mean is kept.
    """
    values: list[FloatArray] = []
    chances: list[FloatArray] = []
    for past in pasts:
        chance, p = known_answers(past, alpha, beta)
        odds = np.log(p / (1.0 - p))
        values += [odds, -odds]
        chances += [chance * p / len(pasts), chance * (1.0 - p) / len(pasts)]
    at = np.concatenate(values) / STEP
    mass = np.concatenate(chances)
    half = int(np.ceil(np.abs(at).max())) + 1
    grid = np.zeros(2 * half + 1)
    low = np.floor(at).astype(np.int64)
    part = at - low
    np.add.at(grid, low + half, mass * (1.0 - part))
    np.add.at(grid, low + half + 1, mass * part)
    return grid


def _power(step: FloatArray, R: int) -> FloatArray:
    """Distribution of the sum of R independent steps."""
    from scipy.signal import fftconvolve

    total = np.ones(1)
    square = step
    while R:
        if R & 1:
            total = np.maximum(fftconvolve(total, square), 0.0)
        R >>= 1
        if R:
            square = np.maximum(fftconvolve(square, square), 0.0)
    return np.asarray(total, dtype=np.float64)
