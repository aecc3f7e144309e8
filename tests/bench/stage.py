"""The real services that a measurement needs, found or started once and ended with the run."""

from __future__ import annotations

import tempfile
from pathlib import Path
from types import TracebackType

from tests.live.deployment import Deployment
from tests.services import KafkaService, PostgresService, find_kafka, find_postgres


class Stage:
    """Kafka, PostgreSQL and a directory; each comes up when it is first asked for."""

    def __init__(self) -> None:
        self._directory = tempfile.TemporaryDirectory(prefix="crowdresolve-bench-")
        self.directory = Path(self._directory.name)
        self._kafka: KafkaService | None = None
        self._postgres: PostgresService | None = None
        self._deployments: list[Deployment] = []
        self._files = 0

    def __enter__(self) -> Stage:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        for deployment in self._deployments:
            deployment.close()
        for service in (self._kafka, self._postgres):
            if service is not None:
                service.close()
        self._directory.cleanup()

    @property
    def kafka(self) -> KafkaService:
        """Raises ServiceUnavailable."""
        if self._kafka is None:
            self._kafka = find_kafka()
        return self._kafka

    @property
    def postgres(self) -> PostgresService:
        """Raises ServiceUnavailable."""
        if self._postgres is None:
            self._postgres = find_postgres()
        return self._postgres

    def database(self, kind: str) -> str:
        """URL of a new, empty database: "PostgreSQL" or "SQLite"."""
        if kind == "PostgreSQL":
            return self.postgres.create_database()
        self._files += 1
        return f"sqlite:///{self.directory}/{self._files}.db"

    def deployment(self) -> Deployment:
        """Topics, a group and a database of their own."""
        made = Deployment(self.kafka.bootstrap, self.database("SQLite"), self.directory)
        self._deployments.append(made)
        return made
