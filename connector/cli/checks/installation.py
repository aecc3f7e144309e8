"""Python, libraries and settings."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from connector.settings import Loaded

from .check import Check, failed, ok, warning

LIBRARIES = ("kafka-python", "SQLAlchemy", "psycopg", "alembic", "msgspec", "numpy", "numba")


def look(loaded: Loaded) -> Iterator[Check]:
    """Nothing of it asks anybody."""
    python = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    yield ok("Python", python)
    found = {name: _version(name) for name in ("crowdresolve", *LIBRARIES)}
    missing = [name for name, number in found.items() if number is None]
    said = ", ".join(f"{name} {number}" for name, number in found.items() if number is not None)
    kafka = found["kafka-python"] or "0"
    if missing:
        yield failed(
            "libraries", f"{', '.join(missing)} not installed", "install crowdresolve again"
        )
    elif not kafka.startswith("3.0.") or int(kafka.split(".")[2]) < 12:
        yield failed(
            "libraries",
            f"kafka-python {kafka} loses or repeats records",
            "install kafka-python>=3.0.12,<3.1",
        )
    elif _version("crc32c") is None:
        yield warning("libraries", f"{said}; no crc32c", "install crc32c: Kafka is slow without it")
    else:
        yield ok("libraries", said)
    read = f"file {loaded.file}" if loaded.file else "no file"
    if loaded.warnings:
        yield warning("settings", "; ".join(loaded.warnings), "correct or unset the variable")
    else:
        yield ok("settings", f"{read}; `crowdresolve config` shows them")


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
