"""Where to go on with a partition, from what the database, the group and the log say.

D is the offset that the database expects next, K the group's cursor: everything before it is
published.  In normal running K <= D, and what lies between waits in the outbox.
"""

from __future__ import annotations

from typing import NamedTuple

from connector.domain.errors import Refused
from connector.domain.records import Cursor, TopicPartition


class Resume(NamedTuple):
    """How a partition goes on.

    Attributes:
        read_from: offset to seek to.
        publish: stretch of the outbox to publish first, or None.
        published: everything before this cursor is out.
        publish_from: under `--rebuild`, messages before this cursor are out already.
        skipped: records that the log no longer has (`--rebuild` accepted that), else 0.
    """

    read_from: int
    publish: tuple[Cursor, Cursor] | None
    published: Cursor
    publish_from: Cursor | None
    skipped: int


def resume(
    partition: TopicPartition,
    D: int | None,
    K: Cursor | None,
    first: int,
    end: int,
    rebuild: bool,
) -> Resume:
    """Decide, or refuse where going on would lose or double something.

    Args:
        partition: for the message.
        D: next offset by the database, None where it has never seen the partition.
        K: the group's cursor, None where it has none (a new group, or an expired one).
        first: the first offset that the log still has.
        end: the offset after its last.
        rebuild: accept what can be accepted (`run --rebuild`).

    Raises:
        Refused: with what happened and what to do.
    """
    where = f"{partition.topic}/{partition.partition}"
    expected = D or 0
    if expected > end:
        raise Refused(
            f"{where}: the database expects offset {expected} next, but the topic ends at {end}."
            " Either this is another cluster, or the topic was deleted and made anew. Point"
            " --bootstrap-servers at the right cluster; or, if the topic really begins again,"
            " start with an empty database (--database) and `crowdresolve run --rebuild`."
        )
    if K is not None and Cursor(end) < K:
        if not rebuild:
            raise Refused(
                f"{where}: the group's offset is {K.offset}, past the topic's end at {end}: it was"
                " set by hand, or the topic was made anew. Set it back, to any offset up to the"
                " end; or `crowdresolve run --rebuild` does, and publishes what the outbox still"
                " holds."
            )
        K = None  # nobody can have published what is not there: it says nothing
    if K is not None and Cursor(expected) < K and not rebuild:
        state = "is empty" if D is None else f"stands at offset {expected}"
        raise Refused(
            f"{where}: the group has published up to offset {K.offset}, but the database {state}:"
            " it was emptied or restored from an older backup. Point --database at the right one;"
            " or `crowdresolve run --rebuild` applies the log again from there, and publishes only"
            f" what comes after offset {K.offset}."
        )
    if expected < first and not rebuild:
        raise Refused(
            f"{where}: the database expects offset {expected} next, but the topic begins at"
            f" {first}: records {expected} to {first - 1} were deleted. Give the topic unlimited"
            " retention (`crowdresolve doctor` shows it) and restore them if you can; or"
            " `crowdresolve run --rebuild` goes on without them."
        )
    published = K or Cursor(0)
    ahead = Cursor(expected) < published
    return Resume(
        read_from=max(expected, first),
        publish=(published, Cursor(expected)) if published < Cursor(expected) else None,
        published=published,
        publish_from=published if ahead else None,
        skipped=max(0, first - expected),
    )
