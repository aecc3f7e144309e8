"""When a task resolves, is revised, is reopened: the rules of the contract as one pure function."""

from __future__ import annotations

from typing import NamedTuple

from connector.domain.config import ProjectConfig

from .state import ADJUDICATED, AMBIGUOUS, CAPPED, CONFIDENT, GOLD, OPEN

RESOLVED = "label.resolved"
REVISED = "label.revised"
REOPENED = "label.reopened"


class Standing(NamedTuple):
    """What is known of a task when it is judged.

    Attributes:
        status, label: as they stand before.
        top, conf: the class with the highest stated probability, and that probability.
        n: distinct workers whose votes count.
        truth: the class of a gold task.
        expert: the class that an expert's counting vote, this event, names.
        max_labels: the task's own, or the project's.
    """

    status: str
    label: int | None
    top: int
    conf: float
    n: int
    truth: int | None
    expert: int | None
    max_labels: int | None


class Verdict(NamedTuple):
    """The message to send, and the task's status and label after it."""

    message: str
    status: str
    label: int


def stays_open(
    status: str,
    conf: float,
    n: int,
    truth: int | None,
    max_labels: int | None,
    config: ProjectConfig,
) -> bool:
    """Whether an open task has nothing to say yet: most votes end here, without more ado."""
    return (
        status == OPEN
        and truth is None
        and (conf < config.confidence or n < config.min_labels)
        and (max_labels is None or n < max_labels)
    )


def judge(s: Standing, config: ProjectConfig) -> Verdict | None:
    """The one message that the task's new standing calls for, or None."""
    if s.truth is not None:
        if s.status == OPEN:
            return Verdict(RESOLVED, GOLD, s.truth)
        if s.status != GOLD or s.label != s.truth:
            return Verdict(REVISED, GOLD, s.truth)
        return None
    if s.expert is not None and s.status in (AMBIGUOUS, ADJUDICATED):
        if s.status == ADJUDICATED and s.label == s.expert:
            return None
        return Verdict(REVISED, ADJUDICATED, s.expert)
    if s.status == ADJUDICATED:
        return None
    status = open_rule(s, config)
    if s.status == OPEN:
        return Verdict(RESOLVED, status, s.top) if status else None
    if s.status == GOLD:  # the truth is no longer known
        return Verdict(REVISED, status, s.top) if status else Verdict(REOPENED, OPEN, s.top)
    if s.max_labels is not None and s.n >= s.max_labels:
        assert status is not None
        if s.top != s.label or status != s.status:
            return Verdict(REVISED, status, s.top)
        return None
    if s.top != s.label and status == CONFIDENT:
        return Verdict(REVISED, CONFIDENT, s.top)
    if s.top != s.label or s.conf < config.reopen_confidence or s.n < config.min_labels:
        return Verdict(REOPENED, OPEN, s.top)
    if status and status != s.status:
        return Verdict(REVISED, status, s.top)
    return None


def open_rule(s: Standing, config: ProjectConfig) -> str | None:
    """The status that an open task would resolve with, or None."""
    if s.conf >= config.confidence and s.n >= config.min_labels:
        return CONFIDENT
    if s.max_labels is not None and s.n >= s.max_labels:
        return AMBIGUOUS if s.conf < config.ambiguity else CAPPED
    return None
