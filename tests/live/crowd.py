"""Real crowds as logs: shuffled, with votes that come again and votes that are replaced."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def encoded(**fields: Any) -> bytes:
    return json.dumps(fields).encode()


def declared(project: str, directory: Path, **more: Any) -> bytes:
    """The declaration of a dataset's project."""
    meta = json.loads((directory / "meta.json").read_text())
    return encoded(
        type="project.declared",
        project=project,
        kind=meta["kind"],
        classes=[str(c) for c in meta["classes"]],
        **more,
    )


def votes(
    project: str, directory: Path, seed: int = 0, limit: int | None = None
) -> Iterator[bytes]:
    """The dataset's votes in random order; one in ten comes again, one in ten is replaced."""
    with (directory / "labels.csv").open() as f:
        rows = list(csv.DictReader(f))
    rng = random.Random(seed)
    rng.shuffle(rows)
    classes = sorted({r["label"] for r in rows})
    for row in rows[:limit]:
        vote = {
            "type": "annotation.submitted",
            "project": project,
            "task": row["task"],
            "worker": row["worker"],
            "label": row["label"],
            "revision": 1,
        }
        yield encoded(**vote)
        fate = rng.random()
        if fate < 0.1:
            yield encoded(**vote)
        elif fate < 0.2:
            yield encoded(**{**vote, "label": rng.choice(classes), "revision": 2})
