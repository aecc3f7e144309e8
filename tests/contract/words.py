"""What the types cannot say of themselves: a sentence a field, an example a message."""

from __future__ import annotations

from typing import Any

Fields = dict[str, Any]

ID = (
    "A string, or an integer that stands for its decimal digits. 1 to 512 bytes of UTF-8 without"
    " NUL and without half of a surrogate pair, used exactly as sent (no trimming, no"
    " normalisation). No number with a fraction, not even `1.0`."
)
INSTANT = (
    "RFC 3339 with a zone, from 1970 to 2200 in UTC; `T` and `Z` in either case, digits finer than"
    " microseconds are cut."
)

FIELDS: dict[str, str] = {
    "type": "The kind of the event.",
    "project": "The project that the event belongs to.",
    "at": "When it happened at the platform. Only orders the votes of one worker on one task.",
    "task": "The task, as the platform names it.",
    "worker": "The worker, as the platform names them.",
    "label": "One of the project's classes.",
    "TaskGold.label": "The true class; null: no longer known. It may not be missing.",
    "annotation_id": "The platform's name of this vote, by which it can be retracted.",
    "AnnotationRetracted.annotation_id": "Alone enough: the vote that was sent with it.",
    "revision": "Orders the votes of one worker on one task before `at` does: the higher counts.",
    "reason": "Free text for people.",
    "prior": "Of this task: a weight above 0 for each class, in the order of `classes`; scaled to"
    " sum 1.",
    "priority": "Higher comes first.",
    "want": "How many tasks at most.",
    "TaskAdded.max_labels": "Of this task, in place of the project's `resolve.max_labels`.",
    "kind": "`ordinal`: the order of `classes` has a meaning; `binary`: exactly two of them.",
    "classes": "All distinct, ordered for `ordinal`. Later declarations may add some.",
    "closed": "No more assignments; votes still count.",
    "model": "Priors.",
    "worker_prior": "Beta(alpha, beta) of a worker's accuracy.",
    "class_prior": "A weight for each class, in the order of `classes`, scaled to sum 1; all equal"
    " where it is not given.",
    "resolve": "When a label counts as resolved.",
    "confidence": "A task resolves from this stated probability of its top class on.",
    "min_labels": "And from so many distinct workers on.",
    "max_labels": "At so many it resolves in any case: `capped`, or `ambiguous` below `ambiguity`.",
    "ambiguity": "Default: 0.6, or `confidence` where that is less. Not above `confidence`.",
    "doubt": "Share of tasks that are taken as misleading in the stated confidence; 0: none.",
    "calibrate": "Learn on gold tasks how far the confidence can be trusted.",
    "reopen_confidence": "A resolved task below it is reopened. Default: 0.8, or `confidence` where"
    " that is less. Not above `confidence`.",
    "assign": "Who labels what next.",
    "policy": "How the next task is chosen.",
    "probes": "Now and then a decided task, to learn about the worker; or a number of first tasks;"
    " 0: none.",
    "lease_seconds": "How long an assignment is kept for the worker.",
    "gold_rate": "Share of gold tasks among the assignments.",
    "budget": "Pairs of task and worker; unlimited where it is not given.",
    "skilled_after": "From so many votes on only workers whose lower bound is at least"
    " `skilled_accuracy`.",
    "skilled_accuracy": "See `skilled_after`.",
    "experts": "Workers whose vote decides an ambiguous task.",
    "quality": "What follows from a worker's flag.",
    "block_spammers_after": "Votes after which a worker flagged as a spammer is blocked; 0: never.",
    "reconcile": "The scheduled job's method and guard.",
    "algorithm": "`auto`: `sorted_sbic` for binary and categorical projects, `cola` for ordinal.",
    "run": "The run's name, as its job gave it.",
    "WorkerBlocked.run": "The run by which the worker is a spammer; where it is not adopted, the"
    " block is a duplicate.",
    "part": "Its number among the run's parts.",
    "tasks": "The base of each task's log-weights.",
    "workers": "What the run says of workers.",
    "clusters": "Clusters of workers, and how their members answer.",
    "base": "One number a class, in the order of the project's `classes`: the run's log-weights"
    " without those of the votes that count.",
    "p": "The weight of the worker's votes from before the run's snapshot; clipped to 1e-6 to"
    " 1 - 1e-6.",
    "flag": "What is wrong with the worker, if anything is.",
    "flag_reason": "Why, for people.",
    "confusion": "Expected counts, [true class, given class, count], largest first; a class by its"
    " name (a string) or its place in `classes` from 0 (an integer).",
    "cluster": "The cluster's number.",
    "upto": "The partition's offset up to which the run has read.",
    "parts": "How many parts the run has.",
    "ReconciliationCompleted.algorithm": "What the labels come from that the run decides. May only"
    " be missing with `error`.",
    "version": "Of the release that computed it.",
    "seed": "Of its random numbers.",
    "parameters": "Of the algorithm, as they are to be shown.",
    "summary": "Shown as it is. `tasks`, `workers`, `votes`, `bound`, `durations`, `started_at` and"
    " `finished_at` in it fill columns of their own.",
    "ReconciliationCompleted.classes": "Those that the run was computed for, in order. Where it"
    " does not say so, those at `upto`.",
    "error": "Why the run failed; nothing is adopted.",
    "max_flip_fraction": "A run that changes a larger share of the resolved labels waits for a"
    " person.",
}
"""By `Type.field`, or by `field` where it means the same in every type."""

