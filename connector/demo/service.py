"""The real consumer: `crowdresolve run` in a process of its own, or a loop in a thread."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from connector.domain.errors import DependencyError

STOP_S = 10.0

# Ends the service when our end of the pipe closes: in order, and also where we are killed.
_GUARD = """
import signal, subprocess, sys
service = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
signal.signal(signal.SIGCHLD, lambda *_: sys.exit(service.wait()))
sys.stdin.buffer.read()
signal.signal(signal.SIGCHLD, signal.SIG_DFL)
service.terminate()
try:
    sys.exit(service.wait(10))
except subprocess.TimeoutExpired:
    service.kill()
    service.wait()
    sys.exit(1)
"""
_RUN = "from connector.cli import main; main()"


class Service(Protocol):
    """The consumer at work."""

    def check(self) -> None:
        """Raise DependencyError, with its last words, if it has ended."""
        ...


class _Process:
    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self._process = process
        self._log = log

    def check(self) -> None:
        code = self._process.poll()
        if code is not None:
            words = self._log.read_text(errors="replace").splitlines()[-15:]
            raise DependencyError("\n".join([f"the service ended with code {code}:", *words]))


@contextmanager
def service_process(arguments: Sequence[str], directory: Path) -> Iterator[Service]:
    """`crowdresolve run` with these arguments and no other settings; ended with the block."""
    log = directory / "service.log"
    # The settings of whoever tries the demo are not the demo's.
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("CROWDRESOLVE_")}
    command = [sys.executable, "-c", _RUN, "run", *arguments]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-c", _GUARD, *command],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            cwd=directory,  # where no crowdresolve.toml is
            env=_with_import_path(inherited),
            start_new_session=True,  # Ctrl-C is for us, who end it in order
        )
        try:
            yield _Process(process, log)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            try:
                process.wait(STOP_S + 5.0)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _with_import_path(environment: Mapping[str, str]) -> dict[str, str]:
    """So that the other process finds what this one has found, wherever it was started."""
    root = str(Path(__file__).parents[2])
    path = environment.get("PYTHONPATH")
    return {**environment, "PYTHONPATH": root if path is None else f"{root}{os.pathsep}{path}"}


class _Thread:
    def __init__(self, run: Callable[[], None]) -> None:
        self._run = run
        self._failure: BaseException | None = None
        self.thread = threading.Thread(target=self._guarded, name="service", daemon=True)

    def _guarded(self) -> None:
        try:
            self._run()
        except BaseException as error:
            self._failure = error

    def check(self) -> None:
        if self._failure is not None:
            raise DependencyError(f"the service ended: {self._failure}") from self._failure


@contextmanager
def service_thread(run: Callable[[], None], stop: Callable[[], None]) -> Iterator[Service]:
    """The loop in a thread of this process."""
    service = _Thread(run)
    service.thread.start()
    try:
        yield service
    finally:
        stop()
        service.thread.join(STOP_S)
