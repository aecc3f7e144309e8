"""What a test may do with Apache Kafka, whoever runs it."""

from __future__ import annotations

import logging
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager

from tests.services.errors import CannotCrash, ServiceUnavailable
from tests.services.network import wait_until

# Settings that differ from a broker's defaults, and why. The names are Kafka's; a container takes
# them as environment variables. What a test may rely on stays a default: message.max.bytes, say.
BROKER_SETTINGS = {
    "auto.create.topics.enable": "false",  # a mistyped topic must be an error
    # One node: internal topics have one replica; three partitions are made faster than fifty.
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "3",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    # Tests do not wait where production had better: for members, for the dead, for a killed
    # broker's own registration (9 s), for the transactions of killed producers (10 s).
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "1000",
    "broker.session.timeout.ms": "2000",
    "broker.heartbeat.interval.ms": "500",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "500",
}


class KafkaService(ABC):
    """A broker. After `kill` or `stop`, `start` brings it back with its data.

    Attributes:
        bootstrap: ``host:port``.
        how: In words, which one this is.
        can_kill: Whether it may be stopped and killed: it is ours.
    """

    bootstrap: str
    how: str
    can_kill = True

    @abstractmethod
    def start(self) -> None:
        """Start it if it does not run, and wait until it serves."""

    @abstractmethod
    def stop(self) -> None:
        """End it cleanly."""

    @abstractmethod
    def kill(self) -> None:
        """SIGKILL: a crash."""

    @abstractmethod
    def alive(self) -> bool:
        """Whether it runs."""

    @abstractmethod
    def close(self) -> None:
        """End it for good, and its data too."""

    @property
    def pid(self) -> int | None:
        """The broker's process, if it is one of this machine's: for SIGSTOP, say."""
        return None

    def restart(self) -> None:
        """Stop it cleanly if it runs, then start it."""
        self.stop()
        self.start()

    def serves(self) -> bool:
        """Whether it names itself in its own list of brokers: it is then ready for clients."""
        with warnings.catch_warnings(), _silenced("kafka"):
            warnings.simplefilter("ignore", DeprecationWarning)
            from kafka import KafkaAdminClient
            from kafka.errors import KafkaError

            try:
                admin = KafkaAdminClient(
                    bootstrap_servers=self.bootstrap,
                    bootstrap_timeout_ms=2000,
                    request_timeout_ms=2000,
                )
            except (KafkaError, OSError, ValueError):
                return False
            try:
                return bool(admin.describe_cluster()["brokers"])
            except (KafkaError, OSError, KeyError):
                return False
            finally:
                admin.close()

    def _await(self, seconds: float) -> None:
        if not wait_until(lambda: not self.alive() or self.serves(), seconds) or not self.alive():
            raise ServiceUnavailable(f"{self.how} at {self.bootstrap} does not serve")


class ExternalKafka(KafkaService):
    """The broker that CROWDRESOLVE_TEST_KAFKA names."""

    can_kill = False

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap
        self.how = "named by CROWDRESOLVE_TEST_KAFKA"

    def start(self) -> None:
        self._await(2)

    def stop(self) -> None:
        raise CannotCrash(f"Kafka {self.how}")

    def kill(self) -> None:
        raise CannotCrash(f"Kafka {self.how}")

    def alive(self) -> bool:
        return True

    def close(self) -> None:
        """Not ours."""


@contextmanager
def _silenced(name: str) -> Iterator[None]:
    """Without what a logger says: a broker that starts refuses connections, which is no news."""
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(level)
