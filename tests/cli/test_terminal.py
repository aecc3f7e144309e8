"""Colours and moving lines are for terminals, and only where they are wanted."""

from __future__ import annotations

import os
import pty
import subprocess
from pathlib import Path

from tests.live.deployment import COMMAND

from .conftest import Run

ESCAPE = "\x1b["


def _on_a_terminal(directory: Path, *arguments: str, **variables: str) -> str:
    clean = {
        k: v for k, v in os.environ.items() if not k.startswith("CROWDRESOLVE_") and k != "NO_COLOR"
    }
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [COMMAND, *arguments],
        env=clean | {"TERM": "xterm-256color", "COLUMNS": "200"} | variables,
        cwd=directory,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    try:
        while block := os.read(ours, 65536):
            shown += block
    except OSError:  # its end, on Linux
        pass
    os.close(ours)
    process.wait(60)
    return shown.decode()


def test_an_error_is_red_on_a_terminal(tmp_path: Path) -> None:
    shown = _on_a_terminal(tmp_path, "db", "check")
    assert f"{ESCAPE}1;31mError: " in shown


def test_no_color_is_respected(tmp_path: Path) -> None:
    shown = _on_a_terminal(tmp_path, "db", "check", NO_COLOR="1")
    assert "Error: " in shown
    assert f"{ESCAPE}1;31m" not in shown


def test_elsewhere_there_are_plain_lines(crowdresolve: Run) -> None:
    crowdresolve("db", "upgrade")
    for done in (crowdresolve("db", "check"), crowdresolve("project", "list")):
        assert done.returncode == 0
        assert ESCAPE not in done.stdout + done.stderr


def test_tables_are_for_terminals_and_tabs_for_scripts(crowdresolve: Run, tmp_path: Path) -> None:
    assert "setting\tvalue\torigin" in crowdresolve("config").stdout
    assert "\t" not in _on_a_terminal(tmp_path, "config")


def test_logs_are_for_people_on_a_terminal_and_json_elsewhere(
    crowdresolve: Run, tmp_path: Path
) -> None:
    nowhere = ("run", "--bootstrap-servers", "127.0.0.1:1", "--kafka", "bootstrap_timeout_ms=500")
    assert crowdresolve(*nowhere).stderr.startswith('{"at": ')
    shown = _on_a_terminal(tmp_path, *nowhere)
    assert "starting" in shown
    assert '{"at": ' not in shown
    assert "Error: " in shown
