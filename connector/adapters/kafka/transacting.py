"""A producer whose messages become visible all at once."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kafka import KafkaProducer, errors

from connector.domain.errors import CrowdResolveError, Fenced

from . import quirks
from .client import ClientSettings
from .connecting import within
from .faults import explained
from .outlet import Outlet
from .watchdog import OnHang, Watchdog

TRANSACTION_TIMEOUT_MS = 15_000
"""A killed process's open transaction holds up subscribers for so long, and 10 s more, until the
broker looks."""

RETRY_BACKOFF_MS = 2
"""While the broker writes the last transaction's markers it asks us to come again; a transaction
takes 110 ms with the client's default of 100, 4-10 ms with 1-5."""


class TransactionalOutlet(Outlet):
    """An outlet with a transactional id: whoever opens the same one next fences this one."""

    kind = "transactional producer"

    def __init__(
        self,
        settings: ClientSettings,
        *,
        transactional_id: str,
        on_hang: OnHang,
        dead_topic: str | None = None,
        topics: Sequence[str] = (),
        hang_seconds: float = 60.0,
        transaction_timeout_ms: int = TRANSACTION_TIMEOUT_MS,
    ) -> None:
        """Nothing is connected before `open`.

        Args:
            settings: where the cluster is.
            transactional_id: whoever opens the same one later fences this outlet.
            on_hang: called from another thread where a call of the client does not return though
                it should have timed out: it should end the process.
            dead_topic: messages of this topic may go without their value if they are too large.
            topics: must exist, or `open` says so.
            hang_seconds: how long that is.
            transaction_timeout_ms: after it the broker aborts by itself.
        """
        super().__init__(settings, dead_topic=dead_topic, topics=topics)
        self._transactional_id = transactional_id
        self._on_hang = on_hang
        self._hang_seconds = hang_seconds
        self._timeout_ms = transaction_timeout_ms
        # Later the broker has aborted by itself, so that waiting on cannot help.
        self._answer_s = transaction_timeout_ms / 1000 + 5
        self._watchdog: Watchdog | None = None

    def _arguments(self) -> Mapping[str, Any]:
        backoff = self._settings.options.get("retry_backoff_ms", RETRY_BACKOFF_MS)
        return {
            "transactional_id": self._transactional_id,
            "transaction_timeout_ms": self._timeout_ms,
            "retry_backoff_ms": backoff,
        }

    def open(self) -> None:
        """Connect; aborts what a former process of the same id left open, and fences it.

        Blocks up to a minute.

        Raises:
            DependencyError: no broker answers.
            ConfigurationError: a setting is wrong, access is denied, a topic is missing, or the
                broker has no transactions.
        """
        producer = self._connect()
        try:
            producer.init_transactions()
        except Exception as error:
            failure = self._explained(producer, error, "begin as")
            self._drop(producer)
            raise failure from error
        self._producer = producer
        if self._watchdog is None:
            self._watchdog = Watchdog(self._hang_seconds, self._on_hang)
            self._watchdog.start()

    def _discard(self, producer: KafkaProducer) -> None:
        """Abort if that is still possible: subscribers would wait for the transaction's end."""
        within(3.0, "abort the transaction", lambda: quirks.abort(producer, 2.0))
        self._drop(producer)

    @contextlib.contextmanager
    def _watching(self, what: str) -> Iterator[None]:
        if self._watchdog is None:
            yield
            return
        with self._watchdog.watch(f"{what} as {self._transactional_id}"):
            yield

    def _explained(
        self, producer: KafkaProducer, error: Exception, doing: str
    ) -> CrowdResolveError:
        # The producer's own state names what happened; what it raises afterwards only quotes it.
        cause = quirks.last_error(producer) or error
        what = f"cannot {doing} {self._transactional_id} on {self._settings.where}"
        if isinstance(cause, errors.ProducerFencedError | errors.InvalidProducerEpochError):
            return Fenced(
                f"{what}: another process uses this transactional id, or this one was stopped, "
                f"or the broker away, for longer than a transaction may be open "
                f"({self._timeout_ms // 1000} s)"
            )
        return explained(cause, what)

    def close(self) -> None:
        """Let go within some seconds, aborting what is open; never raises."""
        if self._watchdog is not None:
            self._watchdog.close()
            self._watchdog = None
        super().close()
