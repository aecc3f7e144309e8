"""What the scheduled job reads: how projects stand, and one project's votes in arrays."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Engine, text

from connector.domain.config import from_json
from connector.domain.records import TopicPartition
from connector.reconcile.changes import Mark, config_digest, from_text
from connector.reconcile.ports import Outcome, Standing
from connector.reconcile.snapshot import Blocked, Said, Snapshot

from .failures import explained
from .leases import NOW
from .vote_columns import PAGE, vote_columns

_STANDINGS = """
SELECT p.id, p.name, p.topic, p."partition", p.config, p.arrivals, p.uses,
       COALESCE(g.next_offset, 0) AS next_offset,
       CASE WHEN l.holder IS NOT NULL AND l.expires_at > {now} THEN 1 ELSE 0 END AS leased,
       l.run, l.mark, l.completed
FROM projects p
LEFT JOIN partition_progress g ON g.topic = p.topic AND g."partition" = p."partition"
LEFT JOIN job_leases l ON l.project = p.name
"""

_GOLD = (
    "SELECT COUNT(*), SUM(id), SUM(id * (truth + 1)) FROM tasks"
    " WHERE project_id = :id AND truth IS NOT NULL"
)
_BLOCKED = "SELECT COUNT(*), SUM(id) FROM workers WHERE project_id = :id AND blocked"


class SqlReader:
    """Implements `connector.reconcile.ports.Reader`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._now = NOW[engine.dialect.name]

    def standings(self, project: str | None = None) -> list[Standing]:
        with self._reading() as connection:
            return [_standing(connection, row) for row in self._projects(connection, project)]

    def next_offset(self, partition: TopicPartition) -> int:
        statement = text(
            'SELECT next_offset FROM partition_progress WHERE topic = :t AND "partition" = :p'
        )
        with explained(self._engine.url), self._engine.connect() as connection:
            found = connection.execute(statement, {"t": partition[0], "p": partition[1]}).scalar()
        return 0 if found is None else int(found)

    def outcome(self, project: str, run: str) -> Outcome | None:
        statement = text(
            "SELECT status, reason FROM reconciliation_runs WHERE project = :project AND run = :run"
        )
        with explained(self._engine.url), self._engine.connect() as connection:
            found = connection.execute(statement, {"project": project, "run": run}).first()
        return None if found is None else Outcome(found[0], found[1])

    def snapshot(self, project: str, said: Said | None = None) -> Snapshot:
        with self._reading() as connection:
            (row,) = self._projects(connection, project)
            standing = _standing(connection, row)
            total = sum(standing.mark.uses)
            task, worker, label, arrival = vote_columns(connection, int(row.id), total, said)
            order = np.argsort(arrival, kind="stable")
            task, worker, label = task[order], worker[order], label[order]
            out = np.isin(worker, _blocked(connection, int(row.id)))
            counting = ~out
            task_ids, places = np.unique(task[counting], return_inverse=True)
            worker_ids, voters = np.unique(worker[counting], return_inverse=True)
            tasks, truth, priors = _tasks(connection, int(row.id), task_ids)
            workers = _workers(connection, int(row.id), worker_ids)
            out &= np.isin(task, task_ids)
            blocked_ids, silenced = np.unique(worker[out], return_inverse=True)
            blocked = Blocked(
                np.searchsorted(task_ids, task[out]),
                silenced.astype(np.int64, copy=False),
                label[out],
                _workers(connection, int(row.id), blocked_ids),
            )
        return Snapshot(
            project,
            from_json(row.config),
            standing.partition,
            standing.next_offset,
            standing.mark,
            places.astype(np.int64, copy=False),
            voters.astype(np.int64, copy=False),
            label[counting],
            tasks,
            workers,
            truth,
            priors,
            blocked,
        )

    def _projects(self, connection: Connection, project: str | None) -> Sequence[Any]:
        statement = _STANDINGS.format(now=self._now)
        if project is None:
            return connection.execute(text(statement + "ORDER BY p.name")).all()
        return connection.execute(text(statement + "WHERE p.name = :name"), {"name": project}).all()

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        """All that is read in the block is of one moment. Nothing is locked: the consumer goes on.

        (SQLite's `BEGIN` takes its picture with the first read, and readers and the writer do not
        meet in its write-ahead log.)
        """
        with explained(self._engine.url), self._engine.connect() as plain:
            connection = plain
            if self._engine.dialect.name == "postgresql":
                connection = plain.execution_options(
                    isolation_level="REPEATABLE READ", postgresql_readonly=True
                )
            with connection.begin():
                yield connection


def _standing(connection: Connection, row: Any) -> Standing:
    gold, blocked = (
        ":".join(str(int(v or 0)) for v in connection.execute(text(query), {"id": row.id}).one())
        for query in (_GOLD, _BLOCKED)
    )
    uses = msgspec.json.decode(row.uses, type=tuple[int, ...])
    config = from_json(row.config)
    return Standing(
        row.name,
        TopicPartition(row.topic, row.partition),
        config.algorithm,
        int(row.next_offset),
        Mark(int(row.arrivals), uses, gold, blocked, config_digest(config)),
        bool(row.leased),
        row.run,
        from_text(row.mark),
        None if row.completed is None else int(row.completed),
    )


def _blocked(connection: Connection, id: int) -> NDArray[np.int64]:
    statement = text("SELECT id FROM workers WHERE project_id = :id AND blocked")
    return np.array([row[0] for row in connection.execute(statement, {"id": id})], dtype=np.int64)


def _tasks(
    connection: Connection, id: int, wanted: NDArray[np.int64]
) -> tuple[list[str], dict[int, int], dict[int, tuple[float, ...]]]:
    """Names of the wanted tasks, and by place the truths and own priors that some have."""
    place = {number: at for at, number in enumerate(wanted.tolist())}
    names = [""] * len(place)
    truth: dict[int, int] = {}
    priors: dict[int, tuple[float, ...]] = {}
    statement = text("SELECT id, name, truth, prior FROM tasks WHERE project_id = :id")
    for number, name, known, prior in _paged(connection, statement, id):
        at = place.get(number)
        if at is None:
            continue
        names[at] = name
        if known is not None:
            truth[at] = int(known)
        if prior is not None:
            priors[at] = struct.unpack(f"<{len(prior) // 8}d", prior)
    return names, dict(sorted(truth.items())), dict(sorted(priors.items()))


def _workers(connection: Connection, id: int, wanted: NDArray[np.int64]) -> list[str]:
    place = {number: at for at, number in enumerate(wanted.tolist())}
    names = [""] * len(place)
    statement = text("SELECT id, name FROM workers WHERE project_id = :id")
    for number, name in _paged(connection, statement, id):
        if (at := place.get(number)) is not None:
            names[at] = name
    return names


def _paged(connection: Connection, statement: Any, id: int) -> Iterator[Any]:
    streaming = connection.execution_options(stream_results=True, max_row_buffer=PAGE)
    for page in streaming.execute(statement, {"id": id}).partitions(PAGE):
        yield from page
