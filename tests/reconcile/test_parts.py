"""A result as records: small, complete, and the same for the same result."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from typing import Any

import msgspec
import numpy as np
import pytest

from connector.domain.runs import ReconciliationCompleted, ReconciliationPart
from connector.reconcile import parts as module
from connector.reconcile.completed import completed, failed
from connector.reconcile.flags import flags
from connector.reconcile.parts import PART_BYTES, parts
from connector.reconcile.result import Result, compute

from .crowds import crowd, snapshot

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@cache
def result(K: int = 3, tasks: int = 60, method: str = "auto") -> Result:
    votes, _ = crowd(K, tasks=tasks)
    return compute(snapshot(votes, K, kind="ordinal" if K > 2 else "binary"), method)


def made(found: Result, run: str = "r1") -> list[bytes]:
    return list(parts(found, run, flags(found)))


def gathered(values: Sequence[bytes], kind: str) -> list[dict[str, Any]]:
    return [entry for value in values for entry in json.loads(value).get(kind, [])]


def test_the_parts_hold_all_that_was_found() -> None:
    found = result()
    values = made(found)
    s = found.snapshot
    tasks = gathered(values, "tasks")
    assert [t["task"] for t in tasks] == list(s.tasks)
    np.testing.assert_array_equal([t["base"] for t in tasks], found.base)
    workers = gathered(values, "workers")
    assert [w["worker"] for w in workers] == list(s.workers)
    np.testing.assert_array_equal([w["p"] for w in workers], found.p)
    assert found.cluster is not None
    assert [w["cluster"] for w in workers] == found.cluster.tolist()
    for worker, w in enumerate(workers):
        votes = np.flatnonzero(s.worker == worker)
        assert sum(cell[2] for cell in w["confusion"]) == pytest.approx(len(votes), abs=1e-3)
    clusters = gathered(values, "clusters")
    assert [c["cluster"] for c in clusters] == sorted(set(found.cluster.tolist()))


def test_the_consumer_can_read_every_record() -> None:
    found = result()
    values = made(found)
    for number, value in enumerate(values):
        part = msgspec.json.decode(value, type=ReconciliationPart)
        assert (part.project, part.run, part.part) == ("p", "r1", number)
    value = completed(found, "r1", len(values), START, START, {"read": 0.5})
    end = msgspec.json.decode(value, type=ReconciliationCompleted)
    assert (end.upto, end.parts, end.algorithm, end.seed) == (100, len(values), "cola", 0)
    assert end.classes == ["a", "b", "c"]
    assert end.summary["bound"] == found.bound
    assert end.summary["durations"] == {"read": 0.5}
    assert end.summary["started_at"] == "2026-01-02T03:04:05.000000Z"
    assert (end.summary["tasks"], end.summary["workers"], end.summary["votes"]) == (60, 9, 300)
    broken = failed(found.snapshot, "r2", "the bound fell", START, START)
    end = msgspec.json.decode(broken, type=ReconciliationCompleted)
    assert (end.parts, end.error, end.upto) == (0, "the bound fell", 100)


def test_no_part_exceeds_its_size_and_each_is_filled() -> None:
    found = result(K=2, tasks=9000, method="sorted_sbic")
    values = made(found)
    assert max(map(len, values)) <= PART_BYTES
    assert len(values) > 3
    assert all(len(v) > PART_BYTES - 300 for v in values[:-2])
    assert len(gathered(values, "tasks")) == 9000


def test_the_longest_names_and_the_most_classes_fit() -> None:
    """512 bytes of control characters, which JSON writes as six each; 1,000 classes."""
    K = 1000
    votes = [(i, j, (7 * i + j) % K) for i in range(3) for j in range(40)]
    s = snapshot(votes, K, kind="categorical")
    s = replace(s, project="\x01" * 512, tasks=["\x02" * 512] * 3, workers=["\x03" * 512] * 40)
    values = made(compute(s, "sorted_sbic"), "r" * 40)
    assert max(map(len, values)) <= PART_BYTES
    assert len(gathered(values, "workers")) == 40
    assert max(len(w["confusion"]) for w in gathered(values, "workers")) <= 2000


def test_the_same_result_gives_the_same_bytes() -> None:
    again = compute(result().snapshot, "auto")
    assert made(again) == made(result())


def test_workers_come_whole_and_in_order_however_few_cells_are_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from aggregators import handover

    found = result()
    whole = made(found)
    monkeypatch.setattr(handover, "CELLS", 4)
    assert made(found) == whole


def test_small_parts_hold_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    found = result()
    whole = made(found)
    monkeypatch.setattr(module, "PART_BYTES", 1000)
    small = made(found)
    assert len(small) > len(whole)
    for kind in ("tasks", "workers", "clusters"):
        assert gathered(small, kind) == gathered(whole, kind)
