"""The record that ends a run: what it was, or why it failed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import msgspec

from .result import Result
from .snapshot import Snapshot


def completed(
    result: Result,
    run: str,
    parts: int,
    started: datetime,
    finished: datetime,
    seconds: Mapping[str, float],
) -> bytes:
    """`reconciliation.completed` of a run that found something.

    Args:
        result: what it found.
        run: its name.
        parts: how many records carry it.
        started: when the job began, in UTC.
        finished: when all was encoded.
        seconds: by stage.
    """
    s = result.snapshot
    gold: dict[str, Any] = {"tasks": len(s.truth)}
    if result.gold_errors:
        gold["errors"] = dict(result.gold_errors)
    return _encode(
        {
            "type": "reconciliation.completed",
            "project": s.project,
            "run": run,
            "upto": s.upto,
            "algorithm": result.algorithm,
            "version": release(),
            "seed": result.seed,
            "parameters": dict(result.parameters),
            "parts": parts,
            "classes": list(s.config.classes),
            "summary": {
                "bound": result.bound,
                "started_at": _instant(started),
                "finished_at": _instant(finished),
                "durations": {name: round(value, 3) for name, value in seconds.items()},
                "tasks": len(s.tasks),
                "workers": len(s.workers),
                "votes": s.V,
                "gold": gold,
                "why": result.why,
            },
        }
    )


def failed(
    snapshot: Snapshot, run: str, error: str, started: datetime, finished: datetime
) -> bytes:
    """`reconciliation.completed` of a run whose result must not be adopted."""
    return _encode(
        {
            "type": "reconciliation.completed",
            "project": snapshot.project,
            "run": run,
            "upto": snapshot.upto,
            "parts": 0,
            "error": error,
            "summary": {
                "started_at": _instant(started),
                "finished_at": _instant(finished),
                "tasks": len(snapshot.tasks),
                "workers": len(snapshot.workers),
                "votes": snapshot.V,
            },
        }
    )


def release() -> str:
    """The version of the code that computed."""
    try:
        return version("crowdresolve")
    except PackageNotFoundError:
        return "unknown"


def _instant(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


_encode = msgspec.json.encode
