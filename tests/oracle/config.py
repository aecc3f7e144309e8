"""The configuration of a project, out of the event `project.declared`."""

from __future__ import annotations

from dataclasses import dataclass

from .fields import (
    MAX_INT32,
    Fields,
    check_identifier,
    check_integer,
    check_number,
    check_prior,
    invalid,
)


@dataclass(frozen=True)
class Config:
    """A whole configuration: what the declaration omits is the default."""

    kind: str
    classes: tuple[str, ...]
    closed: bool
    worker_prior: tuple[float, float]
    class_prior: tuple[float, ...]
    confidence: float
    min_labels: int
    max_labels: int | None
    ambiguity: float
    doubt: float
    calibrate: bool
    reopen_confidence: float
    policy: str
    probes: str | int
    lease_seconds: float
    gold_rate: float
    budget: int | None
    skilled_after: int | None
    skilled_accuracy: float
    experts: tuple[str, ...]
    block_spammers_after: int
    algorithm: str
    max_flip_fraction: float


class Section:
    """One object of the declaration; a field that is there must be valid, null never is."""

    def __init__(self, fields: Fields, name: str) -> None:
        found = fields.get(name, {})
        if not isinstance(found, dict):
            raise invalid(name, "is not an object")
        self.fields: Fields = found
        self.name = name

    def number(self, name: str, default: float, low: float, high: float) -> float:
        if name not in self.fields:
            return default
        value = check_number(self.fields[name], f"{self.name}.{name}")
        if not low <= value <= high:
            raise invalid(f"{self.name}.{name}", f"is not within {low} to {high}")
        return value

    def integer(self, name: str, default: int, low: int) -> int:
        found = self.optional_integer(name, low)
        return default if found is None else found

    def optional_integer(self, name: str, low: int) -> int | None:
        if name not in self.fields:
            return None
        return check_integer(self.fields[name], f"{self.name}.{name}", low, MAX_INT32)

    def boolean(self, name: str, default: bool) -> bool:
        value = self.fields.get(name, default)
        if not isinstance(value, bool):
            raise invalid(f"{self.name}.{name}", "is not true or false")
        return value

    def choice(self, name: str, default: str, choices: tuple[str, ...]) -> str:
        value = self.fields.get(name, default)
        if not isinstance(value, str) or value not in choices:
            raise invalid(f"{self.name}.{name}", f"is none of {choices}")
        return value


def class_names(fields: Fields, kind: str) -> tuple[str, ...]:
    found = fields.get("classes")
    if not isinstance(found, list):
        raise invalid("classes", "is not a list")
    classes = tuple(check_identifier(item, "classes") for item in found)
    if not 2 <= len(classes) <= 1000 or len(set(classes)) < len(classes):
        raise invalid("classes", "are not 2 to 1,000 distinct names")
    if kind == "binary" and len(classes) != 2:
        raise invalid("classes", "of a binary project are exactly two")
    return classes


def two_numbers(model: Section) -> tuple[float, float]:
    found = model.fields.get("worker_prior", [2, 1])
    if not isinstance(found, list) or len(found) != 2:
        raise invalid("worker_prior", "is not a list of two numbers")
    alpha, beta = (check_number(item, "worker_prior") for item in found)
    if not (1e-6 <= alpha <= 1e6 and 1e-6 <= beta <= 1e6):
        raise invalid("worker_prior", "is not within 1e-6 to 1e6")
    return alpha, beta


def class_prior_of(model: Section, n_classes: int) -> tuple[float, ...]:
    if "class_prior" not in model.fields:
        return (1 / n_classes,) * n_classes
    prior = check_prior(model.fields["class_prior"], "class_prior")
    if len(prior) != n_classes:
        raise invalid("class_prior", "has not one number per class")
    return prior


def check_config(fields: Fields) -> Config:
    """The configuration that a declaration states, defaults filled in."""
    top = Section({"project": fields}, "project")
    if "kind" not in fields:
        raise invalid("kind", "is missing")
    kind = top.choice("kind", "", ("binary", "categorical", "ordinal"))
    classes = class_names(fields, kind)
    model, resolve, assign, quality, reconcile = (
        Section(fields, name) for name in ("model", "resolve", "assign", "quality", "reconcile")
    )
    confidence = resolve.number("confidence", 0.95, 0, 1)
    ambiguity = resolve.number("ambiguity", min(0.6, confidence), 0, 1)
    reopen_confidence = resolve.number("reopen_confidence", min(0.8, confidence), 0, 1)
    if max(ambiguity, reopen_confidence) > confidence:
        raise invalid("resolve", "ambiguity or reopen_confidence is above confidence")
    doubt = resolve.number("doubt", 0.1, 0, 1)
    if doubt == 1:
        raise invalid("resolve.doubt", "is not below 1")
    lease_seconds = assign.number("lease_seconds", 1800, 0, float("inf"))
    if lease_seconds == 0:
        raise invalid("assign.lease_seconds", "is not above 0")
    probes = assign.fields.get("probes", "auto")
    if not isinstance(probes, str):
        probes = check_integer(probes, "assign.probes", 0, MAX_INT32)
    elif probes != "auto":
        raise invalid("assign.probes", 'is neither "auto" nor a number')
    experts = assign.fields.get("experts", [])
    if not isinstance(experts, list):
        raise invalid("assign.experts", "is not a list")
    return Config(
        kind=kind,
        classes=classes,
        closed=top.boolean("closed", False),
        worker_prior=two_numbers(model),
        class_prior=class_prior_of(model, len(classes)),
        confidence=confidence,
        min_labels=resolve.integer("min_labels", 2, 1),
        max_labels=resolve.optional_integer("max_labels", 1),
        ambiguity=ambiguity,
        doubt=doubt,
        calibrate=resolve.boolean("calibrate", True),
        reopen_confidence=reopen_confidence,
        policy=assign.choice("policy", "uncertainty", ("uncertainty", "uniform")),
        probes=probes,
        lease_seconds=lease_seconds,
        gold_rate=assign.number("gold_rate", 0.05, 0, 1),
        budget=assign.optional_integer("budget", 0),
        skilled_after=assign.optional_integer("skilled_after", 0),
        skilled_accuracy=assign.number("skilled_accuracy", 0.8, 0, 1),
        experts=tuple(check_identifier(item, "assign.experts") for item in experts),
        block_spammers_after=quality.integer("block_spammers_after", 0, 0),
        algorithm=reconcile.choice(
            "algorithm", "auto", ("auto", "sorted_sbic", "cola", "dawid_skene")
        ),
        max_flip_fraction=reconcile.number("max_flip_fraction", 0.2, 0, 1),
    )
