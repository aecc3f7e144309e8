"""Reading settings: a flag over a variable over the file over the default."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from connector.domain.errors import ConfigurationError

from .model import FIELDS, PREFIX, Setting, Settings
from .origin import DEFAULT, Kind, Origin

DEFAULT_FILE = Path("crowdresolve.toml")
KAFKA = PREFIX + "KAFKA_"
CONFIG = PREFIX + "CONFIG"

_OTHERS = (PREFIX + "FAILPOINT", PREFIX + "TEST_")
"""Variables of the tests."""


@dataclass(frozen=True)
class Loaded:
    """Settings with the origin of each.

    Attributes:
        settings: the values in force.
        origins: by the setting's name; of a Kafka client's setting by `kafka.<key>`.
        file: the file that was read, if any.
        warnings: what is odd but not wrong.
    """

    settings: Settings
    origins: Mapping[str, Origin]
    file: Path | None
    warnings: Sequence[str]

    def origin(self, name: str) -> Origin:
        """Where the value came from."""
        return self.origins.get(name, DEFAULT)

    def given(self, name: str) -> bool:
        """Whether somebody chose the value."""
        return name in self.origins


def load(
    flags: Mapping[str, Any],
    environ: Mapping[str, str],
    config: str | None = None,
    known_variables: Collection[str] = (),
) -> Loaded:
    """The settings in force.

    Args:
        flags: by the setting's name, None where a flag was not given; `kafka` is a list of
            KEY=VALUE.
        environ: the environment; an empty variable counts as unset.
        config: `--config`; else CROWDRESOLVE_CONFIG, else crowdresolve.toml if it is there.
        known_variables: others that are no mistake, for the warnings.

    Raises:
        ConfigurationError: naming the flag, variable or key that is wrong.
    """
    path, table = _file(config, environ)
    values: dict[str, Any] = {}
    origins: dict[str, Origin] = {}
    for name, setting in FIELDS.items():
        if name == "kafka":
            continue
        found = _given(setting, flags, environ, table, path)
        if found is not None:
            raw, origin = found
            values[name] = _converted(setting, raw, origin)
            origins[name] = origin
    kafka: dict[str, str] = {}
    for key, text, origin in _kafka(flags, environ, table, path):
        kafka[key] = text
        origins[f"kafka.{key}"] = origin
    settings = Settings(**values, kafka=kafka)
    _distinct_topics(settings, origins)
    return Loaded(
        settings=settings,
        origins=origins,
        file=path,
        warnings=list(_unknown_variables(environ, known_variables)),
    )


def _distinct_topics(settings: Settings, origins: Mapping[str, Origin]) -> None:
    """Two topics in one would feed the service its own messages, without end."""
    seen: dict[str, str] = {}
    for name in ("topic_annotations", "topic_resolved", "topic_assigned", "topic_dead"):
        topic = getattr(settings, name)
        if topic in seen:
            origin = origins.get(name) or origins.get(seen[topic], DEFAULT)
            flags = f"{FIELDS[seen[topic]].flag} and {FIELDS[name].flag}"
            raise ConfigurationError(
                f"{flags} both name the topic {topic!r} (given by {origin}): each needs its own"
            )
        seen[topic] = name


def closest(name: str, names: Collection[str]) -> str:
    """`; did you mean ...?`, or nothing where nothing is near."""
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    return f"; did you mean {near[0]}?" if near else ""


def _file(config: str | None, environ: Mapping[str, str]) -> tuple[Path | None, dict[str, Any]]:
    said, by = (config, "--config") if config else (environ.get(CONFIG), CONFIG)
    if said:
        path = Path(said)
    elif DEFAULT_FILE.is_file():
        path, by = DEFAULT_FILE, "the file in this directory"
    else:
        return None, {}
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ConfigurationError(f"{by}: cannot read {path}: {why}") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{by}: {path} is not TOML: {error}") from None
    for key in table:
        if key not in FIELDS:
            raise ConfigurationError(
                f"{path}: there is no setting `{key}`{closest(key, list(FIELDS))}"
            )
    return path, table


def _given(
    setting: Setting,
    flags: Mapping[str, Any],
    environ: Mapping[str, str],
    table: Mapping[str, Any],
    path: Path | None,
) -> tuple[Any, Origin] | None:
    if flags.get(setting.name) is not None:
        return flags[setting.name], Origin(Kind.FLAG, setting.flag)
    if environ.get(setting.variable):
        return environ[setting.variable], Origin(Kind.VARIABLE, setting.variable)
    if setting.name in table:
        return table[setting.name], Origin(Kind.FILE, setting.name, str(path))
    return None


def _converted(setting: Setting, raw: Any, origin: Origin) -> Any:
    if setting.name == "database" and isinstance(raw, str) and raw.startswith("@/"):
        raw = _secret(raw[1:], origin)
    try:
        # A text is read as what it stands for; in a file a number is a number.
        return msgspec.convert(raw, setting.type, strict=origin.kind is Kind.FILE)
    except msgspec.ValidationError:
        shown = "the given value" if setting.name == "database" else repr(raw)
        raise ConfigurationError(f"{origin}: {shown} is not {setting.expects}") from None


def _secret(path: str, origin: Origin) -> str:
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ConfigurationError(f"{origin}: cannot read {path}: {why}") from None


def _kafka(
    flags: Mapping[str, Any],
    environ: Mapping[str, str],
    table: Mapping[str, Any],
    path: Path | None,
) -> Iterator[tuple[str, str, Origin]]:
    """The Kafka client's settings, the weakest first."""
    given = table.get("kafka", {})
    if not isinstance(given, dict):
        raise ConfigurationError(f"`kafka` in {path}: must be a table, [kafka]")
    for key, value in given.items():
        origin = Origin(Kind.FILE, f"kafka.{key}", str(path))
        if not isinstance(value, str | int | float):
            raise ConfigurationError(f"{origin}: must be a text, a number, true or false")
        yield key, str(value).lower() if isinstance(value, bool) else str(value), origin
    for name, text in sorted(environ.items()):
        if name.startswith(KAFKA) and text:
            yield name.removeprefix(KAFKA).lower(), text, Origin(Kind.VARIABLE, name)
    for pair in flags.get("kafka") or ():
        key, equals, text = pair.partition("=")
        if not equals or not key.strip():
            raise ConfigurationError(f"--kafka {key}: must be KEY=VALUE")
        yield key.strip(), text, Origin(Kind.FLAG, f"--kafka {key.strip()}")


def _unknown_variables(environ: Mapping[str, str], others: Collection[str]) -> Iterator[str]:
    known = {s.variable for s in FIELDS.values()} | {CONFIG} | set(others)
    for name in sorted(environ):
        if name.startswith(PREFIX) and name not in known and not name.startswith((KAFKA, *_OTHERS)):
            yield f"the variable {name} is no setting{closest(name, known)}"
