"""One transaction of the consumer: the look-ups and writes of `connector.ports.Transaction`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from typing import Any

import msgspec

from connector.domain.config import from_json
from connector.domain.errors import DependencyError, Fenced
from connector.domain.records import Cursor, TopicPartition
from connector.domain.rows import (
    AnnotationRow,
    Changes,
    LeaseRow,
    PairRow,
    ProjectRow,
    RunRow,
    TaskRow,
    WorkerRow,
)
from connector.engine.storage import BriefRow, HeldRow, PartHead, RecordRow, TaskPage

from . import schema, statements
from .dialect import Batch, Dialect
from .failures import explained
from .text import readable, storable

START = Cursor(0, 0)


class SqlTransaction:
    """See `connector.ports.Transaction`; made by `SqlStore.transaction`."""

    def __init__(
        self,
        dialect: Dialect,
        connection: Any,
        partition: TopicPartition,
        *,
        known: bool,
        trimmed: Cursor,
    ) -> None:
        """The partition's row is `known` to be there; its outbox is empty before `trimmed`."""
        self._dialect = dialect
        self._connection = connection
        self._partition = partition
        self._known = known
        self.trimmed = trimmed
        self.advanced = False
        self._sql = _lookups(dialect)

    def project(self, name: str) -> ProjectRow | None:
        rows = self._fetch(ProjectRow, self._sql.project, name)
        return rows[0] if rows else None

    def tasks_named(self, project_id: int, names: Collection[str]) -> TaskPage:
        found = self._dialect.texts(names)
        tasks = self._fetch(TaskRow, self._sql.tasks_named, project_id, found) if names else []
        return self._page(project_id, tasks)

    def tasks_numbered(self, project_id: int, ids: Collection[int]) -> TaskPage:
        found = self._dialect.numbers(ids)
        tasks = self._fetch(TaskRow, self._sql.tasks_numbered, project_id, found) if ids else []
        return self._page(project_id, tasks)

    def _page(self, project_id: int, tasks: Sequence[TaskRow]) -> TaskPage:
        if not tasks:
            return TaskPage((), ())
        ids = self._dialect.numbers([task.id for task in tasks])
        return TaskPage(tasks, self._fetch(PairRow, self._sql.pairs, project_id, ids))

    def task_ids_of(self, project_id: int, worker_id: int) -> list[int]:
        with explained(self._dialect.address):
            rows = self._dialect.fetch(
                self._connection, self._sql.task_ids, (project_id, worker_id)
            )
        return [row[0] for row in rows]

    def workers_named(self, project_id: int, names: Collection[str]) -> Sequence[WorkerRow]:
        found = self._dialect.texts(names)
        return self._fetch(WorkerRow, self._sql.workers_named, project_id, found) if names else []

    def workers_numbered(self, project_id: int, ids: Collection[int]) -> Sequence[WorkerRow]:
        found = self._dialect.numbers(ids)
        return self._fetch(WorkerRow, self._sql.workers_numbered, project_id, found) if ids else []

    def annotations(self, project_id: int, ids: Collection[str]) -> Sequence[AnnotationRow]:
        found = self._dialect.texts(ids)
        return self._fetch(AnnotationRow, self._sql.annotations, project_id, found) if ids else []

    def calibration_records(self, project_id: int) -> Sequence[RecordRow]:
        with explained(self._dialect.address):
            rows = self._dialect.fetch(self._connection, self._sql.records, (project_id,))
        return [RecordRow(id_, z, bool(hit), place) for id_, z, hit, place in rows]

    def run(self, project_id: int, name: str) -> RunRow | None:
        rows = self._fetch(RunRow, self._sql.run, project_id, name)
        return rows[0] if rows else None

    def waiting_parts(self, project_id: int) -> Sequence[PartHead]:
        with explained(self._dialect.address):
            rows = self._dialect.fetch(self._connection, self._sql.waiting, (project_id,))
        return list(map(PartHead._make, rows))

    def part_bodies(self, project_id: int, run: str) -> Iterator[bytes]:
        with explained(self._dialect.address):
            numbers = self._dialect.fetch(self._connection, self._sql.parts, (project_id, run))
        for (number,) in numbers:
            with explained(self._dialect.address):
                ((body,),) = self._dialect.fetch(
                    self._connection, self._sql.body, (project_id, run, number)
                )
            yield body

    def brief_tasks(self, project_id: int, after: int, limit: int) -> Sequence[BriefRow]:
        with explained(self._dialect.address):
            values = (project_id, after, limit)
            rows = self._dialect.fetch(self._connection, self._sql.brief_tasks, values)
        return list(map(BriefRow._make, rows))

    def seen_task_ids(self, project_id: int, worker_id: int) -> Sequence[int]:
        with explained(self._dialect.address):
            values = (project_id, worker_id)
            rows = self._dialect.fetch(self._connection, self._sql.seen_task_ids, values)
        return [row[0] for row in rows]

    def leases(self, topic: str, partition: int) -> Sequence[HeldRow]:
        with explained(self._dialect.address):
            rows = self._dialect.fetch(self._connection, self._sql.leases, (topic, partition))
        return [HeldRow(LeaseRow._make(row[:5]), *row[5:]) for row in rows]

    def advance(self, expected: int, following: int) -> None:
        topic, partition = self._partition
        try:
            with explained(self._dialect.address):
                swapped = self._execute(self._sql.swap, following, topic, partition, expected)
                if not swapped and not self._known:
                    # Of two that begin the partition, one inserts nothing.
                    swapped = self._execute(self._sql.begin, topic, partition, following)
        except DependencyError as error:
            self._dialect.free(self._partition, error.__cause__)
            raise
        if not swapped:
            raise Fenced(
                f"Partition {partition} of {topic} is not at offset {expected} in the database:"
                " another process has gone on with it, so this one must not. Nothing was written"
            )
        self.advanced = True

    def trim_outbox(self, partition: TopicPartition, before: Cursor) -> None:
        # From where the last one ended: until a vacuum comes, the deleted rows' index entries
        # would be walked through again each time.
        first = self.trimmed if partition == self._partition else START
        with explained(self._dialect.address):
            self._execute(self._sql.trim, *partition, *first, *before)
        if partition == self._partition:
            self.trimmed = max(first, before)

    def save(self, changes: Changes) -> None:
        if not self.advanced:
            raise RuntimeError("save before advance: only the swap keeps a zombie from writing")
        batch = Batch(self._partition, changes.progress)
        batch.insert(schema.tasks, changes.new_tasks)
        batch.update(schema.tasks, changes.tasks)
        batch.insert(schema.workers, _storable_reasons(changes.new_workers))
        batch.update(schema.workers, _storable_reasons(changes.workers))
        batch.insert(schema.votes, changes.new_pairs)
        batch.update(schema.votes, changes.pairs)
        batch.upsert(schema.annotation_ids, changes.annotations)
        batch.insert(schema.history, changes.history)
        batch.delete(schema.leases, [row[:3] for row in changes.ended_leases])
        batch.insert(schema.leases, changes.new_leases)
        batch.insert(
            schema.dead_letters,
            [row._replace(message=storable(row.message)) for row in changes.dead],
        )
        batch.upsert(schema.runs, [readable(row) for row in changes.runs])
        batch.insert(schema.run_parts, changes.new_parts)
        batch.insert(schema.worker_confusions, changes.confusions)
        batch.insert(schema.cluster_confusions, changes.clusters)
        batch.insert(schema.worker_flags, [readable(row) for row in changes.flags])
        batch.insert(
            schema.outbox,
            [(*self._partition, *m[:5], _pack(m.headers)) for m in changes.outgoing],
        )
        with explained(self._dialect.address):
            batch.insert(schema.classes, self._save_projects(changes.projects))
            for dropped in changes.dropped:
                self._execute(self._sql.drop_parts, *dropped)
            for project_id in changes.found:
                for statement in self._sql.drop_found:
                    self._execute(statement, project_id)
            self._dialect.write(self._connection, batch)

    def _save_projects(self, rows: Sequence[ProjectRow]) -> list[tuple[int, int, str]]:
        """Write the projects; the rows of `classes` that are to be written."""
        classes: list[tuple[int, int, str]] = []
        for row in rows:
            found = self._dialect.fetch(self._connection, self._sql.config, (row.id,))
            if not self._execute(self._sql.save_project, *row):
                raise DependencyError(
                    f"Project {row.name!r} has just been declared on another partition. This one"
                    " is judged again when the batch is tried again"
                )
            if not found or found[0][0] != row.config:
                self._execute(self._sql.drop_classes, row.id)
                names = enumerate(from_json(row.config).classes)
                classes += [(row.id, x, name) for x, name in names]
        return classes

    def _execute(self, statement: str, *values: object) -> int:
        return self._dialect.execute(self._connection, statement, values)

    def _fetch(self, row: Any, statement: str, *values: object) -> Any:
        with explained(self._dialect.address):
            found = self._dialect.fetch(self._connection, statement, values)
        make = self._dialect.maker(row, schema.KEPT[row])
        return list(map(make, found))


