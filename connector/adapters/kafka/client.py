"""From our settings to the arguments of kafka-python's clients.

`--kafka KEY=VALUE` hands any documented setting of the client through: to the consumer, the
producer and the admin client, to each those that it knows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from connector.domain.errors import ConfigurationError

SECRETS = frozenset({"sasl_plain_password", "ssl_password"})
"""Names whose values are never shown."""

REFUSED: dict[str, str] = {
    "bootstrap_servers": "use --bootstrap-servers",
    "group_id": "use --group",
    "group_instance_id": "use --instance",
    "transactional_id": "it is made of --group and --instance",
    "transaction_timeout_ms": "a killed process must not hold up subscribers longer than 15 s",
    "enable_auto_commit": "offsets are committed with the messages that they stand for",
    "auto_commit_interval_ms": "offsets are committed with the messages that they stand for",
    "auto_offset_reset": "a lost position must stop the service, not skip or repeat votes",
    "isolation_level": "records of aborted transactions must not be counted",
    "enable_idempotence": "without it a retry can double or reorder messages",
    "acks": "a message counts as sent when all in-sync replicas have it",
    "retries": "a message is sent until it is acknowledged or the transaction ends",
    "max_in_flight_requests_per_connection": "it would reorder messages",
    "check_crcs": "a damaged record must be noticed",
    "allow_auto_create_topics": "topics are made by `crowdresolve topics create`",
    "partition_assignment_strategy": "all members of the group must use the same one",
    "max_poll_records": "use --batch-size",
    "consumer_timeout_ms": "it belongs to the iterator interface, which is not used",
    "delivery_timeout_ms": "it follows from the transaction's timeout",
    "key_serializer": "keys are bytes",
    "value_serializer": "values are bytes",
    "key_deserializer": "keys are bytes",
    "value_deserializer": "values are bytes",
    "partitioner": "a key's partition is murmur2's, as everywhere in Kafka",
}
"""Names that would break a promise, each with the reason or the setting to use instead."""

_OBJECTS = frozenset(
    {
        "default_offset_commit_callback",
        "kafka_client",
        "metric_reporters",
        "sasl_kerberos_name",
        "sasl_oauth_token_provider",
        "selector",
        "socket_options",
        "ssl_context",
    }
)
"""Names whose values are objects of Python: they cannot be given as text."""

_INTEGERS_WITHOUT_DEFAULT = frozenset({"receive_buffer_bytes", "send_buffer_bytes"})


@dataclass(frozen=True)
class ClientSettings:
    """How to reach the cluster; make it with `client_settings`.

    Attributes:
        bootstrap_servers: ``host:port``, at least one.
        options: what `--kafka` gave, converted, by the client's names.
        client_id: how the broker's logs name this client.
    """

    bootstrap_servers: Sequence[str]
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)  # it holds secrets
    client_id: str = "crowdresolve"

    @property
    def where(self) -> str:
        """For messages."""
        return ",".join(self.bootstrap_servers)

    def consumer(self, **ours: Any) -> dict[str, Any]:
        """Arguments of a KafkaConsumer: `--kafka` over `ours`, which hold where nothing is said."""
        return self._arguments("consumer", ours)

    def producer(self, **ours: Any) -> dict[str, Any]:
        """Arguments of a KafkaProducer."""
        return self._arguments("producer", ours)

    def admin(self, **ours: Any) -> dict[str, Any]:
        """Arguments of a KafkaAdminClient."""
        return self._arguments("admin", ours)

    def _arguments(self, client: str, ours: dict[str, Any]) -> dict[str, Any]:
        known = _defaults()[client]
        given = {name: value for name, value in self.options.items() if name in known}
        return {
            "bootstrap_servers": list(self.bootstrap_servers),
            "client_id": self.client_id,
            **ours,
            **given,
        }


def client_settings(
    bootstrap_servers: str | Sequence[str],
    options: Mapping[str, str] | None = None,
    *,
    client_id: str = "crowdresolve",
) -> ClientSettings:
    """Check and convert what the operator gave.

    Args:
        bootstrap_servers: a list, or one text with commas.
        options: `--kafka` by name; a value ``@/path`` is read from that file.
        client_id: how the broker's logs name this client.

    Raises:
        ConfigurationError: a name that no client knows, that would break a promise or that takes
            an object; a value of the wrong type; a file that cannot be read; no server.
    """
    if isinstance(bootstrap_servers, str):
        bootstrap_servers = bootstrap_servers.split(",")
    servers = [server.strip() for server in bootstrap_servers if server.strip()]
    if not servers:
        raise ConfigurationError(
            "--bootstrap-servers names no server: give host:port, several separated by commas"
        )
    for server in servers:
        _check_server(server)
    converted = {name: _converted(name, text) for name, text in sorted((options or {}).items())}
    _check_session(converted)
    return ClientSettings(tuple(servers), converted, client_id)


@cache
def _defaults() -> dict[str, dict[str, Any]]:
    """What each client knows, with its defaults.

    Late, so that a command that needs no broker does not load the client.
    """
    from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer

    return {
        "consumer": dict(KafkaConsumer.DEFAULT_CONFIG),
        "producer": dict(KafkaProducer.DEFAULT_CONFIG),
        "admin": dict(KafkaAdminClient.DEFAULT_CONFIG),
    }


def _check_server(server: str) -> None:
    _, separator, port = server.rpartition(":")
    if not separator or not port.isdigit() or not 0 < int(port) < 65536:
        raise ConfigurationError(f"--bootstrap-servers: {server!r} is not host:port")


def _converted(name: str, text: str) -> Any:
    if name in REFUSED:
        raise ConfigurationError(f"--kafka {name} cannot be set: {REFUSED[name]}")
    if name in _OBJECTS:
        raise ConfigurationError(f"--kafka {name} takes an object and cannot be given as text")
    defaults = [client[name] for client in _defaults().values() if name in client]
    if not defaults:
        raise ConfigurationError(
            f"--kafka {name}: kafka-python has no such setting; its names are as in its "
            "documentation, for example security_protocol or sasl_mechanism"
        )
    if text.startswith("@/"):
        text = _from_file(name, text[1:])
    default = next((value for value in defaults if value is not None), None)
    try:
        return _value(name, text, default)
    except ValueError as error:
        shown = "the given value" if name in SECRETS else repr(text)
        raise ConfigurationError(f"--kafka {name}: {shown} is not {error}") from None


def _from_file(name: str, path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"--kafka {name}: cannot read {path}: {error}") from None


def _value(name: str, text: str, default: object) -> Any:
    """The text as the type that the client wants; ValueError says which."""
    if name == "api_version":
        parts = text.split(".")
        if not all(part.isdigit() for part in parts):
            raise ValueError("a version such as 3.7")
        return tuple(int(part) for part in parts)
    if isinstance(default, bool):
        lowered = text.lower()
        if lowered not in ("true", "false", "1", "0", "yes", "no"):
            raise ValueError("true or false")
        return lowered in ("true", "1", "yes")
    if isinstance(default, int) or name in _INTEGERS_WITHOUT_DEFAULT:
        try:
            return int(text)
        except ValueError:
            raise ValueError("a whole number") from None
    return text


def _check_session(options: dict[str, Any]) -> None:
    """A short session needs quicker heartbeats; a third of it is Kafka's own advice."""
    session = options.get("session_timeout_ms")
    if session is not None and "heartbeat_interval_ms" not in options:
        options["heartbeat_interval_ms"] = max(1, min(3000, session // 3))
