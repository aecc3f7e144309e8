"""From the settings to what Kafka's clients and the database are reached by.

Commands that only ask or send something need no more than this, and do not load the engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from connector.domain.errors import ConfigurationError
from connector.settings import Loaded, Origin, Settings

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from connector.adapters.kafka.client import ClientSettings
    from connector.adapters.kafka.topics import TopicNames

CONNECT_MS = "15000"
"""How long a client looks for a broker: a wrong address should show soon, a restart be waited for.
It is asked again by who can wait."""


def kafka_client(
    settings: Settings,
    origins: Mapping[str, Origin] | None = None,
    *,
    connect_ms: str = CONNECT_MS,
) -> ClientSettings:
    """How the Kafka clients reach the cluster.

    Raises:
        ConfigurationError: a server or one of the client's settings is wrong; it says where that
            was given.
    """
    from connector.adapters.kafka.client import client_settings

    def checked(options: Mapping[str, str], name: str) -> ClientSettings:
        try:
            return client_settings(
                settings.bootstrap_servers,
                options,
                client_id=f"{settings.group}-{settings.instance}",
            )
        except ConfigurationError as error:
            raise _from(error, origins, name) from None

    checked({}, "bootstrap_servers")
    for key, value in settings.kafka.items():
        checked({key: value}, f"kafka.{key}")
    return checked({"bootstrap_timeout_ms": connect_ms, **settings.kafka}, "kafka")


def database(loaded: Loaded) -> str:
    """`--database`, checked.

    Raises:
        ConfigurationError: it is malformed; it says where it was given.
    """
    from connector.adapters.sql.database import parsed

    try:
        parsed(loaded.settings.database)
    except ConfigurationError as error:
        raise _from(error, loaded.origins, "database") from None
    return loaded.settings.database


def shown_database(url: str) -> str:
    """The address without a password."""
    from connector.adapters.sql.database import parsed, shown

    return shown(parsed(url))


def require_database(loaded: Loaded) -> None:
    """Refuse a SQLite file that is not there: opening it to read would make an empty one.

    Raises:
        ConfigurationError: there is none; it says where its name was given.
    """
    from pathlib import Path

    from connector.adapters.sql.database import parsed

    address = parsed(database(loaded))
    if not address.drivername.startswith("sqlite") or address.database is None:
        return
    path = address.database
    if not path.startswith("file:") and not Path(path).exists():
        raise ConfigurationError(
            f"--database: there is no file {path} (given by {loaded.origin('database')}). Name the"
            " database of the service, or make one with `crowdresolve db upgrade`"
        )


def database_engine(loaded: Loaded) -> Engine:
    """An engine for migrations and for reading."""
    from connector.adapters.sql.database import engine

    return engine(database(loaded))


def topic_names(settings: Settings) -> TopicNames:
    """The four topics."""
    from connector.adapters.kafka.topics import TopicNames

    return TopicNames(
        settings.topic_annotations,
        settings.topic_resolved,
        settings.topic_assigned,
        settings.topic_dead,
    )


def _from(
    error: ConfigurationError, origins: Mapping[str, Origin] | None, name: str
) -> ConfigurationError:
    origin = (origins or {}).get(name)
    return error if origin is None else ConfigurationError(f"{error} (given by {origin})")
