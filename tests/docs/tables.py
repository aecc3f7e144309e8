"""The generated parts of README.md, each made from what the code says."""

from __future__ import annotations

import ast
import enum
import inspect
import json
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import typer.main

import aggregators
from connector import projectfile
from connector.adapters.kafka import topics
from connector.adapters.sql.views import VIEWS
from connector.cli import app
from connector.domain import config, errors
from connector.domain.decode import TYPES
from connector.domain.errors import DeadCode
from connector.domain.records import Outgoing
from connector.pipeline.failpoints import JOB_NAMES, NAMES
from connector.replay import replay
from connector.settings import FIELDS

from . import words

PACKAGE = Path(errors.__file__).parents[1]

T = TypeVar("T")


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; a bar inside a cell is escaped."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(_cell(c) for c in row) + " |" for row in lines)


def _cell(text: str) -> str:
    pieces = text.replace("|", "\\|").split("`")
    pieces[::2] = [re.sub("<(?!br>)", "&lt;", piece) for piece in pieces[::2]]
    return "`".join(pieces)


def described(said: Mapping[str, T], names: Iterable[str], what: str) -> dict[str, T]:
    """The words for these names.

    Raises:
        LookupError: a name without words, or words for nothing: tests/docs/words.py is out of date.
    """
    names = list(names)
    missing = [n for n in names if n not in said] + [n for n in said if n not in names]
    if missing:
        raise LookupError(f"tests/docs/words.py: {what}: {', '.join(missing)}")
    return {name: said[name] for name in names}


def code(text: str) -> str:
    return f"`{text}`"


# -- commands and settings


def root() -> Any:
    """The command `crowdresolve`."""
    return typer.main.get_command(app)


