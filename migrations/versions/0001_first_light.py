"""First light: every table, and the views that are the public interface."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql
from sqlalchemy.types import UserDefinedType

revision = "0001"
down_revision = None


class ExactDouble(UserDefinedType[float]):
    """No affinity: SQLite's REAL loses the sign of -0.0."""

    cache_ok = True

    def get_col_spec(self, **_: object) -> str:
        return "FLOAT64_BLOB"


def double() -> Any:
    return sa.Double().with_variant(ExactDouble(), "sqlite")


def name() -> Any:
    return sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")


def key(column: str, type_: Any = sa.BigInteger) -> sa.Column[Any]:
    return sa.Column(column, type_, primary_key=True, autoincrement=False, nullable=False)


def some(column: str, type_: Any = sa.BigInteger) -> sa.Column[Any]:
    return sa.Column(column, type_, nullable=False)


def maybe(column: str, type_: Any = sa.BigInteger) -> sa.Column[Any]:
    return sa.Column(column, type_, nullable=True)


def upgrade() -> None:
    logs()
    projects()
    tasks()
    workers()
    votes()
    leases()
    reconciliation()
    for view, select in VIEWS.items():
        op.execute(f"CREATE VIEW {view} AS {translated(select)}")
    if op.get_bind().dialect.name == "postgresql":
        statistics()


def logs() -> None:
    op.create_table(
        "partition_progress",
        key("topic", name()),
        key("partition", sa.Integer),
        some("next_offset"),
        some("time"),
        some("received"),
        some("applied"),
        some("duplicates"),
        some("stale"),
        some("dead"),
        postgresql_with={"fillfactor": 10},
    )
    op.create_table("topics", key("topic", name()), some("partitions", sa.Integer))
    op.create_table(
        "outbox",
        key("topic_in", name()),
        key("partition", sa.Integer),
        key("input_offset"),
        key("sequence"),
        some("topic_out", name()),
        maybe("key", sa.LargeBinary),
        maybe("value", sa.LargeBinary),
        some("headers", sa.LargeBinary),
        sqlite_with_rowid=False,
        postgresql_with={
            "autovacuum_vacuum_scale_factor": 0,
            "autovacuum_vacuum_threshold": 20_000,
            "autovacuum_vacuum_insert_threshold": -1,
        },
    )
    op.create_table(
        "dead_letters",
        key("topic", name()),
        key("partition", sa.Integer),
        key("offset"),
        some("at"),
        some("code", sa.Text),
        some("message", sa.Text),
        some("size"),
        sqlite_with_rowid=False,
    )


def projects() -> None:
    op.create_table(
        "projects",
        key("id"),
        sa.Column("name", name(), nullable=False, unique=True),
        some("topic", name()),
        some("partition", sa.Integer),
        some("config", sa.Text),
        some("tasks"),
        some("workers"),
        some("arrivals"),
        some("pairs"),
        some("uses", sa.Text),
        some("b", double()),
        some("record_seq"),
        some("gold_records"),
        some("gold_resolved"),
        some("gold_right"),
        maybe("gold_lower", double()),
        maybe("gold_upper", double()),
        maybe("gold_stated", double()),
        some("declared_at"),
        maybe("run"),
        maybe("upto"),
        maybe("algorithm", sa.Text),
        some("classes_since"),
        postgresql_with={"fillfactor": 10},
    )
    op.create_table(
        "classes",
        key("project_id"),
        key("x", sa.Integer),
        some("name", name()),
        sqlite_with_rowid=False,
    )


def tasks() -> None:
    op.create_table(
        "tasks",
        key("project_id"),
        key("id"),
        some("name", name()),
        some("priority", double()),
        maybe("max_labels", sa.Integer),
        maybe("prior", sa.LargeBinary),
        maybe("base", sa.LargeBinary),
        maybe("run"),
        some("withdrawn", sa.Boolean),
        maybe("truth", sa.Integer),
        some("status", sa.Text),
        maybe("label", sa.Integer),
        some("confidence", double()),
        some("probabilities", sa.Text),
        some("votes"),
        some("version"),
        some("algorithm", sa.Text),
        maybe("resolved_at"),
        some("updated_at"),
        maybe("record_z", double()),
        maybe("record_hit", sa.Boolean),
        maybe("record_seq"),
        some("margin", double()),
        sqlite_with_rowid=False,
        postgresql_with={"fillfactor": 75},
    )
    op.create_index("tasks_by_name", "tasks", ["project_id", "name"], unique=True)
    recorded = sa.text("record_seq IS NOT NULL")
    op.create_index(
        "tasks_by_record",
        "tasks",
        ["project_id", "record_seq"],
        postgresql_where=recorded,
        sqlite_where=recorded,
    )


