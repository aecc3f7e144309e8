"""A project's configuration: every key of a project file, with its bounds and default.

`project.declared` carries it, `crowdresolve project apply` sends it.  The event ignores keys
that nobody knows; the project file is read strictly (`known_keys`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from .ids import Id

Count = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Positive = Annotated[int, Meta(ge=1, le=2**31 - 1)]
Share = Annotated[float, Meta(ge=0, le=1)]
Doubt = Annotated[float, Meta(ge=0, lt=1)]
PriorCount = Annotated[float, Meta(ge=1e-6, le=1e6)]
Kind = Literal["binary", "categorical", "ordinal"]

MAX_CLASSES = 1000


class Model(msgspec.Struct, frozen=True):
    """`[model]`: priors of the workers' accuracy and of the classes."""

    worker_prior: tuple[PriorCount, PriorCount] = (2.0, 1.0)
    class_prior: list[float] | UnsetType = UNSET


class Resolve(msgspec.Struct, frozen=True):
    """`[resolve]`: when a label counts as resolved."""

    confidence: Share = 0.95
    min_labels: Positive = 2
    max_labels: Positive | UnsetType = UNSET
    ambiguity: Share | UnsetType = UNSET
    doubt: Doubt = 0.1
    calibrate: bool = True
    reopen_confidence: Share | UnsetType = UNSET


class Assign(msgspec.Struct, frozen=True):
    """`[assign]`: who labels what next."""

    policy: Literal["uncertainty", "uniform"] = "uncertainty"
    probes: Literal["auto"] | Count = "auto"
    lease_seconds: Annotated[float, Meta(gt=0, le=1e9)] = 1800.0
    gold_rate: Share = 0.05
    budget: Count | UnsetType = UNSET
    skilled_after: Count | UnsetType = UNSET
    skilled_accuracy: Share = 0.8
    experts: list[Id] = []


class Quality(msgspec.Struct, frozen=True):
    """`[quality]`: what follows from a worker's flag."""

    block_spammers_after: Count = 0


class Reconcile(msgspec.Struct, frozen=True):
    """`[reconcile]`: the scheduled job's method and guard."""

    algorithm: Literal["auto", "sorted_sbic", "cola", "dawid_skene"] = "auto"
    max_flip_fraction: Share = 0.2


class Declaration(msgspec.Struct, frozen=True, kw_only=True):
    """The configuration as it is written, before defaults that depend on other keys."""

    kind: Kind
    classes: list[Id]
    closed: bool = False
    model: Model = Model()
    resolve: Resolve = Resolve()
    assign: Assign = Assign()
    quality: Quality = Quality()
    reconcile: Reconcile = Reconcile()


class ProjectConfig(msgspec.Struct, frozen=True):
    """The effective configuration: every default filled in, priors scaled to sum 1."""

    kind: Kind
    classes: tuple[str, ...]
    closed: bool
    alpha: float
    beta: float
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

    @property
    def K(self) -> int:
        """Number of classes."""
        return len(self.classes)


def effective(d: Declaration) -> ProjectConfig:
    """Fill in the defaults and check what no single field can say.

    Raises:
        ValueError: naming the key.
    """
    classes = tuple(d.classes)
    if len(set(classes)) != len(classes):
        raise ValueError("`classes` names a class twice")
    if not 2 <= len(classes) <= MAX_CLASSES:
        raise ValueError(f"`classes` must name 2 to {MAX_CLASSES} classes, not {len(classes)}")
    if d.kind == "binary" and len(classes) != 2:
        raise ValueError(f"`classes`: a binary project has exactly two, not {len(classes)}")
    r = d.resolve
    prior = d.model.class_prior
    return ProjectConfig(
        kind=d.kind,
        classes=classes,
        closed=d.closed,
        alpha=float(d.model.worker_prior[0]),
        beta=float(d.model.worker_prior[1]),
        class_prior=(
            (1.0 / len(classes),) * len(classes)
            if prior is UNSET
            else scaled_prior(prior, len(classes), "model.class_prior")
        ),
        confidence=float(r.confidence),
        min_labels=r.min_labels,
        max_labels=_optional(r.max_labels),
        ambiguity=_capped(r.ambiguity, 0.6, r.confidence, "resolve.ambiguity"),
        doubt=float(r.doubt),
        calibrate=r.calibrate,
        reopen_confidence=_capped(
            r.reopen_confidence, 0.8, r.confidence, "resolve.reopen_confidence"
        ),
        policy=d.assign.policy,
        probes=d.assign.probes,
        lease_seconds=float(d.assign.lease_seconds),
        gold_rate=float(d.assign.gold_rate),
        budget=_optional(d.assign.budget),
        skilled_after=_optional(d.assign.skilled_after),
        skilled_accuracy=float(d.assign.skilled_accuracy),
        experts=tuple(d.assign.experts),
        block_spammers_after=d.quality.block_spammers_after,
        algorithm=d.reconcile.algorithm,
        max_flip_fraction=float(d.reconcile.max_flip_fraction),
    )


