"""What the commands ask the database, beyond its views."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import func, select

from connector.adapters.sql.failures import explained
from connector.adapters.sql.schema import dead_letters, progress, topics
from connector.domain.records import TopicPartition
from connector.domain.rows import DeadRow

if TYPE_CHECKING:
    from sqlalchemy import Engine


def next_offset(engine: Engine, partition: TopicPartition) -> int:
    """What the database expects next of the partition. Raises DependencyError."""
    statement = select(progress.c.next_offset).where(
        progress.c.topic == partition.topic, progress.c.partition == partition.partition
    )
    with explained(engine.url), engine.connect() as connection:
        found = connection.execute(statement).scalar()
    return 0 if found is None else int(found)


def dead_at(engine: Engine, partition: TopicPartition, offset: int) -> DeadRow | None:
    """The dead letter that the record became, if it became one."""
    statement = select(dead_letters).where(
        dead_letters.c.topic == partition.topic,
        dead_letters.c.partition == partition.partition,
        dead_letters.c.offset == offset,
    )
    with explained(engine.url), engine.connect() as connection:
        row = connection.execute(statement).first()
    return None if row is None else DeadRow._make(row)


def newest_dead(engine: Engine, code: str | None, limit: int | None) -> tuple[list[DeadRow], int]:
    """The newest dead letters, newest first, and how many there are in all."""
    chosen = dead_letters.c.code == code if code is not None else dead_letters.c.offset >= 0
    newest = (
        select(dead_letters)
        .where(chosen)
        .order_by(
            dead_letters.c.at.desc(),
            dead_letters.c.topic,
            dead_letters.c.partition,
            dead_letters.c.offset.desc(),
        )
    )
    count = select(func.count()).select_from(dead_letters).where(chosen)
    with explained(engine.url), engine.connect() as connection:
        rows = [DeadRow._make(row) for row in connection.execute(newest.limit(limit))]
        return rows, int(connection.execute(count).scalar_one())


def dead_since(engine: Engine, since: int) -> dict[str, int]:
    """How many dead letters of each code there are since then (us)."""
    statement = (
        select(dead_letters.c.code, func.count())
        .where(dead_letters.c.at >= since)
        .group_by(dead_letters.c.code)
        .order_by(dead_letters.c.code)
    )
    with explained(engine.url), engine.connect() as connection:
        return {str(code): int(n) for code, n in connection.execute(statement)}


def partitions_of(engine: Engine, topic: str) -> int | None:
    """How many partitions the topic had when the database first met it."""
    statement = select(topics.c.partitions).where(topics.c.topic == topic)
    with explained(engine.url), engine.connect() as connection:
        found = connection.execute(statement).scalar()
    return None if found is None else int(found)


def place(engine: Engine) -> str:
    """The database for a message."""
    from connector.adapters.sql.database import shown

    return shown(engine.url)