class _Lookups:
    """The statements; a parameter is `{0}` in them until the dialect is known."""

    def __init__(self, dialect: Dialect) -> None:
        numbers, texts = dialect.among_numbers, dialect.among_texts

        def select(table: Any, condition: str, hint: str = "") -> str:
            text = f"{statements.select(table)}{hint} WHERE {condition}"
            return text.replace("{0}", dialect.parameter)

        mine = "project_id = {0}"
        self.project = select(schema.projects, "name = {0}")
        by_name = dialect.by_index("tasks_by_name")
        self.tasks_named = select(schema.tasks, f"{mine} AND name {texts} ORDER BY id", by_name)
        self.tasks_numbered = select(schema.tasks, f"{mine} AND id {numbers} ORDER BY id")
        by_name = dialect.by_index("workers_by_name")
        self.workers_named = select(schema.workers, f"{mine} AND name {texts} ORDER BY id", by_name)
        self.workers_numbered = select(schema.workers, f"{mine} AND id {numbers} ORDER BY id")
        self.pairs = select(
            schema.votes,
            f"{mine} AND task_id {numbers} ORDER BY task_id, arrival IS NULL, arrival, worker_id",
        )
        self.annotations = select(
            schema.annotation_ids, f"{mine} AND annotation_id {texts} ORDER BY annotation_id"
        )
        p = dialect.parameter
        self.task_ids = (
            f"SELECT task_id FROM votes WHERE project_id = {p} AND worker_id = {p}"
            " AND (voted OR skipped) AND x IS NOT NULL ORDER BY task_id"
        )
        self.seen_task_ids = (
            f"SELECT task_id FROM votes WHERE project_id = {p} AND worker_id = {p}"
            " AND (voted OR skipped)"
        )
        self.brief_tasks = (
            "SELECT id, name, priority, max_labels, withdrawn, status, votes, margin FROM tasks"
            f" WHERE project_id = {p} AND id > {p} ORDER BY id LIMIT {p}"
        )
        held = ", ".join(f"l.{column}" for column in statements.columns(schema.leases))
        self.leases = (
            f"SELECT {held}, p.name, t.name, w.name FROM projects p"
            " JOIN leases l ON l.project_id = p.id"
            " JOIN tasks t ON t.project_id = l.project_id AND t.id = l.task_id"
            " JOIN workers w ON w.project_id = l.project_id AND w.id = l.worker_id"
            f' WHERE p.topic = {p} AND p."partition" = {p}'
        )
        self.records = (
            f"SELECT id, record_z, record_hit, record_seq FROM tasks WHERE project_id = {p}"
            " AND record_seq IS NOT NULL ORDER BY record_seq"
        )
        self.swap = (
            f"UPDATE partition_progress SET next_offset = {p}"
            f' WHERE topic = {p} AND "partition" = {p} AND next_offset = {p}'
        )
        self.begin = (
            f"{statements.insert(schema.progress)} VALUES ({p}, {p}, {p}, 0, 0, 0, 0, 0, 0)"
            " ON CONFLICT DO NOTHING"
        )
        self.trim = (
            f'DELETE FROM outbox WHERE topic_in = {p} AND "partition" = {p}'
            f" AND (input_offset, sequence) >= ({p}, {p})"
            f" AND (input_offset, sequence) < ({p}, {p})"
        )
        self.config = f"SELECT config FROM projects WHERE id = {p}"
        # The condition refuses a project of another partition, and another name of the same hash.
        self.save_project = (
            f"{statements.insert(schema.projects)}"
            f" VALUES ({', '.join([p] * len(schema.projects.columns))})"
            f" {statements.on_conflict(schema.projects)}"
            " WHERE projects.name = excluded.name AND projects.topic = excluded.topic"
            ' AND projects."partition" = excluded."partition"'
        )
        self.run = select(schema.runs, f"{mine} AND run = {{0}}")
        self.waiting = (
            f'SELECT run, part, "at" FROM run_parts WHERE project_id = {p} AND NOT EXISTS ('
            "SELECT 1 FROM runs r WHERE r.project_id = run_parts.project_id"
            " AND r.run = run_parts.run) ORDER BY run, part"
        )
        self.parts = (
            f"SELECT part FROM run_parts WHERE project_id = {p} AND run = {p} ORDER BY part"
        )
        self.body = (
            f"SELECT body FROM run_parts WHERE project_id = {p} AND run = {p} AND part = {p}"
        )
        self.drop_parts = (
            f'DELETE FROM run_parts WHERE project_id = {p} AND run = {p} AND "at" <= {p}'
        )
        self.drop_found = [
            f"DELETE FROM {table.name} WHERE project_id = {p}"
            for table in (schema.worker_confusions, schema.cluster_confusions, schema.worker_flags)
        ]
        self.drop_classes = f"DELETE FROM classes WHERE project_id = {p}"


_lookups = cache(_Lookups)
"""Of each dialect once: a transaction is made for every batch, and its statements are the same."""

_pack = msgspec.msgpack.Encoder().encode


def _storable_reasons(rows: Iterable[WorkerRow]) -> list[WorkerRow]:
    return [
        row if row.block_reason is None else row._replace(block_reason=storable(row.block_reason))
        for row in rows
    ]
