"""When a task resolves, is revised, is reopened: the verdict on one task after one event."""

from __future__ import annotations

from dataclasses import dataclass

RESOLVED, REVISED, REOPENED = "label.resolved", "label.revised", "label.reopened"


@dataclass(frozen=True)
class Limits:
    confidence: float
    min_labels: int
    max_labels: int | None
    ambiguity: float
    reopen_confidence: float


@dataclass(frozen=True)
class Verdict:
    """The one message that a task causes."""

    type: str
    label: str
    status: str


def open_rule(conf: float, n: int, limits: Limits) -> str | None:
    """The status that a task without any history would get; None: it stays open."""
    if conf >= limits.confidence and n >= limits.min_labels:
        return "confident"
    if limits.max_labels is not None and n >= limits.max_labels:
        return "ambiguous" if conf < limits.ambiguity else "capped"
    return None


def judge(
    *,
    status: str,
    label: str | None,
    gold: str | None,
    top: str,
    conf: float,
    n: int,
    limits: Limits,
    expert: str | None = None,
) -> Verdict | None:
    """The verdict on a task.

    Args:
        status: before this event.
        label: with which the task is resolved; None while it is open.
        gold: the known truth.
        top: by the stated probabilities.
        conf: the stated probability of `top`.
        n: distinct workers whose votes count.
        limits: of the project, with the task's own `max_labels` if it has one.
        expert: the label of an expert's counting vote, if that is the event.
    """
    if gold is not None:
        if status == "gold" and label == gold:
            return None
        return Verdict(RESOLVED if status == "open" else REVISED, gold, "gold")

    if expert is not None and status in ("ambiguous", "adjudicated"):
        if status == "adjudicated" and label == expert:
            return None
        return Verdict(REVISED, expert, "adjudicated")
    if status == "adjudicated":
        return None

    by_rule = open_rule(conf, n, limits)
    if status == "open":
        return None if by_rule is None else Verdict(RESOLVED, top, by_rule)
    if status == "gold":
        return Verdict(REOPENED, top, "open") if by_rule is None else Verdict(REVISED, top, by_rule)

    if limits.max_labels is not None and n >= limits.max_labels:
        assert by_rule is not None
        if top == label and by_rule == status:
            return None
        return Verdict(REVISED, top, by_rule)

    if top != label and conf >= limits.confidence and n >= limits.min_labels:
        return Verdict(REVISED, top, "confident")
    if top != label or conf < limits.reopen_confidence or n < limits.min_labels:
        return Verdict(REOPENED, top, "open")
    if by_rule is not None and by_rule != status:
        return Verdict(REVISED, top, by_rule)
    return None
