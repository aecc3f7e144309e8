"""A server process of ours: started in a session of its own, ended by its number."""

from __future__ import annotations

import contextlib
import os
import pwd
import signal
import subprocess
from pathlib import Path
from typing import TypedDict

from tests.services import guardian


class ServerProcess:
    """One server, started and ended any number of times.

    Args:
        argv: The command.
        directory: Where it runs and where its log goes.
        user: Whom it runs as, if not as ourselves.
        orderly: The signal of a clean stop.
        abandoned: The signal if the test session has died and nobody waits for a clean stop.
    """

    def __init__(
        self,
        argv: list[str],
        directory: Path,
        *,
        user: str | None = None,
        orderly: signal.Signals = signal.SIGTERM,
        abandoned: signal.Signals = signal.SIGKILL,
    ) -> None:
        self._argv = argv
        self._directory = directory
        self._user = user
        self._orderly = orderly
        self._abandoned = abandoned
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> Path:
        """What the server wrote."""
        return self._directory / "server.log"

    @property
    def pid(self) -> int | None:
        """The process's number while it runs."""
        return self._process.pid if self._process is not None and self.alive() else None

    def alive(self) -> bool:
        """Whether it runs."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start it; says nothing about whether it serves yet."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._argv,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self._directory,
                start_new_session=True,  # a Ctrl-C at the terminal goes to the test session only
                **run_as(self._user),
            )
        guardian.watch_process(self._process.pid, self._abandoned)

    def stop(self, timeout: float = 30.0) -> None:
        """End it cleanly; a server that does not end in `timeout` seconds is killed."""
        if self._process is None:
            return
        if self.alive():
            self._process.send_signal(signal.SIGCONT)  # a test may have left it suspended
            self._process.send_signal(self._orderly)
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
        self._gone()

    def kill(self) -> None:
        """SIGKILL to it and to its children, at once: a crash."""
        if self._process is None:
            return
        children = _children(self._process.pid)
        self._process.kill()
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        self._process.wait(30)
        self._gone()

    def last_words(self, lines: int = 20) -> str:
        """The end of the log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def _gone(self) -> None:
        if self._process is not None:
            guardian.forget(self._process.pid)
            self._process = None


class RunAs(TypedDict, total=False):
    """The arguments by which `subprocess` runs a command as another user."""

    user: str
    group: int
    extra_groups: list[int]


def run_as(user: str | None) -> RunAs:
    """Those for `user`, with no rights of ours left; none for ourselves."""
    if user is None:
        return {}
    return {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []}


def _children(pid: int) -> list[int]:
    """Numbers of its children, where /proc tells; elsewhere they notice their parent's death."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # The second field, the name, may hold spaces: count from its closing parenthesis.
            parent = stat.read_text().rpartition(")")[2].split()[1]
            if int(parent) == pid:
                found.append(int(stat.parent.name))
    return found
