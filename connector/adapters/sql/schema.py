"""The tables, one schema for PostgreSQL and SQLite. The views on them are the public interface.

Columns of a table that keeps rows of `connector.domain.rows` have the names and the order of the
row's fields, so that a row goes in and comes out as it is.

There are no foreign keys. The consumer is the only writer of these tables and numbers what it
writes itself; on PostgreSQL a check per new vote of (project_id, task_id) and (project_id,
worker_id) costs an index look-up and a row lock each, which no measurement would call free.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects import postgresql
from sqlalchemy.types import TypeEngine, UserDefinedType

from connector.domain.rows import (
    AnnotationRow,
    ClusterRow,
    ConfusionRow,
    DeadRow,
    FlagRow,
    HistoryRow,
    LeaseRow,
    PairRow,
    PartRow,
    ProgressRow,
    ProjectRow,
    RunRow,
    TaskRow,
    WorkerRow,
)


class ExactDouble(UserDefinedType[float]):
    """A double in SQLite, in a column without affinity: one of REAL loses the sign of -0.0."""

    cache_ok = True

    def get_col_spec(self, **_: object) -> str:
        """The declared type: one with BLOB in it has no affinity."""
        return "FLOAT64_BLOB"


_Type = TypeEngine[Any]
_big: _Type = BigInteger()
_int: _Type = Integer()
_bool: _Type = Boolean()
_bytes: _Type = LargeBinary()
_text: _Type = Text()
_double: _Type = Double().with_variant(ExactDouble(), "sqlite")
# Names are compared as bytes: faster, and an operating system's new collation breaks no index.
_name: _Type = Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")

metadata = MetaData()


def _key(name: str, type_: _Type) -> Column[Any]:
    return Column(name, type_, primary_key=True, autoincrement=False, nullable=False)


def _some(name: str, type_: _Type) -> Column[Any]:
    return Column(name, type_, nullable=False)


def _maybe(name: str, type_: _Type) -> Column[Any]:
    return Column(name, type_, nullable=True)


progress = Table(
    "partition_progress",
    metadata,
    _key("topic", _name),
    _key("partition", _int),
    _some("next_offset", _big),
    _some("time", _big),
    _some("received", _big),
    _some("applied", _big),
    _some("duplicates", _big),
    _some("stale", _big),
    _some("dead", _big),
    postgresql_with={"fillfactor": 10},
)

# How many partitions a topic had at first: with another number, records of one project would come
# on two partitions.
topics = Table(
    "topics",
    metadata,
    _key("topic", _name),
    _some("partitions", _int),
)

# Two partitions that declare one name at once: the second one's insert is refused.
projects = Table(
    "projects",
    metadata,
    _key("id", _big),
    Column("name", _name, nullable=False, unique=True),
    _some("topic", _name),
    _some("partition", _int),
    _some("config", _text),
    _some("tasks", _big),
    _some("workers", _big),
    _some("arrivals", _big),
    _some("pairs", _big),
    _some("uses", _text),
    _some("b", _double),
    _some("record_seq", _big),
    _some("gold_records", _big),
    _some("gold_resolved", _big),
    _some("gold_right", _big),
    _maybe("gold_lower", _double),
    _maybe("gold_upper", _double),
    _maybe("gold_stated", _double),
    _some("declared_at", _big),
    _maybe("run", _big),
    _maybe("upto", _big),
    _maybe("algorithm", _text),
    _some("classes_since", _big),
    postgresql_with={"fillfactor": 10},
)

# Derived from projects.config, for the views: a join per row instead of JSON parsed per row.
classes = Table(
    "classes",
    metadata,
    _key("project_id", _big),
    _key("x", _int),
    _some("name", _name),
    sqlite_with_rowid=False,
)

# A fill factor leaves room for a changed row on its own page (HOT): no index is touched then.
tasks = Table(
    "tasks",
    metadata,
    _key("project_id", _big),
    _key("id", _big),
    _some("name", _name),
    _some("priority", _double),
    _maybe("max_labels", _int),
    _maybe("prior", _bytes),
    _maybe("base", _bytes),
    _maybe("run", _big),
    _some("withdrawn", _bool),
    _maybe("truth", _int),
    _some("status", _text),
    _maybe("label", _int),
    _some("confidence", _double),
    _some("probabilities", _text),
    _some("votes", _big),
    _some("version", _big),
    _some("algorithm", _text),
    _maybe("resolved_at", _big),
    _some("updated_at", _big),
    _maybe("record_z", _double),
    _maybe("record_hit", _bool),
    _maybe("record_seq", _big),
    _some("margin", _double),
    Index("tasks_by_name", "project_id", "name", unique=True),
    # The few tasks with a calibration record, least recently updated first.
    Index(
        "tasks_by_record",
        "project_id",
        "record_seq",
        postgresql_where=text("record_seq IS NOT NULL"),
        sqlite_where=text("record_seq IS NOT NULL"),
    ),
    sqlite_with_rowid=False,
    postgresql_with={"fillfactor": 75},
)

workers = Table(
    "workers",
    metadata,
    _key("project_id", _big),
    _key("id", _big),
    _some("name", _name),
    _some("S", _double),
    _some("n", _big),
    _some("accuracy", _double),
    _some("lower", _double),
    _some("upper", _double),
    _some("blocked", _bool),
    _maybe("block_reason", _text),
    _some("resolved_votes", _big),
    _some("agreed", _big),
    _some("mark", _big),
    _some("updated_at", _big),
    _maybe("run_p", _double),
    _some("assigned", _big),
    Index("workers_by_name", "project_id", "name", unique=True),
    sqlite_with_rowid=False,
    postgresql_with={"fillfactor": 40},
)

votes = Table(
    "votes",
    metadata,
    _key("project_id", _big),
    _key("task_id", _big),
    _key("worker_id", _big),
    _maybe("x", _int),
    _maybe("p", _double),
    _maybe("arrival", _big),
    _maybe("offset", _big),
    _maybe("revision", _big),
    _maybe("at", _big),
    _maybe("annotation_id", _name),
    _some("voted", _bool),
    _some("skipped", _bool),
    _some("gone", _bool),
    _maybe("gone_revision", _big),
    _maybe("gone_at", _big),
    # A worker's tasks, when the worker is blocked or asks for another.
    Index(
        "votes_by_worker",
        "project_id",
        "worker_id",
        postgresql_where=text("voted OR skipped"),
        sqlite_where=text("voted OR skipped"),
    ),
    sqlite_with_rowid=False,
)

annotation_ids = Table(
    "annotations",
    metadata,
    _key("project_id", _big),
    _key("annotation_id", _name),
    _maybe("task_id", _big),
    _maybe("worker_id", _big),
    _some("gone", _bool),
    _maybe("gone_revision", _big),
    _maybe("gone_at", _big),
    sqlite_with_rowid=False,
)

history = Table(
    "worker_history",
    metadata,
    _key("project_id", _big),
    _key("worker_id", _big),
    _key("votes", _big),
    _some("at", _big),
    _some("accuracy", _double),
    _some("lower", _double),
    _some("upper", _double),
    sqlite_with_rowid=False,
)

leases = Table(
    "leases",
    metadata,
    _key("project_id", _big),
    _key("task_id", _big),
    _key("worker_id", _big),
    _some("lease", _name),
    _some("expires_at", _big),
    sqlite_with_rowid=False,
    # Like the outbox: every row goes soon.
    postgresql_with={
        "autovacuum_vacuum_scale_factor": 0,
        "autovacuum_vacuum_threshold": 20_000,
        "autovacuum_vacuum_insert_threshold": -1,
    },
)

outbox = Table(
    "outbox",
    metadata,
    _key("topic_in", _name),
    _key("partition", _int),
    _key("input_offset", _big),
    _key("sequence", _big),
    _some("topic_out", _name),
    _maybe("key", _bytes),
    _maybe("value", _bytes),
    _some("headers", _bytes),
    sqlite_with_rowid=False,
    # A queue: every row is deleted soon. Vacuumed by rows, not by share, it stays small.
    postgresql_with={
        "autovacuum_vacuum_scale_factor": 0,
        "autovacuum_vacuum_threshold": 20_000,
        "autovacuum_vacuum_insert_threshold": -1,
    },
)

dead_letters = Table(
    "dead_letters",
    metadata,
    _key("topic", _name),
    _key("partition", _int),
    _key("offset", _big),
    _some("at", _big),
    _some("code", _text),
    _some("message", _text),
    _some("size", _big),
    sqlite_with_rowid=False,
)

runs = Table(
    "runs",
    metadata,
    _key("project_id", _big),
    _key("id", _big),
    _some("run", _name),
    _some("upto", _big),
    _maybe("classes", _text),
    _maybe("algorithm", _text),
    _maybe("version", _text),
    _maybe("seed", _big),
    _some("parameters", _text),
    _maybe("bound", _double),
    _some("parts", _int),
    _some("status", _text),
    _maybe("reason", _text),
    _some("summary", _text),
    _maybe("tasks", _big),
    _maybe("workers", _big),
    _maybe("votes", _big),
    _maybe("changed", _big),
    _some("changes", _text),
    _some("durations", _text),
    _maybe("started_at", _big),
    _maybe("finished_at", _big),
    _maybe("adopted_at", _big),
    Index("runs_by_name", "project_id", "run", unique=True),
    sqlite_with_rowid=False,
)

# What has come of a run whose end has not, or that waits for a person.
run_parts = Table(
    "run_parts",
    metadata,
    _key("project_id", _big),
    _key("run", _name),
    _key("part", _int),
    _some("at", _big),
    _some("body", _bytes),
    sqlite_with_rowid=False,
)

# Classes by name: their numbers may change before the next run.
worker_confusions = Table(
    "worker_confusions",
    metadata,
    _key("project_id", _big),
    _key("worker_id", _big),
    _key("true_class", _name),
    _key("given_class", _name),
    _some("expected_count", _double),
    sqlite_with_rowid=False,
)

cluster_confusions = Table(
    "cluster_confusions",
    metadata,
    _key("project_id", _big),
    _key("cluster", _int),
    _key("true_class", _name),
    _key("given_class", _name),
    _some("expected_count", _double),
    sqlite_with_rowid=False,
)

worker_flags = Table(
    "worker_flags",
    metadata,
    _key("project_id", _big),
    _key("worker_id", _big),
    _maybe("cluster", _int),
    _maybe("flag", _text),
    _maybe("flag_reason", _text),
    sqlite_with_rowid=False,
)

# The scheduled job's own: no state of the service, and no row of it that the consumer touches.
# `run`, `mark` and `completed` stay when the lease ends: they say when the next run is due.
job_leases = Table(
    "job_leases",
    metadata,
    _key("project", _name),
    _maybe("holder", _text),
    _some("expires_at", _big),
    _maybe("topic", _name),
    _maybe("partition", _int),
    _maybe("run", _name),
    _maybe("mark", _text),
    _maybe("completed", _big),
    sqlite_with_rowid=False,
)

# Which table keeps which rows.
KEPT: dict[type, Table] = {
    ProgressRow: progress,
    ProjectRow: projects,
    TaskRow: tasks,
    WorkerRow: workers,
    PairRow: votes,
    AnnotationRow: annotation_ids,
    HistoryRow: history,
    LeaseRow: leases,
    DeadRow: dead_letters,
    PartRow: run_parts,
    RunRow: runs,
    ConfusionRow: worker_confusions,
    ClusterRow: cluster_confusions,
    FlagRow: worker_flags,
}
