"""What reports need beside the views: workers of all projects, votes counted, gold records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sqlalchemy import Engine, text

from .failures import explained
from .queries import streamed


class Share(NamedTuple):
    """A worker's part in one project.

    Attributes:
        worker: name.
        project: name.
        S: expected number of right votes.
        n: votes.
        resolved: votes on resolved tasks.
        agreed: those of them that equal the label.
        flag: of the last adopted run.
        flag_reason: likewise.
        updated_at: microseconds.
    """

    worker: str
    project: str
    S: float
    n: int
    resolved: int
    agreed: int
    flag: str | None
    flag_reason: str | None
    updated_at: int


def shares(engine: Engine) -> Iterator[Share]:
    """Every worker of every project, by the worker's name, then the project's.

    Raises:
        DependencyError, ConfigurationError: the database.
    """
    statement = text(
        'SELECT w.name, p.name, w."S", w.n, w.resolved_votes, w.agreed, f.flag, f.flag_reason,'
        " w.updated_at FROM workers w JOIN projects p ON p.id = w.project_id"
        " LEFT JOIN worker_flags f ON f.project_id = w.project_id AND f.worker_id = w.id"
        " ORDER BY w.name, p.name"
    )
    with explained(engine.url), engine.connect() as connection:
        for row in streamed(connection, statement, {}):
            yield Share._make(row)


def vote_counts(engine: Engine, project: str) -> Iterator[tuple[int, int, int]]:
    """Task, class index and the number of counting votes, task by task.

    Raises:
        DependencyError, ConfigurationError: the database.
    """
    statement = text(
        "SELECT v.task_id, v.x, COUNT(*) AS votes FROM votes v"
        " JOIN workers w ON w.project_id = v.project_id AND w.id = v.worker_id"
        " WHERE v.project_id = (SELECT id FROM projects WHERE name = :project)"
        " AND v.x IS NOT NULL AND NOT w.blocked"
        " GROUP BY v.task_id, v.x ORDER BY v.task_id, v.x"
    )
    with explained(engine.url), engine.connect() as connection:
        for row in streamed(connection, statement, {"project": project}):
            yield int(row.task_id), int(row.x), int(row.votes)


def gold_records(engine: Engine, project: str) -> list[tuple[float, bool]]:
    """Of each gold task that calibration counts: logit of the stated top, whether it is right.

    Raises:
        DependencyError, ConfigurationError: the database.
    """
    statement = text(
        "SELECT record_z, record_hit FROM tasks"
        " WHERE project_id = (SELECT id FROM projects WHERE name = :project)"
        " AND record_seq IS NOT NULL ORDER BY record_seq"
    )
    with explained(engine.url), engine.connect() as connection:
        found = connection.execute(statement, {"project": project})
        return [(float(z), bool(hit)) for z, hit in found]


def gold_tasks(engine: Engine, project: str) -> int:
    """How many gold tasks there are, with votes or without.

    Raises:
        DependencyError, ConfigurationError: the database.
    """
    statement = text(
        "SELECT COUNT(*) FROM tasks"
        " WHERE project_id = (SELECT id FROM projects WHERE name = :project)"
        " AND truth IS NOT NULL"
    )
    with explained(engine.url), engine.connect() as connection:
        return int(connection.execute(statement, {"project": project}).scalar_one())


def blocked(engine: Engine, project: str | None) -> frozenset[tuple[str, str]]:
    """Project and worker of everybody who is blocked; of one project, if it is given.

    Raises:
        DependencyError, ConfigurationError: the database.
    """
    statement = text(
        "SELECT p.name, w.name FROM workers w JOIN projects p ON p.id = w.project_id"
        " WHERE w.blocked" + ("" if project is None else " AND p.name = :project")
    )
    with explained(engine.url), engine.connect() as connection:
        found = connection.execute(statement, {} if project is None else {"project": project})
        return frozenset((of, worker) for of, worker in found)


def adopted(engine: Engine, project: str | None) -> dict[str, tuple[int, str]]:
    """By project, of its adopted run the time in microseconds and the name; of one, if given.

    Raises:
        DependencyError, ConfigurationError: the database.
    """
    statement = text(
        "SELECT p.name, r.adopted_at, r.run FROM projects p"
        " JOIN runs r ON r.project_id = p.id AND r.id = p.run"
        + ("" if project is None else " WHERE p.name = :project")
    )
    with explained(engine.url), engine.connect() as connection:
        found = connection.execute(statement, {} if project is None else {"project": project})
        return {of: (int(at), run) for of, at, run in found}
