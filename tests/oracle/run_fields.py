"""The fields of the events by which a reconciliation travels through the log."""

from __future__ import annotations

from .events import Approved, Completed, Confusion, Event, Part, RunRejected, RunWorker
from .fields import (
    MAX_INT32,
    Fields,
    check_identifier,
    check_integer,
    check_number,
    identifier,
    invalid,
)

MAX_INT64 = 2**63 - 1


def objects(fields: Fields, name: str) -> list[Fields]:
    """A list of objects; none where the field is not there."""
    found = fields.get(name, [])
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise invalid(name, "is not a list of objects")
    return found


def nullable_text(fields: Fields, name: str) -> str | None:
    """Where there is nothing to say, null or no field."""
    value = fields.get(name)
    if value is not None and not isinstance(value, str):
        raise invalid(name, "is not a string")
    return value


def text(fields: Fields, name: str) -> str | None:
    if name not in fields:
        return None
    value = fields[name]
    if not isinstance(value, str):
        raise invalid(name, "is not a string")
    return value


def free_object(fields: Fields, name: str) -> Fields:
    """Any object of finite numbers; empty where the field is not there."""
    value = fields.get(name, {})
    if not isinstance(value, dict):
        raise invalid(name, "is not an object")
    check_finite(value, name)
    return value


def check_finite(value: object, name: str) -> None:
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            check_finite(item, name)
    elif isinstance(value, float):
        check_number(value, name)


def base(task: Fields) -> tuple[float, ...]:
    found = task.get("base")
    if not isinstance(found, list) or not found:
        raise invalid("base", "is not a list of numbers")
    numbers = tuple(check_number(item, "base") for item in found)
    if any(abs(number) > 1e9 for number in numbers):
        raise invalid("base", "lies outside -1e9 to 1e9")
    return numbers


def confusion(fields: Fields) -> Confusion:
    found = fields.get("confusion", [])
    if not isinstance(found, list) or len(found) > 2000:
        raise invalid("confusion", "is not a list of at most 2,000 triples")
    triples = []
    for triple in found:
        if not isinstance(triple, list) or len(triple) != 3:
            raise invalid("confusion", "has what is no triple")
        true, given, count = triple
        number = check_number(count, "confusion")
        if not 0 <= number <= 1e15:
            raise invalid("confusion", "has a count outside 0 to 1e15")
        triples.append((class_of(true), class_of(given), number))
    return tuple(triples)


def class_of(value: object) -> str | int:
    if type(value) is int:
        return check_integer(value, "confusion", 0, 999)
    return check_identifier(value, "confusion")


def cluster(fields: Fields) -> int:
    return check_integer(fields.get("cluster"), "cluster", 0, MAX_INT32)


def run_worker(fields: Fields) -> RunWorker:
    p = check_number(fields.get("p"), "p")
    if not 0 <= p <= 1:
        raise invalid("p", "is not within 0 to 1")
    return RunWorker(
        identifier(fields, "worker"),
        min(max(p, 1e-6), 1 - 1e-6),
        nullable_text(fields, "flag"),
        nullable_text(fields, "flag_reason"),
        None if fields.get("cluster") is None else cluster(fields),
        confusion(fields),
    )


def class_names(fields: Fields) -> tuple[str, ...] | None:
    """The classes that a run was computed for, where it says so."""
    if "classes" not in fields:
        return None
    found = fields["classes"]
    if not isinstance(found, list):
        raise invalid("classes", "is not a list")
    return tuple(check_identifier(item, "classes") for item in found)


def part(project: str, fields: Fields) -> Event:
    if sum(name in fields for name in ("tasks", "workers", "clusters")) != 1:
        raise invalid("part", "has not one of tasks, workers, clusters")
    return Part(
        project,
        identifier(fields, "run"),
        check_integer(fields.get("part"), "part", 0, MAX_INT32),
        tuple((identifier(task, "task"), base(task)) for task in objects(fields, "tasks")),
        tuple(run_worker(worker) for worker in objects(fields, "workers")),
        tuple((cluster(found), confusion(found)) for found in objects(fields, "clusters")),
    )


def completed(project: str, fields: Fields) -> Event:
    error = text(fields, "error")
    algorithm = text(fields, "algorithm")
    if error is None and not algorithm:
        raise invalid("algorithm", "is missing")
    seed = None
    if "seed" in fields:
        seed = check_integer(fields["seed"], "seed", -MAX_INT64 - 1, MAX_INT64)
    return Completed(
        project,
        identifier(fields, "run"),
        check_integer(fields.get("upto"), "upto", 0, MAX_INT64),
        check_integer(fields.get("parts"), "parts", 0, MAX_INT32),
        algorithm,
        text(fields, "version"),
        seed,
        free_object(fields, "parameters"),
        free_object(fields, "summary"),
        class_names(fields),
        error,
    )


def approved(project: str, fields: Fields) -> Event:
    return Approved(project, identifier(fields, "run"))


def rejected(project: str, fields: Fields) -> Event:
    return RunRejected(project, identifier(fields, "run"))
