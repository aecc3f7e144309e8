"""What the views are called and what they show; their SQL is in the migrations.

They are the public interface of the database and equal on both, but for a time, which is a
`timestamptz` on PostgreSQL and text (`YYYY-MM-DDTHH:MM:SS.ffffffZ`) on SQLite, and for JSON, which
is `json` on PostgreSQL and text on SQLite.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class View:
    """One view.

    Attributes:
        columns: in order.
        order: columns that identify a row; readers sort by them.
        times: columns that are instants.
        json: columns that are JSON.
    """

    columns: tuple[str, ...]
    order: tuple[str, ...]
    times: frozenset[str] = frozenset()
    json: frozenset[str] = frozenset()

    @property
    def per_project(self) -> bool:
        """Whether it can be narrowed to one project."""
        return "project" in self.columns


def _view(columns: str, order: str, times: str = "", json: str = "") -> View:
    return View(
        tuple(columns.split()),
        tuple(order.split()),
        frozenset(times.split()),
        frozenset(json.split()),
    )


VIEWS: Mapping[str, View] = {
    "task_labels": _view(
        "project task label confidence status votes version algorithm probabilities resolved_at"
        " updated_at",
        order="project task",
        times="resolved_at updated_at",
        json="probabilities",
    ),
    "worker_quality": _view(
        "project worker accuracy lower upper votes agreement cluster flag flag_reason updated_at",
        order="project worker",
        times="updated_at",
    ),
    "worker_confusion": _view(
        "project worker true_class given_class expected_count rate",
        order="project worker true_class given_class",
    ),
    "worker_quality_history": _view(
        "project worker at votes accuracy lower upper",
        order="project worker votes",
        times="at",
    ),
    "project_progress": _view(
        "project tasks open resolved ambiguous votes budget_used mean_confidence",
        order="project",
    ),
    "event_accounting": _view(
        "topic partition received applied duplicates stale dead",
        order="topic partition",
    ),
    "cluster_confusion": _view(
        "project cluster true_class given_class expected_count rate",
        order="project cluster true_class given_class",
    ),
    "reconciliation_runs": _view(
        "project run upto algorithm version seed parameters bound parts status reason summary"
        " tasks workers votes changed changes durations started_at finished_at adopted_at",
        order="project run",
        times="started_at finished_at adopted_at",
        json="parameters summary changes durations",
    ),
    "calibration": _view(
        "project b gold_tasks resolved_at_stop right_at_stop lower upper stated_mean",
        order="project",
    ),
}
