"""PostgreSQL in a container."""

from __future__ import annotations

from tests.services.network import free_ports
from tests.services.postgres import PostgresService

IMAGE = "postgres:17-alpine"
PORT = 5432
START_SECONDS = 60


class DockerPostgres(PostgresService):
    """A server in a container, which Docker removes even if the test session is killed (Ryuk)."""

    def __init__(self) -> None:
        from testcontainers.community.postgres import PostgresContainer

        self.how = f"PostgreSQL in Docker ({IMAGE})"
        self._container = PostgresContainer(
            IMAGE, port=PORT, username="crowdresolve", password="crowdresolve", dbname="postgres"
        )
        # A port that we choose: Docker would give another one after each start.
        self._container.with_bind_ports(PORT, free_ports(1)[0])
        self._made = False
        self.url = ""

    def start(self) -> None:
        if not self._made:
            self._made = True
            self._container.start()
            self.url = self._container.get_connection_url(driver="psycopg")
        elif not self.alive():
            self._container.get_wrapped_container().start()
        self._await(START_SECONDS)

    def stop(self) -> None:
        # The image's stop signal is SIGINT: open connections are cut.
        self._container.get_wrapped_container().stop(timeout=30)

    def kill(self) -> None:
        self._container.get_wrapped_container().kill()

    def alive(self) -> bool:
        wrapped = self._container.get_wrapped_container()
        wrapped.reload()
        return bool(wrapped.status == "running")

    def close(self) -> None:
        if self._made:
            self._container.stop()