def leaves(group: Any = None, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every command that does something, with its words."""
    for name, command in (group or root()).commands.items():
        if hasattr(command, "commands"):
            if command.invoke_without_command:
                yield path + name, command
            yield from leaves(command, f"{path}{name} ")
        else:
            yield path + name, command


def flags(command: Any) -> Iterator[str]:
    """Every flag of a command, in its long and short forms."""
    for parameter in command.params:
        if parameter.param_type_name == "option":
            yield from (*parameter.opts, *parameter.secondary_opts)
    yield from ("--help", "-h")


def _own(command: Any) -> Iterator[str]:
    """What a command takes beside settings."""
    for parameter in command.params:
        said = parameter.help or ""
        if parameter.param_type_name == "argument":
            yield code(parameter.metavar or parameter.name.upper())
        elif parameter.name in FIELDS and FIELDS[parameter.name].description in said:
            continue
        elif parameter.name != "config":
            yield code("/".join([*parameter.opts, *parameter.secondary_opts]))


def commands() -> str:
    rows = []
    for path, command in leaves():
        first = (command.help or "").strip().splitlines()[0]
        rows.append((code(path), first, " ".join(_own(command))))
    return table(("command", "what it does", "its own arguments"), rows)


def settings() -> str:
    rows = [
        (
            f"{code(s.flag)}<br>{code(s.variable)}<br>{code(s.name)}",
            s.default.strip(),
            s.description,
        )
        for s in FIELDS.values()
    ]
    return table(("flag, variable, key", "default", "meaning"), rows)


def exit_codes() -> str:
    rows = [
        ("0", "done; also after SIGTERM"),
        (
            str(errors.CrowdResolveError.exit_code),
            "failed, or refused to go on; the last line says why",
        ),
        ("2", "usage: no such command, flag or argument"),
        (
            str(errors.ConfigurationError.exit_code),
            "configuration: a setting or file is wrong; it is named",
        ),
        (str(errors.DependencyError.exit_code), "Kafka or the database cannot be reached"),
    ]
    return table(("code", "meaning"), rows)


def log_lines() -> str:
    found: dict[str, str] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and isinstance(node.func.value, ast.Name)
                and node.func.value.id == "log"
                and node.func.attr in ("warning", "error", "critical")
                and node.args
                and isinstance(node.args[0], ast.Constant)
                and re.fullmatch("[a-z_]+", str(node.args[0].value))
            ):
                found[str(node.args[0].value)] = node.func.attr
    said = described(words.LOG_LINES, sorted(found), "log lines")
    return table(
        ("event", "level", "what it means"),
        [(code(name), found[name], said[name]) for name in said],
    )


# -- Kafka


def topic_table() -> str:
    names = topics.TopicNames()
    wanted = {names.annotations: topics.annotations_settings()} | topics.outgoing_settings(names, 0)
    rows = []
    for field, (way, key, what) in described(
        words.TOPICS, topics.TopicNames._fields, "topics"
    ).items():
        name = getattr(names, field)
        shown = []
        for setting, value in wanted[name].items():
            if setting == "max.message.bytes":
                value = f"the input's + {value}"
            shown.append(code(f"{setting}={value}"))
        rows.append((code(name), way, key, what, ", ".join(shown)))
    return table(("topic", "", "key", "holds", "made with"), rows)


def events() -> str:
    rows = []
    for name, kind in TYPES.items():
        fields = []
        for field in msgspec.structs.fields(kind):
            if field.name in ("project", "at"):
                continue
            optional = field.default is not msgspec.NODEFAULT or (
                field.default_factory is not msgspec.NODEFAULT
            )
            fields.append(field.name + ("?" if optional else ""))
        shown = ", ".join(fields)
        if name == "project.declared":
            shown = "the keys of a project file: kind, classes, closed?, model?, resolve?, ..."
        # What the engine makes of it is no business of a producer's.
        rows.append((code(name), shown, _first(kind).partition("; `")[0].rstrip(".")))
    return table(("type", "fields beside `type`, `project`, `at?`", "meaning"), rows)


def dead_codes() -> str:
    said = _member_docstrings(DeadCode)
    rows = [(code(c.value), said[c.name]) for c in DeadCode]
    return table(("code", "why"), rows)


QUICK = [
    {"type": "project.declared", "project": "sentiment", "kind": "binary"}
    | {"classes": ["negative", "positive"]},
    *(
        {"type": "annotation.submitted", "project": "sentiment"}
        | {"task": task, "worker": worker, "label": "positive", "at": "2026-01-02T03:04:05Z"}
        for task in ("t1", "t2")
        for worker in ("ann", "bob", "cleo", "dan", "eve")
    ),
    {"type": "annotation.submitted", "project": "sentiment"}
    | {"task": "t3", "worker": "ann", "label": "neutral", "at": "2026-01-02T03:04:06Z"},
]
"""The log of the quick start."""


def _messages() -> list[Outgoing]:
    found: list[Outgoing] = []
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "events.jsonl"
        path.write_text("".join(json.dumps(e) + "\n" for e in QUICK), encoding="utf-8")
        with replay([path], on_message=found.append):
            pass
    return found


def _message(topic: str) -> str:
    message = next(m for m in _messages() if m.topic == topic)
    value = json.loads(message.value or b"null")
    lines = [f"key      {(message.key or b'').decode()}"] if message.key else []
    lines += [f"header   {name}: {(text or b'').decode()}" for name, text in message.headers]
    pieces = [json.dumps({k: v}, ensure_ascii=False)[1:-1] for k, v in value.items()]
    lines += ["value    " + row for row in _wrapped(pieces)]
    return "```text\n" + "\n".join(lines) + "\n```"


def _wrapped(pieces: Sequence[str], width: int = 100) -> list[str]:
    rows = ["{" + pieces[0]]
    for piece in pieces[1:]:
        if len(rows[-1]) + len(piece) + 2 > width:
            rows[-1] += ","
            rows.append(" " + piece)
        else:
            rows[-1] += ", " + piece
    rows[-1] += "}"
    return rows


def label_message() -> str:
    return _message(topics.TopicNames().resolved)


def dead_letter() -> str:
    return _message(topics.TopicNames().dead)


# -- the database


def views() -> str:
    lines = []
    for name, (what, columns) in described(words.VIEWS, VIEWS, "views").items():
        said = described(columns, VIEWS[name].columns, f"columns of {name}")
        shown = [f"`{column}` {text}".strip() for column, text in said.items()]
        lines.append(f"- **`{name}`**, {what}: " + "; ".join(shown) + ".")
    return "\n".join(lines)


# -- projects


def project_file() -> str:
    defaults = _defaults()
    said = described(words.PROJECT_KEYS, _keys(), "keys of a project file")
    lines = []
    section = ""
    for key, (example, text) in said.items():
        table_name, _, name = key.rpartition(".")
        if table_name != section:
            lines.append(f"[{table_name}]")
            section = table_name
        default = defaults.get(key)
        shown = example if default is None else _toml(default)
        optional = default is None and key not in (
            "project.name",
            "project.kind",
            "project.classes",
        )
        line = ("# " if optional and "optional" in text else "") + f"{name} = {shown}"
        lines.append(f"{line:42} # {text}")
    return "```toml\n" + "\n".join(lines) + "\n```"


def _keys() -> list[str]:
    """Every key of a project file, table by table."""
    found = [k for k in projectfile.KEYS if "." in k]
    order = ["project.name", *(k if "." in k else f"project.{k}" for k in config.known_keys())]
    return sorted(found, key=order.index)


def _defaults() -> dict[str, Any]:
    """The defaults that do not depend on other keys."""
    found: dict[str, Any] = {"project.closed": False}
    for table_name, kind in _sections().items():
        for field in msgspec.structs.fields(kind):
            value = field.default
            if field.default_factory is not msgspec.NODEFAULT:
                value = field.default_factory()
            if value is not msgspec.UNSET:
                found[f"{table_name}.{field.name}"] = value
    return found


def _sections() -> dict[str, type]:
    return {
        f.name: f.type
        for f in msgspec.structs.fields(config.Declaration)
        if inspect.isclass(f.type) and issubclass(f.type, msgspec.Struct)
    }


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value == int(value):
        return str(int(value))
    if isinstance(value, tuple | list):
        return "[" + ", ".join(_toml(v) for v in value) + "]"
    return json.dumps(value)


# -- the rest


def methods() -> str:
    rows = [
        (code(name), code(cls.__name__), _first(cls)) for name, cls in aggregators.METHODS.items()
    ]
    return table(("`--algorithm`", "class", ""), rows)


def measured() -> str:
    from tests.bench import __main__ as bench

    rows = []
    for name, part in bench.PARTS.items():
        said = (inspect.getdoc(inspect.getmodule(part)) or "").splitlines()[0]
        rows.append((code(f"make bench ARGS={name}"), said.rstrip(".")))
    results = Path(bench.__file__).with_name("RESULTS.md")
    link = "\n\nFigures of the last run: [tests/bench/RESULTS.md](tests/bench/RESULTS.md)."
    return table(("command", "what it measures"), rows) + (link if results.exists() else "")


def failpoints() -> str:
    return _places(described(words.FAILPOINTS, NAMES, "failpoints"))


def job_failpoints() -> str:
    return _places(described(words.JOB_FAILPOINTS, JOB_NAMES, "job failpoints"))


def _places(said: Mapping[str, str]) -> str:
    return "; ".join(f"{text} (`{name}`)" for name, text in said.items()) + "."


def _first(kind: type) -> str:
    return (inspect.getdoc(kind) or "").splitlines()[0]


def _member_docstrings(kind: type[enum.Enum]) -> dict[str, str]:
    """The text after each member; Python does not keep it."""
    tree = ast.parse(inspect.getsource(kind)).body[0]
    assert isinstance(tree, ast.ClassDef)
    found = {}
    for statement, after in zip(tree.body, tree.body[1:], strict=False):
        if (
            isinstance(statement, ast.Assign)
            and isinstance(statement.targets[0], ast.Name)
            and isinstance(after, ast.Expr)
            and isinstance(after.value, ast.Constant)
        ):
            found[statement.targets[0].id] = " ".join(str(after.value.value).split())
    return found


TABLES: Mapping[str, Callable[[], str]] = {
    "commands": commands,
    "settings": settings,
    "exit-codes": exit_codes,
    "log-lines": log_lines,
    "topics": topic_table,
    "events": events,
    "dead-codes": dead_codes,
    "label-message": label_message,
    "dead-letter": dead_letter,
    "views": views,
    "project-file": project_file,
    "methods": methods,
    "failpoints": failpoints,
    "job-failpoints": job_failpoints,
    "measured": measured,
}
"""Every part by the name in its markers."""
