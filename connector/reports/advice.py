"""What to do next in a project, by its figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from connector.domain.config import ProjectConfig

from .sentences import percent

GOLD = 50
"""From so many gold tasks on a run chooses its method by them, and an interval says something."""


def advice(
    row: Mapping[str, Any], config: ProjectConfig, gold: int, *, reconciled: bool
) -> Iterator[str]:
    """Sentences, the most urgent first; none where there is nothing to do.

    Args:
        row: of the view project_progress.
        config: the project's.
        gold: how many gold tasks it has.
        reconciled: whether a run has been adopted.
    """
    if not row["tasks"]:
        yield "Send tasks and votes: `task.added`, `annotation.submitted`."
        return
    if row["open"] and config.budget is not None and row["budget_used"] >= config.budget:
        yield (
            f"The budget is used up and {_tasks(row['open'])} open: raise `budget`, or lower"
            f" `confidence`."
        )
    if row["ambiguous"]:
        yield (
            f"{_tasks(row['ambiguous'])} ambiguous: have them settled (`experts`), or say the truth"
            " (`task.gold`)."
        )
    if config.calibrate and gold < GOLD:
        yield (
            f"Send the truth of some {GOLD} tasks (`task.gold`; there are {gold}) and have them"
            f" voted on: only that shows whether {percent(config.confidence)} % is true."
        )
    if not reconciled and row["votes"]:
        yield (
            "Run `crowdresolve reconcile`: it weighs all votes at once, and flags workers who"
            " cannot be trusted."
        )
    if not row["open"]:
        yield "All tasks are resolved."


def _tasks(count: int) -> str:
    return f"{count:,} task is" if count == 1 else f"{count:,} tasks are"
