"""AsyncAPI's own parser accepts the document. It needs Node.js, and npm once."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, NoReturn

import pytest

from .document import PATH
from .strict import published
from .test_document import SPECIFICATION

pytestmark = pytest.mark.slow

HERE = Path(__file__).with_name("node")
FILES = ("package.json", "package-lock.json", "validate.js")

ERROR, WARNING = 0, 1


@pytest.fixture(scope="module")
def parser() -> Path:
    """A directory with the parser in it, kept from one run to the next."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            _missing(f"no {program}: install Node.js 18 or newer")
    digest = hashlib.sha256(b"\0".join((HERE / name).read_bytes() for name in FILES)).hexdigest()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "crowdresolve"
    installed = cache / f"asyncapi-parser-{digest[:16]}"
    if installed.is_dir():
        return installed
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache, prefix="installing-") as temporary:
        fresh = Path(temporary) / "parser"
        shutil.copytree(HERE, fresh, ignore=shutil.ignore_patterns("node_modules"))
        command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        command += ["--fetch-retries=1", "--fetch-retry-mintimeout=1000"]
        done = subprocess.run(
            command, cwd=fresh, capture_output=True, text=True, timeout=180, check=False
        )
        if done.returncode:
            _missing(f"{' '.join(command)}: {done.stderr[-500:]}")
        try:
            fresh.rename(installed)
        except OSError:  # another run was faster
            assert installed.is_dir()
    return installed


def _missing(what: str) -> NoReturn:
    if os.environ.get("CI") == "true":
        pytest.fail(what, pytrace=False)
    pytest.skip(what)


def said(parser: Path, document: Path) -> dict[str, Any]:
    command = ["node", str(parser / "validate.js"), str(document)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_the_parser_finds_no_fault_and_every_message(parser: Path) -> None:
    answer = said(parser, PATH)
    # That there is a newer 3.1 is information; so are other hints.
    assert [d for d in answer["diagnostics"] if d["severity"] <= WARNING] == []
    assert set(answer["messages"]) == set(published()["components"]["messages"])


@pytest.mark.parametrize(
    ("right", "fault"),
    [
        ("action: receive", "action: listen"),
        ("'#/components/schemas/Instant'", "'#/components/schemas/Moment'"),
        ("type: boolean", "type: truth"),
    ],
    ids=["no such action", "no such schema", "no such type"],
)
def test_the_parser_would_find_a_fault(
    parser: Path, tmp_path: Path, right: str, fault: str
) -> None:
    text = PATH.read_text(encoding="utf-8")
    assert right in text
    broken = tmp_path / "broken.yaml"
    broken.write_text(text.replace(right, fault), encoding="utf-8")
    assert any(d["severity"] == ERROR for d in said(parser, broken)["diagnostics"])


def test_the_specification_in_this_directory_is_the_published_one(parser: Path) -> None:
    published = parser / "node_modules/@asyncapi/specs/schemas/3.0.0-without-$id.json"
    assert json.loads(SPECIFICATION.read_bytes()) == json.loads(published.read_bytes())
