"""What the process says while it works: one line an event on stderr, as JSON or for people.

Every line has a short fixed name (`event`) and its facts as fields, so that a query can find it.
Libraries that log as sentences go through the same shape, under `event: log`.
"""

from __future__ import annotations

import logging
import os
import sys
from typing import Any, Literal

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

Format = Literal["console", "json"]

# These say at "warning" and below what our own lines say better, some of it every second.
_QUIET = {"kafka": logging.CRITICAL, "alembic": logging.WARNING, "sqlalchemy": logging.WARNING}


def configure(format: Format, level: str) -> None:
    """Send every log line of this process to stderr in that shape, from that level on."""
    before: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
        structlog.processors.StackInfoRenderer(),
    ]
    structlog.configure(
        processors=[*before, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*before, _named],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *_renderers(format),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for name, least in _QUIET.items():
        logging.getLogger(name).setLevel(logging.DEBUG if level == "debug" else least)


def _renderers(format: Format) -> list[Processor]:
    if format == "json":
        return [
            structlog.processors.ExceptionRenderer(),
            _first_things_first,
            structlog.processors.JSONRenderer(default=str),
        ]
    colours = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    return [
        structlog.dev.ConsoleRenderer(
            colors=colours,
            timestamp_key="at",
            pad_event_to=20,
            # The other formatters show local variables, passwords among them.
            exception_formatter=structlog.dev.plain_traceback,
        )
    ]


def _first_things_first(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    return {key: event.pop(key) for key in ("at", "level", "event") if key in event} | dict(event)


def _named(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """A library's sentence becomes a field, and its logger's name another."""
    record: Any = event.get("_record")
    event["message"] = event.pop("event")
    event["event"] = "log"
    event["logger"] = getattr(record, "name", "")
    return event
