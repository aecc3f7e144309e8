"""Running the command."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.live.deployment import COMMAND, Deployment, deployments
from tests.services import KafkaService

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def crowdresolve(tmp_path: Path) -> Run:
    """`crowdresolve(*arguments, **variables)` in an empty directory, without a terminal."""

    def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        clean = {k: v for k, v in os.environ.items() if not k.startswith("CROWDRESOLVE_")}
        return subprocess.run(
            [COMMAND, *arguments],
            env=clean | {"COLUMNS": "250"} | variables,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            stdin=subprocess.DEVNULL,
        )

    return run


@pytest.fixture
def deploy(kafka: KafkaService, tmp_path: Path) -> Iterator[Callable[..., Deployment]]:
    """`deploy(database_url, partitions=1)`: topics and a group of the test's own."""
    yield from deployments(kafka.bootstrap, tmp_path)
