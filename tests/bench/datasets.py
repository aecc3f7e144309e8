"""Where this checkout's datasets are."""

from __future__ import annotations

import os
from pathlib import Path

from connector.bench.datasets import Datasets
from tests.conftest import REPOSITORY

DIRECTORY = Path(os.environ.get("CROWDRESOLVE_TEST_DATA") or REPOSITORY.parent / "shared" / "data")
DATASETS = Datasets(DIRECTORY if DIRECTORY.is_dir() else None)
