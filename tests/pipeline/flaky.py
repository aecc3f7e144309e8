"""A store whose commits fail when they are asked to, before or after they have happened."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from connector.domain.errors import DependencyError
from connector.domain.records import Cursor, Outgoing, TopicPartition
from connector.domain.rows import ProgressRow
from connector.engine.storage import Storage
from connector.ports import Store, Transaction


class FlakyStore:
    """`faults` holds what happens to the next commits: "lost", "unknown" or "fine"."""

    def __init__(self, store: Store) -> None:
        self.inner = store
        self.faults: deque[str] = deque()

    def progress(self, partition: TopicPartition) -> ProgressRow | None:
        return self.inner.progress(partition)

    def partitions(self, topic: str, present: int) -> int:
        return self.inner.partitions(topic, present)

    def outbox(self, partition: TopicPartition, start: Cursor, limit: int) -> list[Outgoing]:
        return self.inner.outbox(partition, start, limit)

    def lookups(self) -> AbstractContextManager[Storage]:
        return self.inner.lookups()

    def another(self) -> FlakyStore:
        return self

    def view(self, name: str) -> Any:
        return self.inner.view(name)  # type: ignore[attr-defined]

    def close(self) -> None:
        self.inner.close()

    @contextmanager
    def transaction(self, partition: TopicPartition) -> Iterator[Transaction]:
        fault = self.faults.popleft() if self.faults else "fine"
        with self.inner.transaction(partition) as transaction:
            yield transaction
            if fault == "lost":
                raise DependencyError("the connection was lost before the commit")
        if fault == "unknown":
            raise DependencyError("the answer to the commit was lost")
