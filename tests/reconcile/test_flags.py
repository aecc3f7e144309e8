"""What a run says of workers, and whom it blocks."""

from __future__ import annotations

import json

import numpy as np
import pytest

from connector.reconcile.flags import blocks, flags
from connector.reconcile.parts import parts
from connector.reconcile.result import Result, compute

from .crowds import Vote, crowd, plain_p, snapshot, votes_of


def spammed(K: int = 2, seed: int = 0) -> list[Vote]:
    """Eight good workers; w8 throws dice on every task."""
    votes, _ = crowd(K, tasks=200, workers=8, per_task=5, seed=seed, good=0.9)
    rng = np.random.default_rng(seed)
    return votes + [(i, 8, int(rng.integers(K))) for i in range(200)]


def computed(votes: list[Vote], after: int = 0, blocked: list[Vote] | None = None) -> Result:
    s = snapshot(votes, 2, quality={"block_spammers_after": after}, blocked=blocked or [])
    return compute(s, "auto")


def test_a_spammer_is_flagged_with_a_reason_and_the_others_are_not() -> None:
    found = flags(computed(spammed()))
    assert [f.flag for f in found] == ["ok"] * 8 + ["spammer"]
    assert found[8].reason


def test_flags_travel_with_the_workers() -> None:
    result = computed(spammed())
    found = flags(result)
    values = [json.loads(v) for v in parts(result, "r1", found)]
    told = [w for v in values for w in v.get("workers", [])]
    assert [(w["flag"], w["flag_reason"]) for w in told] == [tuple(f) for f in found]


@pytest.mark.parametrize(("after", "who"), [(0, []), (200, ["w8"]), (201, [])])
def test_a_spammer_is_blocked_from_so_many_votes_on_where_the_project_says_so(
    after: int, who: list[str]
) -> None:
    result = computed(spammed(), after)
    events = [json.loads(v) for v in blocks(result, "r", flags(result))]
    assert [e["worker"] for e in events] == who
    for e in events:
        assert (e["type"], e["project"], e["run"]) == ("worker.blocked", "p", "r")
        assert e["reason"].startswith("spammer: ")


def test_a_blocked_worker_weighs_nothing_and_keeps_a_flag() -> None:
    votes = spammed()
    good = [v for v in votes if v[1] != 8]
    out = [(i, 0, x) for i, j, x in votes if j == 8]
    without, result = computed(good), computed(good, after=1, blocked=out)
    np.testing.assert_array_equal(result.base, without.base)
    np.testing.assert_array_equal(result.p[:8], without.p)
    assert result.snapshot.names[8] == "b0"
    assert flags(result)[8].flag == "spammer"
    assert blocks(result, "r", flags(result)) == [], "it is blocked already"
    values = [json.loads(v) for v in parts(result, "r1", flags(result))]
    (told,) = [w for v in values for w in v.get("workers", []) if w["worker"] == "b0"]
    right = sum(float(result.probas[i][x]) for i, _, x in out)
    assert told["p"] == pytest.approx((right + 2) / (200 + 3))
    assert sum(cell[2] for cell in told["confusion"]) == pytest.approx(200, abs=1e-3)
    assert plain_p(result.snapshot, result.probas, 0) == pytest.approx(result.p[0])
    assert len(votes_of(result.snapshot)) == len(good)
