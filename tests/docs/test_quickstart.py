"""The commands of README.md, run as they stand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from connector.adapters.kafka.topics import TopicNames
from tests.services import KafkaService

from .readme import README, script

TEXT = README.read_text(encoding="utf-8")
BIN = Path(sys.executable).parent

ENDED = """
set -euo pipefail
end() { code=$?; [ -z "$(jobs -p)" ] || { kill -TERM $(jobs -p); wait; }; exit $code; }
trap end EXIT
"""


def run(text: str, directory: Path, **more: str) -> str:
    """Run a script with the commands of this installation first; its output."""
    base = {k: v for k, v in os.environ.items() if not k.startswith("CROWDRESOLVE_")}
    path = f"{BIN}{os.pathsep}{base.get('PATH', '')}"
    with (directory / "out").open("w+", encoding="utf-8") as out:
        done = subprocess.run(
            ["bash", "-c", ENDED + text],
            env={**base, "PATH": path, **more},
            cwd=directory,
            stdout=out,
            stderr=subprocess.STDOUT,
            timeout=240,
        )
        out.seek(0)
        said = out.read()
    assert done.returncode == 0, said
    return said


def test_replay_of_the_readme_does_what_it_says(tmp_path: Path) -> None:
    run(script(TEXT, "files"), tmp_path)
    header = (tmp_path / "labels.csv").read_text(encoding="utf-8").splitlines()[0]
    assert header == "task,label,confidence,status,votes,p_cat,p_dog"
    assert (tmp_path / "events.jsonl").read_text(encoding="utf-8").count("label.resolved")
    assert (tmp_path / "labels.jsonl").is_file()
    assert (tmp_path / "votes.db").is_file()


@pytest.mark.services
def test_the_quick_start_leads_from_nothing_to_the_label_that_it_says(
    kafka: KafkaService, postgres_url: str, tmp_path: Path
) -> None:
    """On topics of its own: the broker may be somebody's."""
    tag = uuid.uuid4().hex[:8]
    names = TopicNames()
    text = script(TEXT, "service")
    for name in (*names, "training"):
        text = text.replace(f'"{name}"', f'"{name}-{tag}"')
    said = run(
        text,
        tmp_path,
        CROWDRESOLVE_BOOTSTRAP_SERVERS=kafka.bootstrap,
        CROWDRESOLVE_DATABASE=postgres_url,
        CROWDRESOLVE_GROUP=f"crowdresolve-{tag}",
        **{
            f"CROWDRESOLVE_TOPIC_{field.upper()}": f"{name}-{tag}"
            for field, name in zip(names._fields, names, strict=True)
        },
    )
    printed = re.search(r"It prints `(label\.resolved [^`]+)`", TEXT)
    assert printed
    assert printed[1] in said
    assert "sentiment: applied from" in said
