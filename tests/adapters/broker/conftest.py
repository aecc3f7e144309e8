from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.services import KafkaService

from .worlds import KafkaWorld, MemoryWorld, World


@pytest.fixture(params=["memory", pytest.param("kafka", marks=pytest.mark.services)])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    """The in-memory broker, then the real one."""
    made: World
    if request.param == "memory":
        made = MemoryWorld()
    else:
        service: KafkaService = request.getfixturevalue("kafka")
        made = KafkaWorld(service.bootstrap)
    yield made
    made.close()
    assert made.hung == []


@pytest.fixture
def real(kafka: KafkaService) -> Iterator[KafkaWorld]:
    """The real broker alone."""
    made = KafkaWorld(kafka.bootstrap)
    yield made
    made.close()
