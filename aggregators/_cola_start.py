# ruff: noqa: N803 -- the names of the paper
"""Where COLA's restarts begin: workers clustered by how they answer the first stage's labels."""

from __future__ import annotations

import numpy as np

from ._cola_data import Crowd
from ._types import FloatArray, IntArray

SHRINK = 5.0
"""Votes' worth of the crowd's mean row that each row of a worker's confusion begins with."""


def start_rz(data: Crowd, rY: FloatArray, K1: int, random: np.random.Generator) -> FloatArray:
    """N x K1: 0.9 in the cluster that k-means gives, the rest spread."""
    counts = np.asarray(data.counted @ rY).reshape(data.N, data.m, data.m).transpose(0, 2, 1)
    mean = counts.sum(axis=0)
    mean /= np.maximum(mean.sum(axis=1, keepdims=True), 1e-300)
    rows = counts + SHRINK * mean
    rows /= np.maximum(rows.sum(axis=2, keepdims=True), 1e-300)
    own = k_means(rows.reshape(data.N, -1), K1, random)
    rz = np.full((data.N, K1), 0.1 / K1)
    rz[np.arange(data.N), own] += 0.9
    return rz


def start_ru(data: Crowd, K2: int, random: np.random.Generator) -> FloatArray:
    """M x K2: one cluster and noise. Starts from the votes let task clusters become classes."""
    ru = np.full((data.M, K2), 0.1 / K2)
    ru[:, 0] += 0.9
    ru *= random.gamma(50.0, 1.0 / 50.0, size=ru.shape)
    ru /= ru.sum(axis=1, keepdims=True)
    return ru


def k_means(points: FloatArray, K: int, random: np.random.Generator, rounds: int = 20) -> IntArray:
    """Cluster of each point: k-means++ seeds, then Lloyd's iterations."""
    count = len(points)
    centres = points[[random.integers(count)]]
    nearest = ((points - centres[0]) ** 2).sum(axis=1)
    while len(centres) < min(K, count):
        total = nearest.sum()
        chance = nearest / total if total > 0.0 else np.full(count, 1.0 / count)
        new = points[random.choice(count, p=chance)]
        centres = np.vstack([centres, new])
        nearest = np.minimum(nearest, ((points - new) ** 2).sum(axis=1))
    own = np.zeros(count, dtype=np.int64)
    for _ in range(rounds):
        far = (points**2).sum(axis=1)[:, None] - 2.0 * points @ centres.T + (centres**2).sum(axis=1)
        before, own = own, far.argmin(axis=1)
        if (own == before).all():
            break
        size = np.bincount(own, minlength=len(centres))
        sums = np.zeros_like(centres)
        np.add.at(sums, own, points)
        centres = np.where(size[:, None] > 0, sums / np.maximum(size, 1)[:, None], centres)
    return own
