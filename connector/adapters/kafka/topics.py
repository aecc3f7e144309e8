"""What the topics should be like."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

_DAY_MS = 24 * 60 * 60 * 1000

MARGIN_BYTES = 64 * 1024
"""A dead letter is its record and some headers."""

READ_KEYS = (
    "cleanup.policy",
    "max.message.bytes",
    "message.timestamp.type",
    "min.insync.replicas",
    "retention.bytes",
    "retention.ms",
    "unclean.leader.election.enable",
)
"""Settings that are worth looking at; others are the cluster's business."""


class TopicNames(NamedTuple):
    """The service's four topics."""

    annotations: str = "annotations"
    resolved: str = "labels.resolved"
    assigned: str = "tasks.assigned"
    dead: str = "annotations.dead"


class TopicReport(NamedTuple):
    """One topic as it is, beside how it should be."""

    name: str
    exists: bool
    created: bool = False
    partitions: int = 0
    """0 where the topic does not exist."""
    partitions_wanted: int | None = None
    replication_factor: int = 0
    settings: Mapping[str, str] = {}
    """Of `READ_KEYS`; empty where reading them is not allowed."""
    differing: Mapping[str, tuple[str, str]] = {}
    """Setting -> (wanted, found)."""

    @property
    def too_few_partitions(self) -> bool:
        """Fewer than were asked for. They are never added: keys would move between partitions."""
        return (
            self.exists
            and self.partitions_wanted is not None
            and self.partitions < self.partitions_wanted
        )

    def problems(self) -> Iterator[str]:
        """Each in words."""
        if not self.exists:
            yield f"{self.name} does not exist"
            return
        if self.too_few_partitions:
            yield (
                f"{self.name} has {self.partitions} partitions, not {self.partitions_wanted}; "
                "none were added, since keys would move between partitions"
            )
        for key, (wanted, found) in self.differing.items():
            yield f"{self.name} has {key}={found}, not {wanted}"


def annotations_settings() -> dict[str, str]:
    """The log that everything can be rebuilt from: never deleted, and timed by the broker."""
    return {
        "cleanup.policy": "delete",
        "retention.ms": "-1",
        "retention.bytes": "-1",
        "message.timestamp.type": "LogAppendTime",
    }


def outgoing_settings(names: TopicNames, input_limit: int | None) -> dict[str, dict[str, str]]:
    """Of the three outgoing topics; `input_limit` is the annotations' max.message.bytes."""
    dead = {"cleanup.policy": "delete", "retention.ms": str(30 * _DAY_MS)}
    if input_limit is not None:
        dead["max.message.bytes"] = str(input_limit + MARGIN_BYTES)
    return {
        names.resolved: {"cleanup.policy": "compact"},
        names.assigned: {"cleanup.policy": "delete", "retention.ms": str(7 * _DAY_MS)},
        names.dead: dead,
    }


def differences(wanted: Mapping[str, str], found: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """What is not as it should be; a larger message limit than needed is no difference."""
    differing = {}
    for key, value in wanted.items():
        if key not in found or found[key] == value:
            continue
        if key == "max.message.bytes" and int(found[key]) >= int(value):
            continue
        differing[key] = (value, found[key])
    return differing
