"""Opening and closing clients without waiting for ever and without leaving threads behind."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Iterator
from typing import Any

from kafka import errors
from kafka.net.compat import KafkaNetClient

from connector.domain.errors import ConfigurationError, DependencyError

from .client import ClientSettings
from .faults import explained

log = logging.getLogger(__name__)

PATIENCE = {
    # Whoever opens a client tries again, and must be able to stop in between.
    "bootstrap_timeout_ms": 8_000,
    # The default doubles the wait for a broker that is away up to 30 s: half a minute is lost
    # after it has come back.
    "reconnect_backoff_max_ms": 1_000,
}
"""For every client, if `--kafka` says nothing else."""


@contextlib.contextmanager
def connecting(kind: str, settings: ClientSettings) -> Iterator[Callable[..., Any]]:
    """For making a client: yields what to give it as `kafka_client`.

    A client whose constructor fails leaves its I/O thread and sockets open, and nobody has a
    reference to close them by; with this we have.

    Raises:
        DependencyError: no broker answered within `bootstrap_timeout_ms`.
        ConfigurationError: a setting is wrong, or access is denied.
    """
    made: list[Any] = []

    def client(**arguments: Any) -> Any:
        made.append(KafkaNetClient(**arguments))
        return made[-1]

    try:
        yield client
    except BaseException as error:
        for connection in made:
            with contextlib.suppress(Exception):
                connection.close()
        doing = f"cannot connect the {kind} to {settings.where}"
        if isinstance(error, errors.KafkaTimeoutError):
            raise DependencyError(
                f"{doing}: no broker answers; is the address right and the broker running?"
            ) from error
        if isinstance(error, errors.KafkaError):
            raise explained(error, doing) from error
        if isinstance(error, OSError):
            raise DependencyError(f"{doing}: {error}") from error
        if isinstance(error, ValueError | TypeError | AssertionError | RuntimeError):
            raise ConfigurationError(f"{doing}: {error}; check the --kafka settings") from error
        raise


def within(seconds: float, what: str, call: Callable[[], object]) -> bool:
    """Whether the call returned in time; what it raises is only logged.

    It runs in a thread of its own, which is left behind where it hangs.
    """
    failures: list[BaseException] = []

    def run() -> None:
        try:
            call()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run, name=what, daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        log.warning("could not %s within %.0f s", what, seconds)
        return False
    for failure in failures:
        log.warning("could not %s: %r", what, failure)
    return not failures
