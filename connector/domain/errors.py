"""One tree of errors, split by who can do something about it.

* `ConfigurationError`: the operator; the process stops at once and names the setting.
* `InputError`: the producer; the record becomes a dead letter, the service goes on.
* `DependencyError`: a broker or database is away; retried, and only then fatal.
* `Fenced`: another process owns the partition now; this one must stop.
* Anything else is a bug and crashes.
"""

from __future__ import annotations

from enum import StrEnum


class CrowdResolveError(Exception):
    """Root of every error that we raise on purpose; the message says what, where, what to do."""

    exit_code = 1


class ConfigurationError(CrowdResolveError):
    """A setting or file is wrong; the message names it."""

    exit_code = 3


class DependencyError(CrowdResolveError):
    """A broker or database cannot be reached or does not answer as it must."""

    exit_code = 4


class Fenced(CrowdResolveError):
    """Another process has taken over what this one was doing; nothing of ours was written."""


class Refused(CrowdResolveError):
    """Going on would lose or double something; the message says what to do."""


class DeadCode(StrEnum):
    """Why a record could not be used: the stable codes of `annotations.dead`."""

    INVALID_JSON = "invalid_json"
    """Not UTF-8, not JSON, not an object, empty, or nested too deeply."""
    UNKNOWN_TYPE = "unknown_type"
    """`type` is missing, is no string, or is no type that this release knows."""
    INVALID_FIELD = "invalid_field"
    """A field that the type needs is missing, of the wrong type or out of bounds."""
    UNKNOWN_PROJECT = "unknown_project"
    """The project was not declared before this record."""
    WRONG_PARTITION = "wrong_partition"
    """The project lives on another partition; its producers' partitioner is not murmur2."""
    UNKNOWN_CLASS = "unknown_class"
    """The label is not one of the project's classes."""
    PROJECT_CONFLICT = "project_conflict"
    """A declaration that contradicts what the project already holds; nothing was changed."""
    ANNOTATION_ID_CONFLICT = "annotation_id_conflict"
    """The annotation_id belongs to another (task, worker)."""
    RUN_PARTS_MISSING = "run_parts_missing"
    """The run said how many parts it has, and not all of them are there."""
    RUN_OTHER_CLASSES = "run_other_classes"
    """The run was computed for other classes than the project has now, or in another order."""
    RUN_OUTDATED = "run_outdated"
    """The adopted run has seen as much of the log as this one, or more."""


class InputError(CrowdResolveError):
    """A record that cannot be used, and why."""

    def __init__(self, code: DeadCode, message: str) -> None:
        super().__init__(message)
        self.code = code
