"""Which function applies which event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from connector.domain import events

from . import assign, runs, tasks, votes, workers
from .turn import Outcome, Turn

HANDLERS: dict[type, Callable[[Turn, Any], Outcome]] = {
    events.AnnotationSubmitted: votes.submitted,
    events.AnnotationSkipped: votes.skipped,
    events.AnnotationRetracted: votes.retracted,
    events.TaskAdded: tasks.added,
    events.TaskWithdrawn: tasks.withdrawn,
    events.TaskGold: tasks.gold,
    events.WorkerAvailable: assign.available,
    events.WorkerBlocked: workers.blocked,
    events.WorkerUnblocked: workers.unblocked,
    events.ReconciliationPart: runs.part,
    events.ReconciliationCompleted: runs.completed,
    events.ReconciliationApproved: runs.approved,
    events.ReconciliationRejected: runs.rejected,
}
"""By class of the event. Declarations are the shard's: they make the project that others need."""
