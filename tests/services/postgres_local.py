"""PostgreSQL from the programs installed on this machine: a cluster of its own, no Docker."""

from __future__ import annotations

import os
import pwd
import re
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from tests.services import guardian
from tests.services.errors import ServiceUnavailable
from tests.services.network import free_ports
from tests.services.postgres import DRIVER, PostgresService
from tests.services.process import ServerProcess, run_as

START_SECONDS = 60


class LocalPostgres(PostgresService):
    """A server of this machine, in a directory of its own under the temporary directory."""

    def __init__(self) -> None:
        programs = _programs()
        user = _user()
        self._directory = _directory(user)
        guardian.watch_directory(self._directory)
        data = self._directory / "data"
        self._run(
            user,
            [
                f"{programs}/initdb",
                f"--pgdata={data}",
                "--username=crowdresolve",
                "--auth=trust",
                "--encoding=UTF8",
                "--no-locale",
                # Only the empty cluster's first files go unsynced: the server itself syncs.
                "--no-sync",
            ],
        )
        port = free_ports(1)[0]
        self.url = f"{DRIVER}://crowdresolve@127.0.0.1:{port}/postgres"
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": str(port),
            # No socket file: its path may be longer than the 107 bytes that a system allows.
            "unix_socket_directories": "",
            "fsync": "on",
            "synchronous_commit": "on",
        }
        self._process = ServerProcess(
            [f"{programs}/postgres", "-D", str(data)]
            + [word for key, value in settings.items() for word in ("-c", f"{key}={value}")],
            self._directory,
            user=user,
            orderly=signal.SIGINT,  # "fast": open connections are cut
            abandoned=signal.SIGQUIT,  # "immediate": shared memory is given back all the same
        )
        version = re.search(r"[0-9.]+", self._run(user, [f"{programs}/postgres", "--version"]))
        self.how = f"PostgreSQL {version[0] if version else '?'} of this machine"

    @property
    def pid(self) -> int | None:
        return self._process.pid

    def start(self) -> None:
        if self.alive():
            return
        self._process.start()
        try:
            self._await(START_SECONDS)
        except ServiceUnavailable as error:
            raise ServiceUnavailable(f"{error}. It said:\n{self._process.last_words()}") from None

    def stop(self) -> None:
        self._process.stop()

    def kill(self) -> None:
        self._process.kill()

    def alive(self) -> bool:
        return self._process.alive()

    def close(self) -> None:
        self._process.stop()
        shutil.rmtree(self._directory, ignore_errors=True)
        guardian.forget(self._directory)

    def _run(self, user: str | None, command: list[str]) -> str:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=START_SECONDS,
            check=False,
            cwd=self._directory,
            **run_as(user),
        )
        if done.returncode != 0:
            raise ServiceUnavailable(f"{command[0]} failed:\n{done.stderr[-2000:]}")
        return done.stdout


def _programs() -> Path:
    """Where initdb and postgres are. Debian keeps them out of the PATH, one directory a version."""
    debian = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    for initdb in sorted(debian, key=lambda path: float(path.parts[-3]), reverse=True):
        return initdb.parent
    if found := shutil.which("initdb"):
        return Path(found).parent
    raise ServiceUnavailable("no initdb (Debian: apt-get install postgresql)")


def _user() -> str | None:
    """Whom the server runs as: PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    raise ServiceUnavailable("root may not run PostgreSQL, and there is no user postgres or nobody")


def _directory(user: str | None) -> Path:
    """A new directory that `user` owns and can reach: a root's TMPDIR may be closed to others."""
    for parent in (tempfile.gettempdir(), "/tmp", "/var/tmp"):
        directory = Path(tempfile.mkdtemp(prefix="crowdresolve-postgres-", dir=parent))
        if user is not None:
            shutil.chown(directory, user)
        if _can_enter(directory, user):
            return directory
        directory.rmdir()
    raise ServiceUnavailable(f"no temporary directory that the user {user} can reach")


def _can_enter(directory: Path, user: str | None) -> bool:
    test = ["test", "-w", str(directory)]
    return subprocess.run(test, cwd="/", check=False, **run_as(user)).returncode == 0
