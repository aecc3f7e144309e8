"""What the code cannot say of itself in a table: a sentence per column, key, topic, log line."""

from __future__ import annotations

from collections.abc import Mapping

TOPICS: Mapping[str, tuple[str, str, str]] = {
    "annotations": ("in", "the project", "the events; the log that everything can be rebuilt from"),
    "resolved": ("out", "project/task", "`label.resolved`, `label.revised`, `label.reopened`"),
    "assigned": (
        "out",
        "project/worker",
        "`task.assigned`, `assignment.expired`, `assignment.none`",
    ),
    "dead": ("out", "as it came", "records that could not be used, as they came, and why"),
}
"""By the field of `TopicNames`: direction, key, what it holds."""

VIEWS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "task_labels": (
        "one row per task",
        {
            "project": "",
            "task": "",
            "label": "the answer; NULL while no vote counts",
            "confidence": "its stated probability",
            "status": "`open`, `confident`, `capped`, `ambiguous`, `gold` or `adjudicated`",
            "votes": "distinct workers whose votes count",
            "version": "of the last message, 0 before the first",
            "algorithm": "that the label comes from",
            "probabilities": "JSON, class to stated probability",
            "resolved_at": "of the last `label.resolved` or `label.revised`; NULL while open",
            "updated_at": "",
        },
    ),
    "worker_quality": (
        "one row per worker and project",
        {
            "project": "",
            "worker": "",
            "accuracy": "posterior mean",
            "lower": "of the 95 % interval",
            "upper": "likewise",
            "votes": "present ones",
            "agreement": "share of the votes on resolved tasks that equal the label; NULL without",
            "cluster": "from a reconciliation, else NULL",
            "flag": "likewise",
            "flag_reason": "likewise",
            "updated_at": "",
        },
    ),
    "worker_confusion": (
        "one row per worker, true and given class, from a reconciliation",
        {
            "project": "",
            "worker": "",
            "true_class": "",
            "given_class": "",
            "expected_count": "of such votes",
            "rate": "their share of the true class",
        },
    ),
    "worker_quality_history": (
        "one row when a worker first has 1, 2, 5, 10, 20, 50, ... votes",
        {
            "project": "",
            "worker": "",
            "at": "when that was",
            "votes": "the mark",
            "accuracy": "then",
            "lower": "",
            "upper": "",
        },
    ),
    "project_progress": (
        "one row per project",
        {
            "project": "",
            "tasks": "all that were ever named",
            "open": "",
            "resolved": "all that are not open",
            "ambiguous": "",
            "votes": "present ones, blocked workers' included",
            "budget_used": "pairs (task, worker) that ever had a vote, and open leases",
            "mean_confidence": "over the tasks with a counting vote or gold, to nine digits",
        },
    ),
    "event_accounting": (
        "one row per partition; received = applied + duplicates + stale + dead",
        {
            "topic": "",
            "partition": "",
            "received": "",
            "applied": "",
            "duplicates": "changed nothing",
            "stale": "older than what counts",
            "dead": "could not be used",
        },
    ),
    "cluster_confusion": (
        "one row per cluster of workers, true and given class, from a reconciliation",
        {
            "project": "",
            "cluster": "",
            "true_class": "",
            "given_class": "",
            "expected_count": "",
            "rate": "",
        },
    ),
    "reconciliation_runs": (
        "one row per run",
        {
            "project": "",
            "run": "",
            "upto": "offset of its snapshot",
            "algorithm": "",
            "version": "of the release that computed it",
            "seed": "",
            "parameters": "JSON",
            "bound": "the algorithm's, where it has one",
            "parts": "in which it came",
            "status": "`adopted`, `held`, `rejected`, `refused` or `failed`",
            "reason": "why it is or was held, refused (its code first) or failed",
            "summary": "JSON, as the job gave it",
            "tasks": "that it decides",
            "workers": "that it judges",
            "votes": "that it has read, where the job says so",
            "changed": "resolved tasks whose label it changes, or would",
            "changes": "JSON, the ten most certain of them: task, from, to, confidence",
            "durations": "JSON, of the job's stages",
            "started_at": "",
            "finished_at": "",
            "adopted_at": "",
        },
    ),
    "calibration": (
        "one row per project: is the confidence true, by its gold tasks?",
        {
            "project": "",
            "b": "slope on the logit of the confidence, 1 without gold; below 0.6 the stop value is"
            " out of this crowd's reach",
            "gold_tasks": "with at least two votes",
            "resolved_at_stop": "of them, by their votes alone",
            "right_at_stop": "of these",
            "lower": "of the 95 % interval of their share",
            "upper": "likewise",
            "stated_mean": "confidence stated for them",
        },
    ),
}
"""Of each view: what a row is, and each column's meaning where its name does not say it."""


