"""What the documents leave open in choosing, as the engine has decided it, for the plain fold."""

from __future__ import annotations

from connector.engine.choosing import Rules
from connector.engine.project import project_id
from tests.oracle.assign import Choices


def tie(project: str, task: int, worker: int) -> int:
    """How far the task is from the worker on the circle of hashes."""
    rules = Rules(project_id(project))
    return (rules.task_hash(task) - rules.worker_hash(worker)) % 2**64


def is_gold_turn(project: str, worker: int, k: int, rate: float) -> bool:
    """Whether the worker's k-th assignment is drawn to be gold."""
    return Rules(project_id(project), gold_rate=rate).is_gold(worker, k)


CHOICES = Choices(tie, is_gold_turn)
