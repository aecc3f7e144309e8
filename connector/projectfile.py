"""A project file: TOML, read strictly, judged by the rules of the event that it becomes.

The event ignores keys that nobody knows; in a file such a key is a mistake, which would otherwise
show only as a default in force.
"""

from __future__ import annotations

import difflib
import math
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from connector.domain.config import ProjectConfig, known_keys
from connector.domain.decode import decode
from connector.domain.errors import ConfigurationError, InputError
from connector.domain.events import Declared

# These stand at the top of the event, and below `[project]` in the file.
_OWN = ("kind", "classes", "closed")
_KNOWN = frozenset(known_keys())
KEYS = frozenset(f"project.{k}" if k in _OWN else k for k in _KNOWN) | {"project", "project.name"}
"""Dotted names of every table and key that a file may have."""


class ProjectFile(NamedTuple):
    """What a file says.

    Attributes:
        path: of the file.
        name: of the project.
        event: the value of its `project.declared`.
        config: the configuration that it means, defaults filled in.
    """

    path: Path
    name: str
    event: bytes
    config: ProjectConfig


def read(path: Path) -> ProjectFile:
    """Read and check a file.

    Raises:
        ConfigurationError: it cannot be read, is not TOML, has an unknown key or a wrong value;
            names file and key.
    """
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ConfigurationError(f"cannot read {path}: {why}") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{path} is not TOML: {error}") from None
    for key, value in _flat(tables):
        _check(path, key, value)
    own = tables.pop("project", None)
    if not isinstance(own, dict):
        raise ConfigurationError(f"{path} has no table [project]")
    if "name" not in own:
        raise ConfigurationError(f"{path}: `project.name` is missing")
    name = own.pop("name")
    fields = {"type": "project.declared", "project": name, **own, **tables}
    event = msgspec.json.encode(fields)
    try:
        declared = decode(event)
    except InputError as error:
        raise ConfigurationError(f"{path}: {_in_file(str(error))}") from None
    assert isinstance(declared, Declared)
    return ProjectFile(path, declared.project, event, declared.config)


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        yield prefix + key, value
        if isinstance(value, dict) and prefix + key in KEYS:
            yield from _flat(value, f"{prefix}{key}.")


def _check(path: Path, key: str, value: object) -> None:
    if key not in KEYS:
        raise ConfigurationError(f"{path}: there is no key `{key}`{_meant(key)}")
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, float) and not math.isfinite(item):
            raise ConfigurationError(f"{path}: `{key}` must be a finite number")
        if not isinstance(item, str | int | float | dict):
            raise ConfigurationError(f"{path}: `{key}` is neither text nor number")


def _meant(key: str) -> str:
    """`; did you mean ...?`: the nearest name, or the same key in another table."""
    last = key.rpartition(".")[2]
    elsewhere = [k for k in KEYS if k.rpartition(".")[2] == last and "." in k]
    near = elsewhere or difflib.get_close_matches(key, KEYS, n=1, cutoff=0.6)
    if not near:
        lasts = {k.rpartition(".")[2]: k for k in KEYS}
        near = [lasts[k] for k in difflib.get_close_matches(last, lasts, n=1, cutoff=0.7)]
    return f"; did you mean `{near[0]}`?" if near else ""


def _in_file(message: str) -> str:
    """The message with the names that the file has for what the event has at its top."""
    for key in _OWN:
        message = message.replace(f"`{key}", f"`project.{key}")
    return message.replace("`project`", "`project.name`")
