"""Ends what a test session started, even if the session itself was killed with SIGKILL.

This file is both sides. Run as a program it reads lines from its standard input, ``process PID
SIGNAL``, ``directory PATH``, ``forget PID|PATH``, and acts when the input ends, which it does when
the test session ends, however it ends. No `finally` and no `atexit` can promise that.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

GRACE_SECONDS = 5.0

_guardian: subprocess.Popen[str] | None = None


def watch_process(pid: int, ending: signal.Signals) -> None:
    """From here on `pid` gets the signal `ending` when the session ends, and SIGKILL 5 s later."""
    _tell(f"process {pid} {ending.value}")


def watch_directory(path: Path) -> None:
    """From here on `path` is deleted when the session ends."""
    _tell(f"directory {path}")


def forget(what: int | Path) -> None:
    """Say that a process or directory is gone. Its number may soon be another's."""
    _tell(f"forget {what}")


def _tell(line: str) -> None:
    global _guardian
    if _guardian is None:
        _guardian = subprocess.Popen(
            [sys.executable, "-S", "-E", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd="/",
            start_new_session=True,  # Ctrl-C is for the session, not for its guardian
        )
        atexit.register(_release, _guardian)
    assert _guardian.stdin is not None
    _guardian.stdin.write(line + "\n")
    _guardian.stdin.flush()


def _release(guardian: subprocess.Popen[str]) -> None:
    """At a regular end: wait until all is ended, so that nothing is left when the shell returns."""
    assert guardian.stdin is not None
    guardian.stdin.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        guardian.wait(2 * GRACE_SECONDS)


def _guard(lines: Iterable[str]) -> None:
    processes: dict[int, int] = {}
    directories: set[str] = set()
    for line in lines:
        verb, _, rest = line.rstrip("\n").partition(" ")
        if verb == "process":
            number, _, ending_number = rest.partition(" ")
            processes[int(number)] = int(ending_number)
        elif verb == "directory":
            directories.add(rest)
        else:
            directories.discard(rest)
            if rest.isdecimal():
                processes.pop(int(rest), None)

    for pid, ending in processes.items():
        _signal(pid, ending)
    deadline = time.monotonic() + GRACE_SECONDS
    while any(_runs(pid) for pid in processes) and time.monotonic() < deadline:
        time.sleep(0.05)
    for pid in processes:
        _signal(pid, signal.SIGKILL)
    for directory in directories:
        shutil.rmtree(directory, ignore_errors=True)


def _runs(pid: int) -> bool:
    """Whether it still does something: a parent that is itself ending may not collect its dead."""
    with contextlib.suppress(OSError):
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    return _signal(pid, 0)


def _signal(pid: int, number: int) -> bool:
    """Send it; False if there is no such process."""
    try:
        os.kill(pid, number)
    except OSError:
        return False
    return True


if __name__ == "__main__":
    _guard(sys.stdin)