def scaled_prior(prior: list[float], K: int, name: str) -> tuple[float, ...]:
    """``prior`` scaled to sum 1.

    Raises:
        ValueError: not K finite numbers above 0, or of a sum that cannot be scaled.
    """
    if len(prior) != K:
        raise ValueError(f"`{name}` must have {K} numbers, one a class, not {len(prior)}")
    if not all(isfinite(v) and v > 0.0 for v in prior):
        raise ValueError(f"`{name}` must be finite numbers above 0")
    total = float(sum(prior))
    scaled = tuple(v / total for v in prior)
    if not isfinite(total) or not all(v > 0.0 for v in scaled):
        raise ValueError(f"`{name}` cannot be scaled to sum 1: its numbers are too far apart")
    return scaled


def known_keys(node: object = Declaration, prefix: str = "") -> Iterator[str]:
    """Dotted names of every key of a declaration, for reading a project file strictly."""
    for field in msgspec.structs.fields(node):  # type: ignore[arg-type]
        yield prefix + field.name
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
            yield from known_keys(field.type, prefix + field.name + ".")


def to_json(config: ProjectConfig) -> str:
    """The stored form; `from_json` gives back an equal value, doubles bit for bit."""
    return msgspec.json.encode(config).decode()


def from_json(text: str) -> ProjectConfig:
    """The reverse of `to_json`."""
    return msgspec.json.decode(text, type=ProjectConfig)


def as_declared(config: ProjectConfig) -> Mapping[str, Any]:
    """The configuration in the shape of a project file, for people to read."""
    return {
        "project": {
            "kind": config.kind,
            "classes": list(config.classes),
            "closed": config.closed,
        },
        "model": {
            "worker_prior": [config.alpha, config.beta],
            "class_prior": list(config.class_prior),
        },
        "resolve": _present(
            confidence=config.confidence,
            min_labels=config.min_labels,
            max_labels=config.max_labels,
            ambiguity=config.ambiguity,
            doubt=config.doubt,
            calibrate=config.calibrate,
            reopen_confidence=config.reopen_confidence,
        ),
        "assign": _present(
            policy=config.policy,
            probes=config.probes,
            lease_seconds=config.lease_seconds,
            gold_rate=config.gold_rate,
            budget=config.budget,
            skilled_after=config.skilled_after,
            skilled_accuracy=config.skilled_accuracy,
            experts=list(config.experts),
        ),
        "quality": {"block_spammers_after": config.block_spammers_after},
        "reconcile": {
            "algorithm": config.algorithm,
            "max_flip_fraction": config.max_flip_fraction,
        },
    }


def _present(**keys: object) -> dict[str, object]:
    return {k: v for k, v in keys.items() if v is not None}


def _optional(value: int | UnsetType) -> int | None:
    return None if value is UNSET else value


def _capped(value: float | UnsetType, default: float, cap: float, name: str) -> float:
    if value is UNSET:
        return min(default, float(cap))
    if value > cap:
        raise ValueError(f"`{name}` ({value}) lies above `resolve.confidence` ({cap})")
    return float(value)
