"""Every setting, once: its name, bounds, default and what it means.

A setting `batch_size` is the flag `--batch-size`, the variable `CROWDRESOLVE_BATCH_SIZE` and the
key `batch_size` of crowdresolve.toml.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, field

PREFIX = "CROWDRESOLVE_"

WHERE = "Where"
TOPICS = "Topics"
WORK = "How it works"
LOGS = "Logs"


def _host_and_process() -> str:
    return f"{socket.gethostname()}-{os.getpid()}"


def _format_for_stderr() -> Literal["console", "json"]:
    return "console" if sys.stderr.isatty() else "json"


def _says(description: str, panel: str, **more: str) -> Meta:
    return Meta(description=description, extra={"panel": panel, **more})


# Kafka's own rule for a topic's name, "." and ".." left out.
_TOPIC = Meta(
    pattern=r"^(?!\.{1,2}$)[a-zA-Z0-9._-]{1,249}$",
    extra={"expects": "a topic's name: 1 to 249 letters, digits, '.', '_', '-'"},
)
_NAME = Meta(min_length=1, max_length=249, extra={"expects": "a name of 1 to 249 characters"})


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings in force."""

    database: Annotated[
        str,
        Meta(min_length=1, extra={"expects": "the address of a database"}),
        _says(
            "The database: SQLite, or PostgreSQL as postgresql+psycopg://user@host:port/name;"
            " @/path reads it from a file.",
            WHERE,
            metavar="URL",
        ),
    ] = "sqlite:///crowdresolve.db"
    bootstrap_servers: Annotated[
        str,
        Meta(min_length=1, extra={"expects": "host:port, several separated by commas"}),
        _says("Kafka brokers, host:port separated by commas.", WHERE, metavar="LIST"),
    ] = "localhost:9092"
    group: Annotated[
        str,
        _NAME,
        _says("Consumer group: its processes share the partitions.", WHERE, metavar="ID"),
    ] = "crowdresolve"
    instance: Annotated[
        str,
        _NAME,
        _says(
            "Name of this process, the same after a restart: the transactional id is"
            " <group>-<instance>, so a restart fences its former self at once.",
            WHERE,
            metavar="ID",
            default="host name and process id",
        ),
    ] = field(default_factory=_host_and_process)
    kafka: Annotated[
        Mapping[str, str],
        _says(
            "A setting of the Kafka client by its documented name (security_protocol,"
            " sasl_mechanism, ssl_cafile, ...), repeatable; a value @/path is read from that file.",
            WHERE,
            metavar="KEY=VALUE",
            default="none",
        ),
    ] = {}
    topic_annotations: Annotated[str, _TOPIC, _says("Topic of the incoming events.", TOPICS)] = (
        "annotations"
    )
    topic_resolved: Annotated[str, _TOPIC, _says("Topic of the resolved labels.", TOPICS)] = (
        "labels.resolved"
    )
    topic_assigned: Annotated[str, _TOPIC, _says("Topic of the assignments.", TOPICS)] = (
        "tasks.assigned"
    )
    topic_dead: Annotated[str, _TOPIC, _says("Topic of the dead letters.", TOPICS)] = (
        "annotations.dead"
    )
    create_topics: Annotated[bool, _says("Make the topics that are missing.", TOPICS)] = False
    partitions: Annotated[
        int,
        Meta(ge=1, le=100_000),
        _says("Partitions of the topics that are made.", TOPICS, metavar="N"),
    ] = 6
    replication_factor: Annotated[
        int,
        Meta(ge=-1, le=32_767),
        _says("Copies of the topics that are made; -1: the broker's default.", TOPICS, metavar="N"),
    ] = -1
    delivery: Annotated[
        Literal["exactly_once", "at_least_once"],
        _says("at_least_once is for brokers without transactions: repeats have equal ids.", WORK),
    ] = "exactly_once"
    batch_size: Annotated[
        int,
        Meta(ge=1, le=100_000),
        _says("Most records in one database transaction.", WORK, metavar="N"),
    ] = 1000
    batch_wait_ms: Annotated[
        int,
        Meta(ge=0, le=10_000),
        _says(
            "From a batch that was not full to the next: smaller, and labels come sooner at a low"
            " rate; larger, and the service and the broker have less to do.",
            WORK,
            metavar="MS",
        ),
    ] = 20
    cache_objects: Annotated[
        int,
        Meta(ge=1000, le=1_000_000_000),
        _says("Tasks, workers and votes that a partition may keep in memory.", WORK, metavar="N"),
    ] = 200_000
    rebuild: Annotated[
        bool,
        _says(
            "Accept a database behind the group, or a log that lost records: apply again what"
            " there is, publish only what is not out yet.",
            WORK,
        ),
    ] = False
    log_format: Annotated[
        Literal["console", "json"],
        _says(
            "Shape of the log lines on stderr.", LOGS, default="console on a terminal, else json"
        ),
    ] = field(default_factory=_format_for_stderr)
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], _says("Least level that is logged.", LOGS)
    ] = "info"
    debug: Annotated[bool, _says("Show the traceback of an error.", LOGS)] = False


@dataclass(frozen=True)
class Setting:
    """One field of `Settings` for whoever documents, reads or shows it.

    Attributes:
        name: of the field, and the key in the file.
        type: what its value is converted to, bounds included.
        description: one or two sentences.
        panel: heading it is listed under.
        metavar: what stands for a value in help; None for a switch.
        default: in words.
        expects: what a right value is, in words.
    """

    name: str
    type: Any
    description: str
    panel: str
    metavar: str | None
    default: str
    expects: str

    @property
    def flag(self) -> str:
        """For example `--batch-size`."""
        return "--" + self.name.replace("_", "-")

    @property
    def variable(self) -> str:
        """For example `CROWDRESOLVE_BATCH_SIZE`."""
        if self.name == "kafka":
            return PREFIX + "KAFKA_<KEY>"
        return PREFIX + self.name.upper()

    @property
    def switch(self) -> bool:
        """Whether it is on or off."""
        return self.metavar is None


def _settings() -> dict[str, Setting]:
    hints = get_type_hints(Settings, include_extras=True)
    return {f.name: _setting(f, hints[f.name]) for f in msgspec.structs.fields(Settings)}


def _setting(f: msgspec.structs.FieldInfo, hint: Any) -> Setting:
    metas = [m for m in hint.__metadata__ if isinstance(m, Meta)]
    extra: dict[str, str] = {}
    for meta in metas:
        extra |= meta.extra or {}
    base = get_args(hint)[0]
    if base is bool:
        metavar, expects = None, "true or false"
    elif get_origin(base) is Literal:
        choices = [str(c) for c in get_args(base)]
        metavar, expects = "|".join(choices), "one of " + ", ".join(choices)
    elif base is int:
        low = next(m.ge for m in metas if m.ge is not None)
        high = next(m.le for m in metas if m.le is not None)
        metavar, expects = extra.get("metavar", "N"), f"a whole number from {low} to {high}"
    else:
        metavar, expects = extra.get("metavar", "NAME"), extra.get("expects", "KEY=VALUE")
    default = extra.get("default", f.default if base is not bool else "off")
    return Setting(
        name=f.name,
        type=hint,
        description=" ".join(m.description for m in metas if m.description),
        panel=extra["panel"],
        metavar=metavar,
        default=str(default),
        expects=expects,
    )


FIELDS: Mapping[str, Setting] = _settings()
"""Every setting by its name, in the order of the documentation."""
