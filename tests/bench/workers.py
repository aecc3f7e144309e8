"""Crowds whose workers are known: honest people, spammers, constant answerers, drifters, ..."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aggregators._types import BoolArray, IntArray

NEAR = 0.6
"""Of the wrong answers of an ordinal crowd, so many are next to the truth."""


@dataclass(frozen=True)
class Project:
    """What the tasks are like.

    Attributes:
        K: number of classes.
        frequencies: of the classes.
        per_task: votes on each.
        ordinal: wrong answers are mostly near misses.
        skill: honest workers' accuracies: lowest and highest, uniform between.
        misleading: share of tasks on which everybody is at chance.
    """

    K: int
    frequencies: tuple[float, ...]
    per_task: int
    skill: tuple[float, float]
    ordinal: bool = False
    misleading: float = 0.05


PROJECTS = {
    "binary": Project(2, (0.5, 0.5), 5, (0.7, 0.95)),
    "binary, 3 votes a task": Project(2, (0.5, 0.5), 3, (0.7, 0.95)),
    "binary, one class 5 %": Project(2, (0.95, 0.05), 5, (0.7, 0.98)),
    "binary, mediocre": Project(2, (0.6, 0.4), 7, (0.62, 0.75)),
    "4 classes": Project(4, (0.4, 0.3, 0.2, 0.1), 5, (0.6, 0.95)),
    "4 classes, mediocre": Project(4, (0.25, 0.25, 0.25, 0.25), 7, (0.45, 0.65)),
    "5 in order": Project(5, (0.1, 0.2, 0.4, 0.2, 0.1), 5, (0.5, 0.9), ordinal=True),
}

KINDS = ("honest", "spammer", "frequencies", "constant", "adversarial", "trapped", "drifter")
"""What a worker does: the best they can; answer at random; at random as frequent as the classes
are; one answer in 98 of 100; a wrong one in 90 of 100; honest but for gold, wrong there in 80 of
100, as one who works by habit and fails the traps; honest, then at random after 60 %."""

GOLD = 0.1
"""Share of the tasks whose truth is known."""


@dataclass(frozen=True)
class Simulated:
    """Votes in order of arrival, and what made them.

    Attributes:
        task: length V.
        worker: length V.
        label: length V.
        truth: length M.
        kind: length N, what each worker is.
        gold: length M, whether the truth is known.
    """

    task: IntArray
    worker: IntArray
    label: IntArray
    truth: IntArray
    kind: list[str]
    gold: BoolArray


def simulate(project: Project, kinds: list[str], votes_each: int, seed: int) -> Simulated:
    """So many votes of each worker, in an order in which all are at work at all times."""
    random = np.random.default_rng(seed)
    K, N = project.K, len(kinds)
    V = N * votes_each
    M = -(-V // project.per_task)
    truth = random.choice(K, M, p=project.frequencies)
    misleads = random.random(M) < project.misleading
    task = np.repeat(np.arange(M), project.per_task)[:V]
    # Rounds in which every worker has one vote: nobody has two on one task of a round.
    worker = np.concatenate([random.permutation(N) for _ in range(votes_each)])
    turn = np.repeat(np.arange(votes_each), N)
    kind = np.array(kinds)[worker]
    accuracy = random.uniform(*project.skill, N)[worker]
    accuracy[misleads[task]] = 1.0 / K
    c = truth[task]
    honest = np.where(random.random(V) < accuracy, c, _wrong(project, c, random))
    guess = random.integers(0, K, V)
    label = honest.copy()
    label[kind == "spammer"] = guess[kind == "spammer"]
    as_frequent = kind == "frequencies"
    label[as_frequent] = random.choice(K, V, p=project.frequencies)[as_frequent]
    one = random.integers(0, K, N)[worker]
    constant = (kind == "constant") & (random.random(V) < 0.98)
    label[kind == "constant"] = guess[kind == "constant"]
    label[constant] = one[constant]
    reversed_ = kind == "adversarial"
    wrong = (c + random.integers(1, K, V)) % K
    label[reversed_] = np.where(random.random(V) < 0.9, wrong, c)[reversed_]
    lost = (kind == "drifter") & (turn >= 0.6 * votes_each)
    label[lost] = guess[lost]
    gold = np.arange(M) % round(1 / GOLD) == 0
    # Drawn last, so that the votes of the other kinds are the same with these and without.
    fooled = (kind == "trapped") & gold[task]
    other = (c + random.integers(1, K, V)) % K
    label[fooled] = np.where(random.random(V) < 0.8, other, c)[fooled]
    return Simulated(task, worker, label, truth, kinds, gold)


def _wrong(project: Project, c: IntArray, random: np.random.Generator) -> IntArray:
    K = project.K
    anywhere: IntArray = (c + random.integers(1, K, len(c))) % K
    if not project.ordinal:
        return anywhere
    step = np.where(random.random(len(c)) < 0.5, 1, -1)
    step = np.where(c == 0, 1, np.where(c == K - 1, -1, step))
    return np.where(random.random(len(c)) < NEAR, c + step, anywhere)
