"""Rows as the views of interface.md have them; times in microseconds since 1970."""

from __future__ import annotations

from collections import Counter

from scipy.special import betaincinv

from . import model
from .state import Project, Task, Worker

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
        "algorithm": "fast_sbic",
        "probabilities": dict(task.stated),
        "resolved_at": task.resolved_at,
        "updated_at": task.updated_at,
    }


def worker_row(project: Project, worker: Worker) -> Row:
    row: Row = {"project": project.name, "worker": worker.name}
    return (
        row
        | project.quality(worker)
        | {
            "votes": len(worker.votes),
            "agreement": agreement(project, worker),
            "cluster": None,
            "flag": None,
            "flag_reason": None,
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
        "budget_used": len(project.ever_voted),
        "mean_confidence": sum(confidences) / len(confidences) if confidences else None,
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