def workers() -> None:
    op.create_table(
        "workers",
        key("project_id"),
        key("id"),
        some("name", name()),
        some("S", double()),
        some("n"),
        some("accuracy", double()),
        some("lower", double()),
        some("upper", double()),
        some("blocked", sa.Boolean),
        maybe("block_reason", sa.Text),
        some("resolved_votes"),
        some("agreed"),
        some("mark"),
        some("updated_at"),
        maybe("run_p", double()),
        some("assigned"),
        sqlite_with_rowid=False,
        postgresql_with={"fillfactor": 40},
    )
    op.create_index("workers_by_name", "workers", ["project_id", "name"], unique=True)
    op.create_table(
        "worker_history",
        key("project_id"),
        key("worker_id"),
        key("votes"),
        some("at"),
        some("accuracy", double()),
        some("lower", double()),
        some("upper", double()),
        sqlite_with_rowid=False,
    )


def votes() -> None:
    op.create_table(
        "votes",
        key("project_id"),
        key("task_id"),
        key("worker_id"),
        maybe("x", sa.Integer),
        maybe("p", double()),
        maybe("arrival"),
        maybe("offset"),
        maybe("revision"),
        maybe("at"),
        maybe("annotation_id", name()),
        some("voted", sa.Boolean),
        some("skipped", sa.Boolean),
        some("gone", sa.Boolean),
        maybe("gone_revision"),
        maybe("gone_at"),
        sqlite_with_rowid=False,
    )
    seen = sa.text("voted OR skipped")
    op.create_index(
        "votes_by_worker",
        "votes",
        ["project_id", "worker_id"],
        postgresql_where=seen,
        sqlite_where=seen,
    )
    op.create_table(
        "annotations",
        key("project_id"),
        key("annotation_id", name()),
        maybe("task_id"),
        maybe("worker_id"),
        some("gone", sa.Boolean),
        maybe("gone_revision"),
        maybe("gone_at"),
        sqlite_with_rowid=False,
    )


def leases() -> None:
    op.create_table(
        "leases",
        key("project_id"),
        key("task_id"),
        key("worker_id"),
        some("lease", name()),
        some("expires_at"),
        sqlite_with_rowid=False,
        postgresql_with={
            "autovacuum_vacuum_scale_factor": 0,
            "autovacuum_vacuum_threshold": 20_000,
            "autovacuum_vacuum_insert_threshold": -1,
        },
    )


def reconciliation() -> None:
    op.create_table(
        "runs",
        key("project_id"),
        key("id"),
        some("run", name()),
        some("upto"),
        maybe("classes", sa.Text),
        maybe("algorithm", sa.Text),
        maybe("version", sa.Text),
        maybe("seed"),
        some("parameters", sa.Text),
        maybe("bound", double()),
        some("parts", sa.Integer),
        some("status", sa.Text),
        maybe("reason", sa.Text),
        some("summary", sa.Text),
        maybe("tasks"),
        maybe("workers"),
        maybe("votes"),
        maybe("changed"),
        some("changes", sa.Text),
        some("durations", sa.Text),
        maybe("started_at"),
        maybe("finished_at"),
        maybe("adopted_at"),
        sqlite_with_rowid=False,
    )
    op.create_index("runs_by_name", "runs", ["project_id", "run"], unique=True)
    op.create_table(
        "run_parts",
        key("project_id"),
        key("run", name()),
        key("part", sa.Integer),
        some("at"),
        some("body", sa.LargeBinary),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "worker_confusions",
        key("project_id"),
        key("worker_id"),
        key("true_class", name()),
        key("given_class", name()),
        some("expected_count", double()),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "cluster_confusions",
        key("project_id"),
        key("cluster", sa.Integer),
        key("true_class", name()),
        key("given_class", name()),
        some("expected_count", double()),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "worker_flags",
        key("project_id"),
        key("worker_id"),
        maybe("cluster", sa.Integer),
        maybe("flag", sa.Text),
        maybe("flag_reason", sa.Text),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "job_leases",
        key("project", name()),
        maybe("holder", sa.Text),
        some("expires_at"),
        maybe("topic", name()),
        maybe("partition", sa.Integer),
        maybe("run", name()),
        maybe("mark", sa.Text),
        maybe("completed"),
        sqlite_with_rowid=False,
    )


