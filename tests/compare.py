"""Hold what the product published and stored against the plain fold of the same log."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from tests.oracle.fold import Message, PlainFold

TOLERANCE = 1e-9
UNCOMPARED = ("error-message",)
"""Headers that hold free text."""


def difference(want: Any, got: Any, where: str = "") -> str | None:
    """Where two values differ by more than `TOLERANCE`, or None."""
    if isinstance(want, Mapping) and isinstance(got, Mapping):
        if list(want) != list(got):
            return f"{where}: keys {list(want)} != {list(got)}"
        return next((d for k in want if (d := difference(want[k], got[k], f"{where}.{k}"))), None)
    if isinstance(want, float) and isinstance(got, (int, float)):
        return None if abs(want - got) <= TOLERANCE else f"{where}: {want!r} != {got!r}"
    return None if want == got else f"{where}: {want!r} != {got!r}"


def published(key: bytes | None, value: bytes | None, headers: Iterable[tuple[str, Any]]) -> Any:
    """A message in the form that both sides are compared in."""
    names = tuple((k, v) for k, v in headers if k not in UNCOMPARED)
    label = any(k == "ce_id" for k, _ in names)
    return {"key": key, "headers": names, "value": json.loads(value or b"") if label else value}


def wanted(message: Message) -> Any:
    """The plain fold's message in the same form."""
    names = tuple((k, v) for k, v in message.headers if k not in UNCOMPARED)
    return {"key": message.key, "headers": names, "value": message.value}


def assert_messages(
    fold: PlainFold, topic: str, got: Sequence[tuple[bytes | None, bytes | None, Any]]
) -> None:
    """The topic holds exactly the fold's messages, each once, per key in the fold's order."""

    def group(m: Any) -> tuple[Any, ...]:
        # Dead letters of two partitions may share a key, or the want of one.
        return m["key"], dict(m["headers"]).get("origin-partition")

    want: dict[tuple[Any, ...], list[Any]] = {}
    for m in fold.messages:
        if m.topic == topic:
            w = wanted(m)
            want.setdefault(group(w), []).append(w)
    have: dict[tuple[Any, ...], list[Any]] = {}
    for k, value, headers in got:
        g = published(k, value, headers)
        have.setdefault(group(g), []).append(g)
    assert set(have) == set(want), f"{topic}: keys {set(have) ^ set(want)}"
    for key, messages in want.items():
        if key[0] is None:  # without a key they go to any partition: there is no order to keep
            have[key].sort(key=lambda m: int(dict(m["headers"])["origin-offset"]))
        ids = [id_of(dict(m["headers"])) for m in messages]
        got_ids = [id_of(dict(m["headers"])) for m in have[key]]
        assert got_ids == ids, f"{topic}, key {key!r}: {got_ids} != {ids}"
        for w, g in zip(messages, have[key], strict=True):
            if "value-omitted" in dict(g["headers"]):
                w = without_value(w)
            assert (found := difference(w, g)) is None, f"{topic}, key {key!r}{found}"


def without_value(message: Any) -> Any:
    """A dead letter that is too large for its topic: instead of its value, what it was."""
    value = message["value"]
    told = (
        ("value-omitted", str(len(value)).encode()),
        ("value-sha256", sha256(value).hexdigest().encode()),
    )
    return {**message, "headers": message["headers"] + told, "value": None}


def id_of(headers: Mapping[str, Any]) -> Any:
    """What tells a message from every other."""
    return headers.get("ce_id") or (headers.get("origin-partition"), headers["origin-offset"])


def microseconds(value: object) -> object:
    """A view's time, as either database gives it, in microseconds since 1970."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    if isinstance(value, datetime):
        delta = value - datetime(1970, 1, 1, tzinfo=UTC)
        return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds
    return value


TIMES = ("at", "resolved_at", "updated_at", "adopted_at")
JSONS = ("probabilities", "parameters", "summary")

KEYS = {
    "task_labels": ("project", "task"),
    "worker_quality": ("project", "worker"),
    "worker_quality_history": ("project", "worker", "votes"),
    "project_progress": ("project",),
    "event_accounting": ("topic", "partition"),
    "calibration": ("project",),
    "worker_confusion": ("project", "worker", "true_class", "given_class"),
    "cluster_confusion": ("project", "cluster", "true_class", "given_class"),
    "reconciliation_runs": ("project", "run"),
}

RENAMED = {"calibration": {"resolved_at_stop": "resolved", "right_at_stop": "right"}}


def assert_view(fold: PlainFold, view: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """The view's rows equal the fold's, to `TOLERANCE`."""

    def keyed(found: Iterable[Mapping[str, Any]]) -> dict[tuple[Any, ...], dict[str, Any]]:
        rows = [{RENAMED.get(view, {}).get(k, k): v for k, v in row.items()} for row in found]
        result = {tuple(row[k] for k in KEYS[view]): dict(row) for row in rows}
        assert len(result) == len(rows), f"{view}: a key comes twice"
        return result

    want = keyed(getattr(fold, view)())
    have = keyed(rows)
    assert set(have) == set(want), f"{view}: {set(have) ^ set(want)}"
    for key, row in want.items():
        for column, value in row.items():
            got = have[key][column]
            if column in TIMES:
                got = microseconds(got)
            elif column in JSONS and isinstance(got, str):
                got = json.loads(got)
            elif isinstance(value, bool) or isinstance(got, bool):
                got = bool(got)
            if column == "updated_at" and view == "worker_quality":
                # The fold sees S change by any amount; the product only where the sum moves.
                continue
            if column == "reason" and row["status"] not in ("refused", "failed"):
                # Free text: the counts and changes that made somebody's decision necessary.
                continue
            if column == "reason" and row["status"] == "refused":
                got = got.partition(":")[0]
            found = difference(value, got, f"{view} {key} {column}")
            assert found is None, found


def assert_views(fold: PlainFold, view: Any) -> None:
    """Every view equals the fold's; `view(name)` gives its rows."""
    for name in KEYS:
        assert_view(fold, name, view(name))
