"""Leases of the scheduled job, in a table that nobody else writes."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine, text

from connector.domain.records import TopicPartition
from connector.reconcile.changes import Mark, to_text

from .database import IMMEDIATE
from .failures import explained

NOW = {
    "postgresql": "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)",
    "sqlite": "CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER)",
}
"""Microseconds since 1970 by the database's clock: the jobs' machines may disagree."""


class SqlLeases:
    """Implements `connector.reconcile.ports.Leases`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._now = NOW[engine.dialect.name]

    def take(self, project: str, holder: str, seconds: float) -> bool:
        return self._changed(
            "INSERT INTO job_leases (project, holder, expires_at)"
            f" VALUES (:project, :holder, {self._now} + :length)"
            " ON CONFLICT (project) DO UPDATE"
            " SET holder = excluded.holder, expires_at = excluded.expires_at"
            f" WHERE job_leases.holder IS NULL OR job_leases.expires_at <= {self._now}",
            project,
            holder,
            length=int(seconds * 1_000_000),
        )

    def renew(self, project: str, holder: str, seconds: float) -> bool:
        length = int(seconds * 1_000_000)
        return self._held(f"expires_at = {self._now} + :length", project, holder, length=length)

    def note_run(
        self, project: str, holder: str, partition: TopicPartition, run: str, mark: Mark
    ) -> bool:
        return self._held(
            'topic = :topic, "partition" = :partition, run = :run, mark = :mark, completed = NULL',
            project,
            holder,
            topic=partition.topic,
            partition=partition.partition,
            run=run,
            mark=to_text(mark),
        )

    def note_completed(self, project: str, holder: str, offset: int) -> bool:
        return self._held("completed = :offset", project, holder, offset=offset)

    def forget_run(self, project: str, holder: str) -> bool:
        return self._held("run = NULL, mark = NULL, completed = NULL", project, holder)

    def release(self, project: str, holder: str) -> None:
        self._held("holder = NULL, expires_at = 0", project, holder)

    def _held(self, changes: str, project: str, holder: str, **values: Any) -> bool:
        return self._changed(
            f"UPDATE job_leases SET {changes} WHERE project = :project AND holder = :holder",
            project,
            holder,
            **values,
        )

    def _changed(self, statement: str, project: str, holder: str, **values: Any) -> bool:
        """Whether the statement changed the project's row; its transaction is over then."""
        parameters = {"project": project, "holder": holder, **values}
        with explained(self._engine.url), self._engine.connect() as connection:
            immediate = connection.execution_options(**{IMMEDIATE: True})
            with immediate.begin():
                return immediate.execute(text(statement), parameters).rowcount == 1