def statistics() -> None:
    """Teach the planner that a project may be all of a table.

    Without statistics it takes `project_id = ?` for one row in 200, and prefers to walk through a
    whole project on the wrong index to looking hundreds of names up on the right one; a new
    database has none for a minute or more, in which a consumer may write a million rows. So the
    first ones are made here, from rows that go again (the statistics of an empty table are kept).
    """
    for table, columns in {
        "tasks": "name, priority, withdrawn, status, confidence, probabilities, votes, version,"
        " algorithm, updated_at, margin, id)"
        " SELECT i, 't' || i, 0, false, '', 0, '', 0, 0, '', 0, 0, i",
        "workers": 'name, "S", n, accuracy, lower, upper, blocked, resolved_votes, agreed, mark,'
        " updated_at, assigned, id) SELECT i, 'w' || i, 0, 0, 0, 0, 0, false, 0, 0, 0, 0, 0, i",
        "votes": "task_id, worker_id, x, voted, skipped, gone)"
        " SELECT i, i / 10, i % 10, 0, true, false, false",
    }.items():
        op.execute(f"ALTER TABLE {table} ALTER COLUMN project_id SET (n_distinct = 1)")
        op.execute(f"INSERT INTO {table} (project_id, {columns} FROM generate_series(1, 1000) AS i")
        op.execute(f"ANALYZE {table}")
        # Not DELETE: its pages, empty but counted, would make the planner expect no rows at all.
        op.execute(f"TRUNCATE {table}")


