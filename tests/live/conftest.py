"""Deployments of the service on the real broker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.services import KafkaService

from .deployment import Deployment, deployments

pytestmark = pytest.mark.services


@pytest.fixture
def deploy(kafka: KafkaService, tmp_path: Path) -> Iterator[Callable[..., Deployment]]:
    """`deploy(database_url, partitions=1)`: topics and a group of the test's own."""
    yield from deployments(kafka.bootstrap, tmp_path)
