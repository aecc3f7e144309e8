"""Every method on every dataset."""

from __future__ import annotations

from typing import Any

import numpy as np

from .contest import Score, mean, ours, peer, peers
from .datasets import Datasets
from .report import Cell, Report, Say

ORDERS = 5
QUICK = {"birds", "rte", "web", "music"}
"""Datasets for a quick run, if they are there."""
RESTARTED = {"cola", "kos", "mc"}
STREAMED = {"fast_sbic", "sorted_sbic"}
OURS: list[tuple[str, dict[str, Any]]] = [
    ("majority", {}),
    ("fast_sbic", {}),
    ("sorted_sbic", {}),
    ("cola", {}),
    ("dawid_skene", {"tol": -1.0}),
    ("dawid_skene", {"tol": -1.0, "smoothing": 1.0}),
    ("one_coin_dawid_skene", {}),
    ("one_coin_dawid_skene", {"prior": "uniform"}),
    ("glad", {}),
    ("wawa", {}),
    ("amf", {}),
    ("kos", {}),
    ("mc", {}),
    ("triangular", {}),
    ("ordmix", {}),
    ("ome", {}),
]
MOST_VOTES = {"GLAD": 30_000, "MACE": 30_000}
"""Peers that take many minutes on more than this are left out there."""
TITLES = {
    "majority": "MV", "fast_sbic": "Fast", "sorted_sbic": "Sorted", "cola": "COLA",
    "dawid_skene": "DS", "one_coin_dawid_skene": "one-coin", "glad": "GLAD", "wawa": "Wawa",
    "amf": "AMF", "kos": "KOS", "mc": "MC", "triangular": "TE", "ordmix": "ORDMIX", "ome": "OME",
}  # fmt: skip


def title(name: str, params: dict[str, Any]) -> str:
    """Short name of one of ours with its options."""
    marks = {"smoothing": "+1", "prior": " flat"}
    return TITLES[name] + "".join(marks[p] for p in params if p in marks)


def measure(datasets: Datasets, quick: bool, say: Say) -> list[Report]:
    """Errors, likelihoods, calibration, seconds."""
    chosen = datasets.names()
    if quick:
        chosen = [n for n in chosen if n in QUICK] or chosen
    columns = [title(n, p) for n, p in OURS] + [f"ck {n}" for n in peers()]
    found: dict[str, dict[str, Score | None]] = {}
    for dataset in chosen:
        data = datasets.read(dataset)
        row: dict[str, Score | None] = {}
        for name, params in OURS:
            column = title(name, params)
            repeats = ORDERS if name in STREAMED | RESTARTED and not quick else 1
            row[column] = mean(
                [
                    ours(name, data.shuffled(s) if name in STREAMED else data, seed=s, **params)
                    for s in range(repeats)
                ]
            )
        for name in peers():
            large = len(data.votes) > MOST_VOTES.get(name, 10**9)
            row[f"ck {name}"] = None if large else peer(name, data)
        found[dataset] = row
        errors = ", ".join(f"{c} {s.error:.3f}" for c, s in row.items() if s is not None)
        say(f"{dataset}: {errors}")  # an interrupted run has said this much
    note = (
        "Fast and Sorted: mean of 5 random orders; COLA, KOS and MC: of 5 seeds. Ties count as "
        "the expected error of a random pick. DS: 100 rounds, +1: one pseudo vote a cell; flat: "
        "uniform class prior. ck: Crowd-Kit in the same run. -: not run there (minutes), or it "
        "raised, or it is binary only."
    )
    what = {"error": 3, "nll": 3, "ece": 3, "seconds": 2}
    return [
        Report(
            f"real_{field}",
            f"Real data: {field}",
            ["dataset", *columns],
            [[d, *(_cell(found[d][c], field) for c in columns)] for d in chosen],
            [note] if field == "error" else (),
            digits,
        )
        for field, digits in what.items()
    ]


def _cell(found: Score | None, field: str) -> Cell:
    return None if found is None else float(getattr(found, field))


PAPER_TABLE_2 = {
    "birds": [0.241, 0.278, 0.278, 0.278, 0.341, 0.260, 0.298, 0.194],
    "ducks": [0.306, 0.412, 0.412, 0.396, 0.412, 0.400, 0.405, 0.408],
    "rte": [0.100, 0.072, 0.075, 0.491, 0.079, 0.075, 0.072, 0.257],
    "temp": [0.057, 0.061, 0.061, 0.567, 0.095, 0.059, 0.062, 0.115],
}


def table_2(datasets: Datasets, quick: bool, say: Say) -> list[Report]:
    """SBIC's Table 2: alpha 2, beta 1, q 1/2."""
    methods: list[tuple[str, dict[str, Any]]] = [
        ("majority", {}),
        ("one_coin_dawid_skene", {"prior": "uniform", "alpha": 2.0}),
        ("amf", {}),
        ("kos", {}),
        ("mc", {}),
        ("fast_sbic", {}),
        ("sorted_sbic", {}),
        ("triangular", {}),
    ]
    rows: list[list[Cell]] = []
    repeats = 3 if quick else 20
    for dataset, printed in PAPER_TABLE_2.items():
        say(dataset)
        data = datasets.read(dataset)
        row: list[Cell] = [dataset]
        for (name, params), paper in zip(methods, printed, strict=True):
            random = name in STREAMED | RESTARTED
            errors = [
                ours(name, data.shuffled(s) if random else data, seed=s, **params).error
                for s in range(repeats if random else 1)
            ]
            spread = f" ± {np.std(errors):.3f}" if random else ""
            row.append(f"{np.mean(errors):.3f}{spread} ({paper:.3f})")
        rows.append(row)
    heads = ["MAJ", "EM", "AMF", "KOS", "MC", "Fast", "Sorted", "TE"]
    note = (
        "Ours (the paper's). Mean and spread over random orders and seeds. The paper's TREC file "
        "could not be found. The columns of its EM to MC are read from a text in which they are "
        "garbled."
    )
    return [Report("sbic_table_2", "SBIC paper, Table 2: error", ["dataset", *heads], rows, [note])]
