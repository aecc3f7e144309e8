"""Rows as the views of interface.md have them; times in microseconds since 1970."""

from __future__ import annotations

from collections import Counter

from scipy.special import betaincinv

from . import model
from .project import Project
from .state import NamedConfusion, Run, Task, Worker

Row = dict[str, object]


def confidence(task: Task) -> float:
    """Stated, of its label; of the top while it is open."""
    return task.stated[model.top_of(task.stated) if task.label is None else task.label]


def task_row(project: Project, task: Task) -> Row:
    votes = len(project.counting(task))
    label = task.label
    if task.status == "open" and votes:
        label = model.top_of(task.stated)
    return {
        "project": project.name,
        "task": task.name,
        "label": label,
        "confidence": confidence(task),
        "status": task.status,
        "votes": votes,
        "version": task.version,
        "algorithm": project.algorithm(task),
        "probabilities": dict(task.stated),
        "resolved_at": task.resolved_at,
        "updated_at": task.updated_at,
    }


def worker_row(project: Project, worker: Worker) -> Row:
    found = worker.found
    row: Row = {"project": project.name, "worker": worker.name}
    return (
        row
        | project.quality(worker)
        | {
            "votes": len(worker.votes),
            "agreement": agreement(project, worker),
            "cluster": None if found is None else found.cluster,
            "flag": None if found is None else found.flag,
            "flag_reason": None if found is None else found.flag_reason,
            "updated_at": worker.updated_at,
        }
    )


def agreement(project: Project, worker: Worker) -> float | None:
    """Of the present votes on resolved tasks, the share equal to the task's label."""
    tasks = [(project.tasks[vote.task], vote.label) for vote in worker.votes]
    hits = [task.label == label for task, label in tasks if task.status != "open"]
    return sum(hits) / len(hits) if hits else None


def progress_row(project: Project) -> Row:
    tasks = list(project.tasks.values())
    status = Counter(task.status for task in tasks)
    confidences = [
        confidence(task) for task in tasks if task.gold is not None or project.counting(task)
    ]
    return {
        "project": project.name,
        "tasks": len(tasks),
        "open": status["open"],
        "resolved": len(tasks) - status["open"],
        "ambiguous": status["ambiguous"],
        "votes": len(project.present),
        "budget_used": project.budget_used(),
        # In whole billionths, so that the sum does not depend on its order.
        "mean_confidence": sum(round(c * 1e9) for c in confidences) / 1e9 / len(confidences)
        if confidences
        else None,
    }


def calibration_row(project: Project) -> Row:
    stated = []
    for z, hit in project.records.values():
        probability = model.sigmoid(project.b * z if z > 0 else z)
        if probability >= project.config.confidence:
            stated.append((probability, hit))
    resolved, right = len(stated), sum(hit for _, hit in stated)
    row: Row = {
        "project": project.name,
        "b": project.b,
        "gold_tasks": len(project.records),
        "resolved": resolved,
        "right": right,
        "lower": None,
        "upper": None,
        "stated_mean": None,
    }
    if stated:
        row["lower"] = float(betaincinv(right + 0.5, resolved - right + 0.5, 0.025))
        row["upper"] = float(betaincinv(right + 0.5, resolved - right + 0.5, 0.975))
        row["stated_mean"] = sum(probability for probability, _ in stated) / resolved
    return row


def run_row(project: Project, run: Run) -> Row:
    """`reason` is the code of a refused run, the error of a failed one; else free text, not here.

    When a run was started and finished is the job's clock, which the fold does not know.
    """
    completed = run.completed
    return {
        "project": project.name,
        "run": completed.run,
        "upto": completed.upto,
        "algorithm": completed.algorithm,
        "version": completed.version,
        "seed": completed.seed,
        "parameters": completed.parameters,
        "bound": completed.bound,
        "parts": completed.parts,
        "status": run.status,
        "reason": run.reason,
        "summary": completed.summary,
        "adopted_at": run.adopted_at,
    }


def confusion_rows(project: Project, confusion: NamedConfusion) -> list[Row]:
    """The rate is the share of the true class's votes that were given this class.

    What is left of it while classes are gone.
    """
    present = set(project.config.classes)
    confusion = tuple(row for row in confusion if present >= {row[0], row[1]})
    totals: dict[str, float] = {}
    for true, _, count in confusion:
        totals[true] = totals.get(true, 0.0) + count
    return [
        {
            "true_class": true,
            "given_class": given,
            "expected_count": count,
            "rate": count / totals[true] if totals[true] else None,
        }
        for true, given, count in confusion
    ]
