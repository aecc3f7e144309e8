"""From the client's values to ours, and back."""

from __future__ import annotations

import logging
from typing import Any

import kafka.structs
from kafka import errors

from connector.domain.errors import ConfigurationError, CrowdResolveError, Refused
from connector.domain.records import Cursor, TopicPartition

from . import quirks

log = logging.getLogger(__name__)


def client_partition(partition: TopicPartition) -> Any:
    """The same, as the client has it."""
    return kafka.structs.TopicPartition(*partition)


def offset_and_metadata(cursor: Cursor) -> Any:
    """The cursor as Kafka keeps it: the sequence, where there is one, rides in the metadata."""
    return kafka.structs.OffsetAndMetadata(
        cursor.offset, str(cursor.sequence) if cursor.sequence else "", -1
    )


def sequence_of(metadata: str | None, partition: TopicPartition) -> int:
    """0 where nothing, or something of another tool, is written there."""
    if not metadata:
        return 0
    if not (metadata.isascii() and metadata.isdigit()):
        log.warning("%s: the committed offset's metadata is not ours: %r", partition, metadata)
        return 0
    return int(metadata)


def unreadable(damage: quirks.Unreadable) -> CrowdResolveError:
    """Our error for a batch that cannot be decoded."""
    topic, partition = damage.partition
    if isinstance(damage.cause, errors.UnsupportedCodecError | NotImplementedError):
        return ConfigurationError(
            f"{topic}[{partition}] at offset {damage.offset} is compressed in a way that this "
            f"installation cannot read ({damage.cause}): install `kafka-python[lz4,snappy,zstd]`"
        )
    return Refused(
        f"{topic}[{partition}] cannot be read at offset {damage.offset}: {damage.cause!r}. "
        "The broker's copy is damaged; restore it, or move past it with "
        "`kafka-delete-records` up to the next readable offset"
    )