PROJECT_KEYS: Mapping[str, tuple[str, str]] = {
    "project.name": ('"sentiment"', "the key of its events"),
    "project.kind": ('"binary"', "binary | categorical | ordinal"),
    "project.classes": ('["negative", "positive"]', "2 to 1,000; in order for ordinal"),
    "project.closed": ("", "true: no more assignments, votes still count"),
    "model.worker_prior": ("", "Beta(alpha, beta) of a worker's accuracy"),
    "model.class_prior": ("[0.5, 0.5]", "optional, one number a class; uniform without it"),
    "resolve.confidence": ("", "a label resolves at this stated probability ..."),
    "resolve.min_labels": ("", "... and with so many workers' votes"),
    "resolve.max_labels": ("10", "optional: then it is `capped`, or `ambiguous`"),
    "resolve.ambiguity": ("0.6", "below it a capped task is `ambiguous`; at most confidence"),
    "resolve.doubt": ("", "share of tasks taken as misleading; 0: the paper's posterior"),
    "resolve.calibrate": ("", "learn on gold tasks how much the confidence is worth"),
    "resolve.reopen_confidence": (
        "0.8",
        "below it a resolved task is open again; at most confidence",
    ),
    "assign.policy": ("", "uncertainty | uniform"),
    "assign.probes": ("", '"auto", a number of first tasks, or 0'),
    "assign.lease_seconds": ("", "how long an assignment holds"),
    "assign.gold_rate": ("", "share of assignments that are gold tasks"),
    "assign.budget": ("10000", "optional: pairs (task, worker) at most"),
    "assign.skilled_after": ("4", "optional: from so many votes on only skilled workers"),
    "assign.skilled_accuracy": ("", "their lower bound"),
    "assign.experts": ("", "they get ambiguous tasks first, and settle them"),
    "quality.block_spammers_after": ("", "a run blocks spammers with so many votes; 0: never"),
    "reconcile.algorithm": ("", "auto | sorted_sbic | cola | dawid_skene"),
    "reconcile.max_flip_fraction": ("", "a run that flips more labels waits for a person"),
}
"""Of each key of a project file: an example where there is no default, and what it means."""

LOG_LINES: Mapping[str, str] = {
    "broker_away": "Kafka does not answer; it is asked again",
    "broker_unreachable": "no broker has a connection for 2 s; said once, `broker_back` ends it",
    "crashed": "a bug; the traceback is in the line; exit code 1",
    "database_setting": "a durability setting of the database was off and is on for us",
    "failed": "the process ends; `reason` says what to do, `exit_code` is in the line",
    "lease_not_released": "`reconcile`: the database did not take it; the lease ends by itself",
    "lease_not_renewed": "`reconcile`: the database was busy or away; the next renewal tells",
    "reconcile_crashed": "a bug on one project; the others go on; the traceback is in the line",
    "reconcile_failed": "`reconcile` failed on one project; the others go on",
    "round_failed": "`reconcile --every` could not read the projects; it tries again",
    "time_not_sent": "a quiet partition with leases due could not be told the time; tried again",
    "run_failed": "`reconcile` found a result that must not be adopted; `reason` says why",
    "run_in_doubt": "`reconcile` took over from a job that died while it sent; `sent` is where",
    "hangs": "a call of the Kafka client does not return; the process ends, to be started again",
    "offsets_not_committed": "`at_least_once`: the group's offset is behind; repeats after a crash",
    "partition_waits": "the database or broker failed for this partition; it is tried again",
    "publisher_failed": "the outcome of a publish is unknown; every partition is recovered",
    "records_missing": "`--rebuild` went on over records that the topic no longer has",
    "stopping_took_too_long": "SIGTERM was 8.5 s ago; the process ends, which is safe",
    "unknown_variable": "a `CROWDRESOLVE_` variable that is no setting",
}
"""Of each line that is logged as a warning or worse by the service."""

FAILPOINTS: Mapping[str, str] = {
    "after_decode": "the batch is decoded",
    "after_apply": "it is applied in memory",
    "before_database_commit": "it is written, not committed",
    "after_database_commit": "it is committed, nothing published",
    "after_send": "its messages are sent, not committed",
    "before_kafka_commit": "the offset is in the transaction, not committed",
    "after_kafka_commit": "all is committed, nobody has noted it",
    "during_revoke": "its partitions are being taken away",
}
"""Of each place where a test can make the process die."""

JOB_FAILPOINTS: Mapping[str, str] = {
    "snapshot_read": "the snapshot is read",
    "computed": "the result is there",
    "encoded": "its records are there, nothing is sent",
    "part_sent": "the first part is sent",
    "before_run_commit": "all is sent, not committed",
    "after_run_commit": "it is committed, the lease does not know",
    "waiting": "it waits for the service to consume it",
}
"""The same of the scheduled job."""
