"""Collections of votes with known truth, as pandas tables."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from connector.domain.errors import ConfigurationError

from .sources import SOURCES


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


class Datasets:
    """Those of a directory: a folder each, with labels.csv, gold.csv and meta.json.

    Args:
        directory: where they are; None: nowhere.
    """

    PLACES = (Path("data"), Path("../shared/data"))
    """Where they are looked for if nothing is said."""

    def __init__(self, directory: Path | None) -> None:
        self.directory = directory

    @classmethod
    def found(cls, given: Path | None) -> Datasets:
        """Of the directory given, or of the first of `PLACES` that has any.

        Raises:
            ConfigurationError: the directory given has none.
        """
        for place in cls.PLACES if given is None else (given,):
            here = cls(place)
            if here.names():
                return here
        if given is not None:
            raise ConfigurationError(f"no datasets in {given}: {FORMAT}")
        return cls(None)

    def names(self) -> list[str]:
        """All of them."""
        if self.directory is None:
            return []
        return sorted(p.parent.name for p in self.directory.glob("*/meta.json"))

    def read(self, name: str) -> Dataset:
        """One dataset; of a repeated (task, worker) the last row is kept.

        Raises:
            ConfigurationError: it is not there.
        """
        self.require(name)
        assert self.directory is not None
        folder = self.directory / name
        meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
        votes = pd.read_csv(folder / "labels.csv", dtype=str)[["task", "worker", "label"]]
        votes = votes.drop_duplicates(["task", "worker"], keep="last", ignore_index=True)
        gold = pd.read_csv(folder / "gold.csv", dtype=str).set_index("task")["label"]
        kind = str(meta["kind"])
        return Dataset(name, kind, [str(c) for c in meta["classes"]], votes, gold)

    def require(self, *names: str) -> None:
        """Raise ConfigurationError, saying where to get it, for a dataset that is not there."""
        for name in names:
            if name not in self.names():
                origin = f" It comes from {SOURCES[name]}." if name in SOURCES else ""
                raise ConfigurationError(
                    f"the dataset {name} is not in {self.directory or 'data or ../shared/data'}: "
                    f"give --data DIR; {FORMAT}.{origin}"
                )


FORMAT = (
    "a folder for each dataset, with labels.csv (task,worker,label), gold.csv (task,label) and "
    'meta.json ({"kind": "binary", "classes": ["0", "1"]})'
)
