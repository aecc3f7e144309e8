"""What a reconciliation found, onto the annotations topic in one transaction."""

from __future__ import annotations

import time
from collections.abc import Sequence

from kafka import KafkaProducer

from connector.domain.records import TopicPartition
from connector.pipeline.failpoints import failpoint

from . import quirks
from .client import ClientSettings
from .fetching import fetcher
from .transacting import TransactionalOutlet
from .watchdog import OnHang

HEADERS = [("content-type", b"application/json")]


class KafkaRunLog(TransactionalOutlet):
    """Implements `connector.reconcile.ports.RunLog`."""

    def __init__(
        self, settings: ClientSettings, *, transactional_id: str, topic: str, on_hang: OnHang
    ) -> None:
        """Nothing is connected before `open`.

        Args:
            settings: where the cluster is.
            transactional_id: ``<group>-reconcile-<project>``: whoever opens it later fences this
                one, and ends what it has left open.
            topic: must exist, or `open` says so.
            on_hang: called from another thread where a call of the client does not return.
        """
        super().__init__(
            settings, transactional_id=transactional_id, topics=(topic,), on_hang=on_hang
        )

    def open(self) -> None:
        with self._lock:
            former, self._producer = self._producer, None
        if former is not None:
            self._drop(former)
        super().open()

    def send(self, partition: TopicPartition, key: bytes, values: Sequence[bytes]) -> int:
        producer = self._take()
        try:
            with self._watching("sending"):
                producer.begin_transaction()
                offset = self._deliver(producer, partition, key, values)
            failpoint("before_run_commit")
            with self._watching("committing the transaction"):
                quirks.commit(producer, self._answer_s)
            failpoint("after_run_commit")
        except Exception as error:
            failure = self._explained(producer, error, "send as")
            self._discard(producer)
            raise failure from error
        except BaseException:
            self._discard(producer)
            raise
        self._give_back(producer)
        return offset

    def _deliver(
        self, producer: KafkaProducer, where: TopicPartition, key: bytes, values: Sequence[bytes]
    ) -> int:
        deadline = time.monotonic() + self._answer_s
        futures = []
        for value in values:
            futures.append(
                producer.send(
                    where.topic, value=value, key=key, headers=HEADERS, partition=where.partition
                )
            )
            if len(futures) == 1:
                futures[0].get(timeout=self._answer_s)
                failpoint("part_sent")
        offset = -1
        for future in futures:
            offset = int(future.get(timeout=max(0.0, deadline - time.monotonic())).offset)
        return offset

    def find(self, partition: TopicPartition, start: int, needle: bytes) -> int | None:
        found: int | None = None
        with fetcher(self._settings) as source:
            first, end = source.bounds(partition)
            for record in source.between(partition, max(first, start), end):
                if record.value is not None and needle in record.value:
                    found = record.offset
        return found
