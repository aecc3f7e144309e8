"""Who comes first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aggregators.quality.case import FLAGS
from connector.reports.pooled import severity

ALARMS = FLAGS[: FLAGS.index("too_few")]
"""Flags that ask for something to be done."""


def importance(row: Mapping[str, Any]) -> tuple[int, int, str]:
    """Flagged first, by severity; then the most active."""
    place = severity(row["flag"])
    return (place if place < len(ALARMS) else len(ALARMS), -row["votes"], row["worker"])
