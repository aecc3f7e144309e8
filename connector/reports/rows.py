"""The rows of each report, as they are read: complete, in the order of the view."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Raw

from connector.adapters.sql import queries
from connector.adapters.sql.quality import adopted, blocked, gold_tasks
from connector.adapters.sql.views import VIEWS
from connector.domain.config import ProjectConfig, from_json
from connector.domain.errors import CrowdResolveError

from .advice import advice
from .agreement import alpha_of
from .pooled import COLUMNS, pooled
from .sentences import Calibration, calibration_sentence

if TYPE_CHECKING:
    from sqlalchemy import Engine

Values = Sequence[Any]


class UnknownProject(CrowdResolveError):
    """There is no project of that name; the message names those that there are."""


class UnknownWorker(CrowdResolveError):
    """There is no worker of that name; the message says where."""


class Report(NamedTuple):
    """A report's columns and rows.

    Attributes:
        columns: their names.
        rows: values in that order.
        json: columns that hold JSON as text.
        blocked: of a report about workers, project and worker of those whose votes weigh nothing.
    """

    columns: Sequence[str]
    rows: Iterator[Values]
    json: frozenset[str] = frozenset()
    blocked: frozenset[tuple[str, str]] = frozenset()


def projects(engine: Engine, name: str | None) -> Mapping[str, ProjectConfig]:
    """The projects of the database, or the one of that name, with their configurations.

    Raises:
        UnknownProject: there is none of that name.
        DependencyError, ConfigurationError: the database.
    """
    found = {row.name: from_json(row.config) for row in queries.all_projects(engine)}
    if name is None:
        return found
    if name not in found:
        known = ", ".join(map(repr, list(found)[:20])) or "none yet"
        more = ", ..." if len(found) > 20 else ""
        raise UnknownProject(f"there is no project {name!r}; there are: {known}{more}")
    return {name: found[name]}


def workers(engine: Engine, project: str | None, only: Sequence[str] = ()) -> Report:
    """The view worker_quality of a project; of all projects, workers pooled by their id.

    Args:
        engine: of the database.
        project: its name.
        only: these workers, if any are named.

    Raises:
        UnknownWorker: there is none of a name in `only`.
    """
    if project is None:
        found = pooled(engine, projects(engine, None), only)
        report = Report(COLUMNS, found, frozenset({"projects"}))
    else:
        narrowed = {"worker": list(only)} if only else None
        report = Report(*queries.view(engine, "worker_quality", project, narrowed))
    report = report._replace(blocked=blocked(engine, project))
    if not only:
        return report
    rows = list(report.rows)
    there = {row[report.columns.index("worker")] for row in rows}
    if missing := [name for name in only if name not in there]:
        place = "" if project is None else f" in project {project!r}"
        raise UnknownWorker(f"there is no worker {', '.join(map(repr, missing))}{place}")
    return report._replace(rows=iter(rows))


def tasks(engine: Engine, project: str | None) -> Report:
    """The view task_labels."""
    return _view(engine, "task_labels", project)


def resolutions(engine: Engine, project: str | None) -> Report:
    """Of the view task_labels, the tasks that are resolved."""
    report = _view(engine, "task_labels", project)
    status = report.columns.index("status")
    return report._replace(rows=(row for row in report.rows if row[status] != "open"))


def project(engine: Engine, project: str | None) -> Report:
    """The view project_progress with what calibration says.

    The further columns: `confidence` (the value at which a task resolves), those of the view
    calibration, `checked`, that in words, `alpha`, Krippendorff's, and `advice`, what to do next.
    """
    progress = _view(engine, "project_progress", project)
    calibration = _view(engine, "calibration", project)
    columns = [
        *progress.columns,
        "confidence",
        *calibration.columns[1:],
        "checked",
        "alpha",
        "advice",
    ]

    def rows() -> Iterator[Values]:
        configs = projects(engine, None)
        said = {row[0]: row for row in calibration.rows}
        reconciled = adopted(engine, project)
        for row in progress.rows:
            config, learned = configs[row[0]], said[row[0]]
            gold = gold_tasks(engine, row[0])
            sentence = calibration_sentence(Calibration(*learned[1:]), config, gold)
            alpha = alpha_of(engine, row[0], config)
            figures = dict(zip(progress.columns, row, strict=True))
            todo = " ".join(advice(figures, config, gold, reconciled=row[0] in reconciled))
            yield (*row, config.confidence, *learned[1:], sentence, alpha, todo)

    return Report(columns, rows())


def plain(report: Report) -> Iterator[Values]:
    """The rows with what is JSON as itself, for a JSON document."""
    places = [i for i, name in enumerate(report.columns) if name in report.json]
    for row in report.rows:
        values = list(row)
        for i in places:
            values[i] = None if row[i] is None else Raw(row[i].encode())
        yield values


def _view(engine: Engine, name: str, project: str | None) -> Report:
    columns, rows = queries.view(engine, name, project)
    return Report(columns, rows, VIEWS[name].json)


REPORTS: Mapping[str, Callable[[Any, str | None], Report]] = {
    "workers": workers,
    "tasks": tasks,
    "project": project,
    "resolutions": resolutions,
}
