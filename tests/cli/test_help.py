"""`--help` is a manual."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import typer.main
from typer.testing import CliRunner

from connector.cli import app
from connector.settings import FIELDS

WIDE = {"COLUMNS": "250"}


def _commands(command: Any = None, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    command = command or typer.main.get_command(app)
    children = getattr(command, "commands", {})
    if not children or (path and command.invoke_without_command):
        yield path
    for name, child in children.items():
        yield from _commands(child, (*path, name))


def _help(*path: str) -> str:
    shown = CliRunner().invoke(app, [*path, "--help"], env=WIDE)
    assert shown.exit_code == 0
    return shown.output


def test_help_of_run_names_every_setting_with_its_flag_and_variable() -> None:
    shown = " ".join(_help("run").split())
    for setting in FIELDS.values():
        assert f"{setting.flag} " in shown.replace(",", " ")
        assert f"[env var: {setting.variable}]" in shown


@pytest.mark.parametrize("path", list(_commands()), ids=" ".join)
def test_every_flag_of_every_command_shows_its_variable(path: tuple[str, ...]) -> None:
    blocks = re.split(r"\n(?:│ |  )(?=[-*] ?-|-h)", _help(*path))[1:]
    assert len(blocks) >= 4
    for block in blocks:
        shown = " ".join(block.split())
        assert "[env var: CROWDRESOLVE_" in shown or "--help" in shown, block


@pytest.mark.parametrize("path", list(_commands()), ids=" ".join)
def test_every_command_says_what_it_does(path: tuple[str, ...]) -> None:
    lines = [line.strip() for line in _help(*path).splitlines()]
    said = next(line for line in lines[1:] if line and not line.startswith("Usage"))
    assert said.endswith((".", ":")) or len(said) > 60


def test_without_a_command_the_commands_are_listed() -> None:
    shown = CliRunner().invoke(app, [], env=WIDE).output
    for name in ("run", "topics", "db", "project", "dead", "doctor", "config", "version"):
        assert re.search(rf"^(│ |  ){name} ", shown, re.MULTILINE)


@pytest.mark.parametrize("columns", ["80", "140"])
def test_no_variable_is_cut_however_narrow_the_terminal(columns: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "connector.cli", "run", "--help"],
        env={**os.environ, "COLUMNS": columns},
        capture_output=True,
        text=True,
        timeout=60,
    )
    shown = "".join(done.stdout.replace("│", " ").split())
    for setting in FIELDS.values():
        assert f"[envvar:{setting.variable}]" in shown
