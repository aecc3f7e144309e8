"""The real datasets as pandas tables."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

DIRECTORY = Path(
    os.environ.get("CROWDRESOLVE_TEST_DATA") or Path(__file__).parents[3].parent / "shared" / "data"
)


@dataclass(frozen=True)
class Dataset:
    """Votes, truth and classes of one collection."""

    name: str
    kind: str
    classes: list[str]
    votes: pd.DataFrame
    gold: pd.Series

    def shuffled(self, seed: int) -> Dataset:
        """The votes in a random order."""
        votes = self.votes.sample(frac=1, random_state=seed, ignore_index=True)
        return Dataset(self.name, self.kind, self.classes, votes, self.gold)

    def some_tasks(self, share: float, seed: int) -> Dataset:
        """The votes on a random share of the tasks."""
        tasks = self.votes["task"].unique()
        random = np.random.default_rng(seed)
        kept = random.choice(tasks, max(1, round(share * len(tasks))), replace=False)
        votes = self.votes[self.votes["task"].isin(kept)].reset_index(drop=True)
        gold = self.gold[self.gold.index.isin(kept)]
        return Dataset(self.name, self.kind, self.classes, votes, gold)


def names() -> list[str]:
    """All datasets that lie in `DIRECTORY`."""
    return sorted(p.parent.name for p in DIRECTORY.glob("*/meta.json"))


def read(name: str) -> Dataset:
    """One dataset; of a repeated (task, worker) the last row is kept."""
    folder = DIRECTORY / name
    meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    votes = pd.read_csv(folder / "labels.csv", dtype=str)[["task", "worker", "label"]]
    votes = votes.drop_duplicates(["task", "worker"], keep="last", ignore_index=True)
    gold = pd.read_csv(folder / "gold.csv", dtype=str).set_index("task")["label"]
    kind = str(meta["kind"])
    return Dataset(name, kind, [str(c) for c in meta["classes"]], votes, gold)
