"""Apache Kafka in a container."""

from __future__ import annotations

from tests.services.kafka import BROKER_SETTINGS, KafkaService
from tests.services.network import free_ports

IMAGE = "confluentinc/cp-kafka:7.9.0"
PORT = 9093
START_SECONDS = 60


class DockerKafka(KafkaService):
    """A broker in a container, which Docker removes even if the test session is killed (Ryuk)."""

    def __init__(self) -> None:
        from testcontainers.community.kafka import KafkaContainer

        self.how = f"Apache Kafka in Docker ({IMAGE})"
        container = KafkaContainer(IMAGE, port=PORT).with_kraft()
        # A port that we choose: Docker would give another one after each start.
        container.with_bind_ports(PORT, free_ports(1)[0])
        for setting, value in BROKER_SETTINGS.items():
            container.with_env("KAFKA_" + setting.upper().replace(".", "_"), value)
        self._container = container
        self._made = False
        self.bootstrap = ""

    def start(self) -> None:
        if not self._made:
            self._made = True
            self._container.start(timeout=START_SECONDS)
            self.bootstrap = self._container.get_bootstrap_server()
        elif not self.alive():
            self._container.get_wrapped_container().start()
        self._await(START_SECONDS)

    def stop(self) -> None:
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
