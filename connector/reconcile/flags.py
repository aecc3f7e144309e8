"""What the run says of workers beside their accuracy, and whom it blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from aggregators.quality import flag_workers

from .result import Result

SPAM = frozenset({"spammer", "constant"})
"""Flags of workers whose answers say nothing; an adversary's say something."""


class Flag(NamedTuple):
    """Of one worker.

    Attributes:
        flag: of `aggregators.quality.FLAGS`.
        reason: in words, with the numbers behind it.
    """

    flag: str
    reason: str


def flags(result: Result) -> Sequence[Flag]:
    """Of every worker of the snapshot, and after them of every blocked one."""
    s = result.snapshot
    workers, blocked = len(s.workers), len(s.blocked.workers)
    truth = np.full(len(s.tasks), -1, dtype=np.int64)
    for task, x in s.truth.items():
        truth[task] = x
    learned = result.algorithm != "sorted_sbic" and len(set(s.config.class_prior)) == 1
    found = flag_workers(
        *s.all_votes,
        result.probas,
        truth=truth,
        workers=workers + blocked,
        alpha=s.config.alpha,
        beta=s.config.beta,
        class_prior=None if learned else np.exp(s.log_prior),
        ordinal=s.config.kind == "ordinal",
        weighs=np.arange(workers + blocked) < workers,
        classes=s.config.classes,
    )
    return [Flag(f.flag, f.reason) for f in found]


def blocks(result: Result, run: str, found: Sequence[Flag]) -> list[bytes]:
    """`worker.blocked` for each spammer with enough votes, where the project says so.

    Each names the run, so that it holds only if the run is adopted.
    """
    s = result.snapshot
    after = s.config.block_spammers_after
    if not after:
        return []
    votes = np.bincount(s.worker, minlength=len(s.workers)).tolist()
    return [
        msgspec.json.encode(
            {
                "type": "worker.blocked",
                "project": s.project,
                "worker": name,
                "reason": f"{flag.flag}: {flag.reason}",
                "run": run,
            }
        )
        for name, n, flag in zip(s.workers, votes, found, strict=False)
        if n >= after and flag.flag in SPAM
    ]
