"""The order in which a service is looked for."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Protocol, TypeVar

from tests.services.docker import why_not_docker
from tests.services.errors import ServiceUnavailable
from tests.services.kafka import ExternalKafka, KafkaService
from tests.services.kafka_docker import DockerKafka
from tests.services.kafka_local import LocalKafka
from tests.services.postgres import ExternalPostgres, PostgresService
from tests.services.postgres_docker import DockerPostgres
from tests.services.postgres_local import LocalPostgres


class _Service(Protocol):
    def start(self) -> None: ...
    def close(self) -> None: ...


S = TypeVar("S", bound=_Service)


def find_kafka() -> KafkaService:
    """A running Apache Kafka. The caller closes it.

    Raises:
        ServiceUnavailable: None of the ways leads to one; the message says why not.
    """
    if bootstrap := os.environ.get("CROWDRESOLVE_TEST_KAFKA"):
        return _started(lambda: ExternalKafka(bootstrap))
    return _first("Apache Kafka", "CROWDRESOLVE_TEST_KAFKA", DockerKafka, LocalKafka)


def find_postgres() -> PostgresService:
    """A running PostgreSQL server. The caller closes it.

    Raises:
        ServiceUnavailable: None of the ways leads to one; the message says why not.
    """
    if url := os.environ.get("CROWDRESOLVE_TEST_DATABASE"):
        return _started(lambda: ExternalPostgres(url))
    return _first("PostgreSQL", "CROWDRESOLVE_TEST_DATABASE", DockerPostgres, LocalPostgres)


def _first(name: str, variable: str, in_docker: Callable[[], S], local: Callable[[], S]) -> S:
    reasons = [f"{variable} is not set"]
    if (reason := why_not_docker()) is None:
        try:
            return _started(in_docker)
        except Exception as error:  # an image that cannot be pulled, a full disk, ...
            reason = f"{type(error).__name__}: {error}"
    reasons.append(f"Docker: {reason}")
    try:
        return _started(local)
    except ServiceUnavailable as error:
        reasons.append(f"local programs: {error}")
    raise ServiceUnavailable(f"no {name}: {'; '.join(reasons)}")


def _started(make: Callable[[], S]) -> S:
    service = make()
    try:
        service.start()
    except BaseException:
        service.close()
        raise
    return service
