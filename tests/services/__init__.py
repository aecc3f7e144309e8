"""A real Apache Kafka and a real PostgreSQL for the tests, found or started.

In this order: what the environment names (``CROWDRESOLVE_TEST_KAFKA``,
``CROWDRESOLVE_TEST_DATABASE``), containers where a Docker daemon answers, programs installed on
this machine. Whatever was started ends with the test session, however that ends (guardian.py).
"""

from tests.services.errors import CannotCrash, ServiceUnavailable
from tests.services.find import find_kafka, find_postgres
from tests.services.kafka import KafkaService
from tests.services.postgres import PostgresService

__all__ = [
    "CannotCrash",
    "KafkaService",
    "PostgresService",
    "ServiceUnavailable",
    "find_kafka",
    "find_postgres",
]
