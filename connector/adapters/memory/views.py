"""The views of interface.md over rows in memory, the same as the migrations have in SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from connector.adapters.sql.views import VIEWS
from connector.domain.config import from_json
from connector.domain.instants import format_instant
from connector.domain.rows import TaskRow

from .tables import Tables

Row = dict[str, Any]


def rows(tables: Tables, name: str, project: str | None = None) -> list[Row]:
    """All rows in the view's order; of one project if it is given.

    Raises:
        KeyError: there is no such view.
    """
    view = VIEWS[name]
    values = [dict(zip(view.columns, row, strict=True)) for row in _VIEWS[name](tables)]
    if project is not None and view.per_project:
        values = [row for row in values if row["project"] == project]
    return sorted(values, key=lambda row: [row[column] for column in view.order])


Values = Iterator[tuple[Any, ...]]


def _task_labels(tables: Tables) -> Values:
    names = {row.id: row.name for row in tables.projects.values()}
    classes = {row.id: from_json(row.config).classes for row in tables.projects.values()}
    for t in tables.tasks.values():
        label = None if t.label is None else classes[t.project_id][t.label]
        yield (
            names[t.project_id],
            t.name,
            label,
            t.confidence,
            t.status,
            t.votes,
            t.version,
            t.algorithm,
            t.probabilities,
            _time(t.resolved_at),
            _time(t.updated_at),
        )


def _worker_quality(tables: Tables) -> Values:
    names = {row.id: row.name for row in tables.projects.values()}
    flags = {f[:2]: f[2:] for found in tables.flags.values() for f in found}
    for w in tables.workers.values():
        yield (
            names[w.project_id],
            w.name,
            w.accuracy,
            w.lower,
            w.upper,
            w.n,
            w.agreed / w.resolved_votes if w.resolved_votes else None,
            *flags.get((w.project_id, w.id), (None, None, None)),
            _time(w.updated_at),
        )


def _worker_confusion(tables: Tables) -> Values:
    for project, c, rate in _rated(tables, tables.confusions):
        worker = tables.workers[c.project_id, c.worker_id].name
        yield project, worker, c.true_class, c.given_class, c.expected_count, rate


def _cluster_confusion(tables: Tables) -> Values:
    for project, c, rate in _rated(tables, tables.clusters):
        yield project, c.cluster, c.true_class, c.given_class, c.expected_count, rate


def _rated(tables: Tables, found: Mapping[int, Sequence[Any]]) -> Iterator[tuple[str, Any, Any]]:
    """Cells with their project's name, and their share of those of the same true class."""
    projects = {
        row.id: (row.name, from_json(row.config).classes) for row in tables.projects.values()
    }
    for project_id, cells in found.items():
        name, classes = projects[project_id]
        cells = [c for c in cells if c.true_class in classes and c.given_class in classes]
        totals: dict[tuple[int, str], float] = {}
        for c in cells:  # whose comes second in either kind of row, the true class third
            totals[c[1:3]] = totals.get(c[1:3], 0.0) + c.expected_count
        for c in cells:
            total = totals[c[1:3]]
            yield name, c, c.expected_count / total if total else None


def _reconciliation_runs(tables: Tables) -> Values:
    names = {row.id: row.name for row in tables.projects.values()}
    for r in tables.runs.values():
        shown = {
            **r._asdict(),
            "project": names[r.project_id],
            "started_at": _time(r.started_at),
            "finished_at": _time(r.finished_at),
            "adopted_at": _time(r.adopted_at),
        }
        yield tuple(shown[column] for column in VIEWS["reconciliation_runs"].columns)


def _worker_quality_history(tables: Tables) -> Values:
    names = {row.id: row.name for row in tables.projects.values()}
    for h in tables.history.values():
        worker = tables.workers[h.project_id, h.worker_id].name
        yield names[h.project_id], worker, _time(h.at), h.votes, h.accuracy, h.lower, h.upper


def _project_progress(tables: Tables) -> Values:
    tasks: dict[int, list[TaskRow]] = {}
    for task in tables.tasks.values():
        tasks.setdefault(task.project_id, []).append(task)
    votes: dict[int, int] = {}
    for worker in tables.workers.values():
        votes[worker.project_id] = votes.get(worker.project_id, 0) + worker.n
    leases: dict[int, int] = {}
    for lease in tables.leases.values():
        if lease is not None:
            leases[lease.project_id] = leases.get(lease.project_id, 0) + 1
    for project in tables.projects.values():
        mine = tasks.get(project.id, [])
        still_open = sum(task.status == "open" for task in mine)
        # In billionths, as in the migration, so that the order of the rows does not show.
        stated = [round(t.confidence * 1e9) for t in mine if t.votes > 0 or t.truth is not None]
        yield (
            project.name,
            len(mine),
            still_open,
            len(mine) - still_open,
            sum(task.status == "ambiguous" for task in mine),
            votes.get(project.id, 0),
            project.pairs + leases.get(project.id, 0),
            sum(stated) / 1e9 / len(stated) if stated else None,
        )


def _event_accounting(tables: Tables) -> Values:
    for p in tables.progress.values():
        yield p.topic, p.partition, p.received, p.applied, p.duplicates, p.stale, p.dead


def _calibration(tables: Tables) -> Values:
    for p in tables.projects.values():
        yield (
            p.name,
            p.b,
            p.gold_records,
            p.gold_resolved,
            p.gold_right,
            p.gold_lower,
            p.gold_upper,
            p.gold_stated,
        )


def _time(us: int | None) -> str | None:
    return None if us is None else format_instant(us)


_VIEWS: dict[str, Callable[[Tables], Values]] = {
    "task_labels": _task_labels,
    "worker_quality": _worker_quality,
    "worker_confusion": _worker_confusion,
    "worker_quality_history": _worker_quality_history,
    "project_progress": _project_progress,
    "event_accounting": _event_accounting,
    "cluster_confusion": _cluster_confusion,
    "reconciliation_runs": _reconciliation_runs,
    "calibration": _calibration,
}