# `time(x)` and `json(x)` stand for what each database makes of microseconds and of JSON text.
VIEWS = {
    "task_labels": """
        SELECT p.name AS project, t.name AS task, c.name AS label, t.confidence, t.status, t.votes,
               t.version, t.algorithm, json(t.probabilities) AS probabilities,
               time(t.resolved_at) AS resolved_at, time(t.updated_at) AS updated_at
        FROM tasks t
        JOIN projects p ON p.id = t.project_id
        LEFT JOIN classes c ON c.project_id = t.project_id AND c.x = t.label""",
    "worker_quality": """
        SELECT p.name AS project, w.name AS worker, w.accuracy, w.lower, w.upper, w.n AS votes,
               CAST(w.agreed AS DOUBLE PRECISION) / NULLIF(w.resolved_votes, 0) AS agreement,
               f.cluster, f.flag, f.flag_reason, time(w.updated_at) AS updated_at
        FROM workers w
        JOIN projects p ON p.id = w.project_id
        LEFT JOIN worker_flags f ON f.project_id = w.project_id AND f.worker_id = w.id""",
    # Partitioned by what people filter by, so that the filter reaches the tables.
    "worker_confusion": """
        SELECT p.name AS project, w.name AS worker, m.true_class, m.given_class,
               m.expected_count,
               m.expected_count / NULLIF(
                   SUM(m.expected_count) OVER (PARTITION BY p.name, w.name, m.true_class), 0)
                   AS rate
        FROM worker_confusions m
        JOIN projects p ON p.id = m.project_id
        JOIN workers w ON w.project_id = m.project_id AND w.id = m.worker_id
        JOIN classes t ON t.project_id = m.project_id AND t.name = m.true_class
        JOIN classes g ON g.project_id = m.project_id AND g.name = m.given_class""",
    "worker_quality_history": """
        SELECT p.name AS project, w.name AS worker, time(h.at) AS at, h.votes, h.accuracy,
               h.lower, h.upper
        FROM worker_history h
        JOIN projects p ON p.id = h.project_id
        JOIN workers w ON w.project_id = h.project_id AND w.id = h.worker_id""",
    # A worker's n is its present votes: a sum over workers instead of a count over votes.
    # Confidences are summed as whole billionths: of doubles the last digits of a sum depend on
    # the order in which the database happens to read them.
    "project_progress": """
        SELECT p.name AS project, COALESCE(t.tasks, 0) AS tasks, COALESCE(t.open, 0) AS open,
               COALESCE(t.tasks - t.open, 0) AS resolved, COALESCE(t.ambiguous, 0) AS ambiguous,
               COALESCE(w.votes, 0) AS votes, p.pairs + COALESCE(l.leases, 0) AS budget_used,
               CAST(t.billionths AS DOUBLE PRECISION) / 1e9 / NULLIF(t.judged, 0)
                   AS mean_confidence
        FROM projects p
        LEFT JOIN (
            SELECT project_id, COUNT(*) AS tasks,
                   SUM(CASE WHEN status = 'open' THEN 1 ELSE 0 END) AS open,
                   SUM(CASE WHEN status = 'ambiguous' THEN 1 ELSE 0 END) AS ambiguous,
                   COUNT(CASE WHEN votes > 0 OR truth IS NOT NULL THEN 1 END) AS judged,
                   SUM(CASE WHEN votes > 0 OR truth IS NOT NULL
                       THEN CAST(ROUND(confidence * 1e9) AS BIGINT) END) AS billionths
            FROM tasks GROUP BY project_id
        ) t ON t.project_id = p.id
        LEFT JOIN (
            SELECT project_id, CAST(SUM(n) AS BIGINT) AS votes FROM workers GROUP BY project_id
        ) w ON w.project_id = p.id
        LEFT JOIN (
            SELECT project_id, COUNT(*) AS leases FROM leases GROUP BY project_id
        ) l ON l.project_id = p.id""",
    "event_accounting": """
        SELECT topic, "partition", received, applied, duplicates, stale, dead
        FROM partition_progress""",
    "cluster_confusion": """
        SELECT p.name AS project, m.cluster, m.true_class, m.given_class, m.expected_count,
               m.expected_count / NULLIF(
                   SUM(m.expected_count) OVER (PARTITION BY p.name, m.cluster, m.true_class), 0)
                   AS rate
        FROM cluster_confusions m
        JOIN projects p ON p.id = m.project_id
        JOIN classes t ON t.project_id = m.project_id AND t.name = m.true_class
        JOIN classes g ON g.project_id = m.project_id AND g.name = m.given_class""",
    "reconciliation_runs": """
        SELECT p.name AS project, r.run, r.upto, r.algorithm, r.version, r.seed,
               json(r.parameters) AS parameters, r.bound, r.parts, r.status, r.reason,
               json(r.summary) AS summary, r.tasks, r.workers, r.votes, r.changed,
               json(r.changes) AS changes, json(r.durations) AS durations,
               time(r.started_at) AS started_at, time(r.finished_at) AS finished_at,
               time(r.adopted_at) AS adopted_at
        FROM runs r
        JOIN projects p ON p.id = r.project_id""",
    "calibration": """
        SELECT name AS project, b, gold_records AS gold_tasks, gold_resolved AS resolved_at_stop,
               gold_right AS right_at_stop, gold_lower AS lower, gold_upper AS upper,
               gold_stated AS stated_mean
        FROM projects""",
}


def translated(select: str) -> str:
    if op.get_bind().dialect.name == "postgresql":
        return replaced(
            select,
            time="timestamptz 'epoch' + {0} * interval '1 microsecond'",
            json="CAST({0} AS json)",
        )
    # SQLite's division and remainder round towards 0: the second part is made 0 to 999999 first.
    part = "(({0} % 1000000 + 1000000) % 1000000)"
    return replaced(
        select,
        time=f"strftime('%Y-%m-%dT%H:%M:%S', ({{0}} - {part}) / 1000000, 'unixepoch')"
        f" || printf('.%06dZ', {part})",
        json="{0}",
    )


def replaced(select: str, **forms: str) -> str:
    for function, form in forms.items():
        before, *rest = select.split(f"{function}(")
        select = before
        for piece in rest:
            column, after = piece.split(")", 1)
            select += form.format(column) + after
    return select