TITLES: dict[str, str] = {
    "annotation.submitted": "A vote",
    "annotation.skipped": "A worker abstains",
    "annotation.retracted": "A vote is taken out",
    "task.added": "A task, before its first label",
    "task.withdrawn": "A task gets no more assignments",
    "task.gold": "The truth of a task is known",
    "worker.available": "A worker asks for tasks",
    "worker.blocked": "A worker's votes stop weighing",
    "worker.unblocked": "A worker's votes weigh again",
    "time.passed": "Nothing but a time",
    "project.declared": "A project and all of its configuration",
    "reconciliation.part": "A part of what a run found",
    "reconciliation.completed": "A run has come to its end",
    "reconciliation.approved": "A person adopts a held run",
    "reconciliation.rejected": "A person drops a held run",
}

SUMMARIES: dict[str, str] = {
    "annotation.submitted": "From the same worker on the same task again it is a replacement, a"
    " duplicate or stale: compared by `revision` where both have one, else by `at`.",
    "annotation.skipped": "No vote, and this task is never assigned to this worker again; a vote"
    " that is there is retracted.",
    "annotation.retracted": "By `task` and `worker`, or by `annotation_id`.",
    "task.added": "Again: changes the fields that it states, and undoes a withdrawal.",
    "task.withdrawn": "Votes on it still count.",
    "task.gold": "Workers are scored on it. `label` null: the truth is no longer known.",
    "worker.available": "Answered by up to `want` messages `task.assigned`, or by one"
    " `assignment.none`.",
    "worker.blocked": "In every task of the project; they are kept, with the weight they have.",
    "worker.unblocked": "As they did before.",
    "time.passed": "Lets leases end. The service itself sends it to a partition that is quiet while"
    " leases are due.",
    "project.declared": "Comes before everything else of the project, on the partition where the"
    " project shall live. What it omits is the default; declared again, the new values hold from"
    " there on.",
    "reconciliation.part": "From the scheduled job. Kept until the run's end, for at most a day.",
    "reconciliation.completed": "From the scheduled job, in one Kafka transaction with the parts:"
    " the run is adopted, or held if it changes too many labels.",
    "reconciliation.approved": "A run that is not held: a duplicate.",
    "reconciliation.rejected": "A run that is not held: a duplicate.",
}

EXAMPLES: dict[str, list[Fields]] = {
    "annotation.submitted": [
        {"project": "rte", "task": "t17", "worker": "w3", "label": "1"}
        | {"at": "2026-01-02T03:04:05Z"},
        {"project": "rte", "task": "t17", "worker": "w3", "label": "0"}
        | {"revision": 2, "annotation_id": "a-991"},
    ],
    "annotation.skipped": [{"project": "rte", "task": "t18", "worker": "w3", "reason": "unclear"}],
    "annotation.retracted": [
        {"project": "rte", "annotation_id": "a-991"},
        {"project": "rte", "task": "t17", "worker": "w3"},
    ],
    "task.added": [{"project": "rte", "task": "t19", "priority": 5}],
    "task.withdrawn": [{"project": "rte", "task": "t19"}],
    "task.gold": [
        {"project": "rte", "task": "t19", "label": "1"},
        {"project": "rte", "task": "t19", "label": None},
    ],
    "worker.available": [
        {"project": "rte", "worker": "w3", "want": 2},
        {"project": "rte", "worker": "w3"},
    ],
    "worker.blocked": [{"project": "rte", "worker": "w9", "reason": "spam"}],
    "worker.unblocked": [{"project": "rte", "worker": "w9"}],
    "time.passed": [{}, {"at": "2026-01-02T03:04:05Z"}],
    "project.declared": [
        {"project": "rte", "kind": "binary", "classes": ["0", "1"]}
        | {"resolve": {"confidence": 0.95}},
        {"project": "stars", "kind": "ordinal", "classes": [1, 2, 3, 4, 5]}
        | {"model": {"worker_prior": [2, 1]}, "resolve": {"min_labels": 3, "max_labels": 9}},
    ],
    "reconciliation.part": [
        {"project": "rte", "run": "r7", "part": 0}
        | {"tasks": [{"task": "t17", "base": [-0.9, -0.5]}]},
        {"project": "rte", "run": "r7", "part": 1}
        | {
            "workers": [
                {"worker": "w3", "p": 0.81, "flag": None, "flag_reason": None}
                | {"confusion": [["1", "1", 7.5], ["0", "1", 1.25]], "cluster": 2}
            ]
        },
        {"project": "rte", "run": "r7", "part": 2}
        | {"clusters": [{"cluster": 2, "confusion": [[0, 0, 40.5], [1, 0, 3]]}]},
    ],
    "reconciliation.completed": [
        {"project": "rte", "run": "r7", "upto": 4711, "parts": 3, "algorithm": "sorted_sbic"}
        | {"version": "0.2.0", "seed": 0, "parameters": {"alpha": 2, "beta": 1}}
        | {"summary": {"tasks": 800, "workers": 164, "votes": 8000}, "classes": ["0", "1"]},
        {"project": "rte", "run": "r8", "upto": 4790, "parts": 0}
        | {"algorithm": "cola", "error": "the bound fell"},
    ],
    "reconciliation.approved": [{"project": "rte", "run": "r7"}],
    "reconciliation.rejected": [{"project": "rte", "run": "r7"}],
}
"""Of each inbound type, without `type`; each is an event that is applied or a duplicate."""
