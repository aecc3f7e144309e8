"""What `pip install crowdresolve` gives, in an empty environment far from the repository."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from email.parser import Parser
from pathlib import Path
from typing import NamedTuple

import pytest

from connector.domain.errors import ConfigurationError

REPOSITORY = Path(__file__).parents[2]

# Building and installing fetch from a package index, which may be slow.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

UNREACHABLE = re.compile(
    "connection|timed out|temporary failure|name resolution|proxy|ssl|no matching distribution",
    re.IGNORECASE,
)


class Built(NamedTuple):
    """The two files that a release consists of."""

    wheel: Path
    sdist: Path


class Installed(NamedTuple):
    """An environment that has the wheel and what it depends on, and a directory to work in."""

    bin: Path
    directory: Path

    def run(self, *command: str, code: int = 0) -> str:
        """Run a program of the environment; its standard output."""
        program = self.bin / command[0]
        done = subprocess.run(
            [program, *command[1:]],
            cwd=self.directory,
            env=clean_environment(),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout


def clean_environment() -> dict[str, str]:
    """Without what would lead back to the repository or to its services."""
    ours = ("PYTHON", "CROWDRESOLVE_", "VIRTUAL_ENV", "COVERAGE", "PYTEST")
    return {n: v for n, v in os.environ.items() if not n.startswith(ours)}


def fetch(*command: str, cwd: Path) -> None:
    """Run what needs a package index."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    if done.returncode:
        said = (done.stdout + done.stderr)[-2000:]
        if UNREACHABLE.search(said) and os.environ.get("CI") != "true":
            pytest.skip(f"no package index? {said[-400:]}")
        pytest.fail(f"{' '.join(command)}: {said}", pytrace=False)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The sdist of the working tree, and the wheel that is made from that sdist."""
    out = tmp_path_factory.mktemp("dist")
    fetch(sys.executable, "-m", "build", "--outdir", str(out), str(REPOSITORY), cwd=out)
    (wheel,) = out.glob("*.whl")
    (sdist,) = out.glob("*.tar.gz")
    return Built(wheel, sdist)


@pytest.fixture(scope="module")
def installed(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    directory = tmp_path_factory.mktemp("elsewhere")
    assert not directory.is_relative_to(REPOSITORY)
    venv.create(directory / "venv", with_pip=True)
    programs = directory / "venv" / ("Scripts" if os.name == "nt" else "bin")
    pip = [str(programs / "python"), "-m", "pip", "--disable-pip-version-check"]
    fetch(*pip, "install", "--quiet", str(built.wheel), cwd=directory)
    fetch(*pip, "check", cwd=directory)
    return Installed(programs, directory)


def names_in(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def files_of(directory: str, pattern: str = "**/*.py") -> set[str]:
    found = (REPOSITORY / directory).glob(pattern)
    return {path.relative_to(REPOSITORY).as_posix() for path in found}


def test_the_wheel_holds_both_packages_whole_and_what_they_need_beside_code(built: Built) -> None:
    names = names_in(built.wheel)
    assert files_of("aggregators") | files_of("connector") <= names
    migrations = {f"connector/_{name}" for name in files_of("migrations")}
    assert any("/versions/" in name for name in migrations)
    assert migrations <= names
    assert {"connector/asyncapi.yaml", "connector/py.typed", "aggregators/py.typed"} <= names
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)


def test_the_wheel_holds_nothing_else(built: Built) -> None:
    tops = {name.split("/")[0] for name in names_in(built.wheel)}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"aggregators", "connector"}
    for name in names_in(built.wheel):
        assert Path(name).suffix not in (".pyc", ".db", ".whl"), name
        assert "test" not in Path(name).parts, name


def test_the_sdist_can_be_tested_and_carries_nothing_that_was_made_here(built: Built) -> None:
    with tarfile.open(built.sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "Makefile", "tests/conftest.py"} <= names
    for name in names:
        parts = Path(name).parts
        assert not {"__pycache__", ".venv", ".git", "node_modules", ".hypothesis"} & set(parts)


def test_the_metadata_is_what_the_project_file_says(built: Built) -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    with zipfile.ZipFile(built.wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(name).decode())
    assert metadata["Name"] == project["name"]
    assert metadata["Version"] == project["version"]
    assert metadata["License-Expression"] == project["license"]
    assert set(project["optional-dependencies"]) == set(metadata.get_all("Provides-Extra") or ())
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    assert str(metadata.get_payload()).strip() == readme.strip()


def test_the_command_says_what_it_is(installed: Installed, built: Built) -> None:
    version = built.wheel.name.split("-")[1]
    said = installed.run("crowdresolve", "version").splitlines()
    assert said[0].split() == ["crowdresolve", version]
    assert "replay" in installed.run("crowdresolve", "--help")
    assert installed.run("python", "-m", "connector.cli", "version").splitlines() == said
    assert installed.run("crowdresolve", "asyncapi").count("asyncapi: 3.0.0") == 1


def test_votes_in_a_file_become_labels(installed: Installed) -> None:
    votes = [("task", "worker", "label")]
    votes += [(f"t{t}", f"w{w}", "yn"[(t + (w == 4)) % 2]) for w in range(5) for t in range(20)]
    with (installed.directory / "votes.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(votes)
    installed.run("crowdresolve", "replay", "votes.csv", "--out", "out.csv")
    with (installed.directory / "out.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["task"], row["label"]) for row in rows] == [
        (f"t{number}", "yn"[number % 2]) for number in range(20)
    ]
    columns = ["task", "label", "confidence", "status", "votes", "p_n", "p_y"]
    assert sorted(rows[0]) == sorted(columns)


def test_the_migrations_come_along(installed: Installed) -> None:
    database = ("--database", "sqlite:///x.db")
    installed.run("crowdresolve", "db", "check", *database, code=ConfigurationError.exit_code)
    installed.run("crowdresolve", "db", "upgrade", *database)
    current = installed.run("crowdresolve", "db", "current", *database)
    revision = max(path.stem.split("_")[0] for path in (REPOSITORY / "migrations").rglob("0*.py"))
    assert revision in current
    installed.run("crowdresolve", "db", "check", *database)


def test_both_packages_are_imported_from_the_environment(installed: Installed) -> None:
    code = """
import aggregators, connector, pathlib, sys
from aggregators import MajorityVote, SortedSBIC
for package in (aggregators, connector):
    where = pathlib.Path(package.__file__).resolve()
    assert where.is_relative_to(pathlib.Path(sys.prefix).resolve()), where
votes = [("t1", "w1", "a"), ("t1", "w2", "a"), ("t2", "w1", "b"), ("t2", "w2", "b")]
print(SortedSBIC(seed=0).fit(*zip(*votes)).labels_)
for missing in ("pandas", "polars", "pyarrow", "pytest"):
    assert missing not in sys.modules
"""
    assert installed.run("python", "-c", code) == "['a' 'b']\n"
