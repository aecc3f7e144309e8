"""Free ports, and waiting until something answers."""

from __future__ import annotations

import random
import socket
import time
from collections.abc import Callable


def free_ports(count: int) -> list[int]:
    """Ports of 127.0.0.1 on which nothing listens, for several test sessions at once.

    Random, and below the range from which systems take the ports of outgoing connections (from
    32768 on Linux): a client that tries a dead server's port again and again is sooner or later
    given that very port, connects to itself, and the server cannot come back.
    """
    candidates = random.SystemRandom().sample(range(15_000, 32_000), 200)
    ports = [port for port in candidates if not _taken(port)]
    return ports[:count]


def _taken(port: int) -> bool:
    with socket.socket() as attempt:
        attempt.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            attempt.bind(("127.0.0.1", port))
        except OSError:
            return True
    return False


def answers(host: str, port: int, timeout: float = 1.0) -> bool:
    """Whether something listens there."""
    try:
        socket.create_connection((host, port), timeout).close()
    except OSError:
        return False
    return True


def wait_until(condition: Callable[[], bool], seconds: float, pause: float = 0.05) -> bool:
    """Whether `condition` came true within `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
    return True
