"""Every present vote of a project, straight into arrays."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from connector.reconcile.snapshot import Said

PAGE = 50_000
"""Rows at a time."""

Columns = tuple[NDArray[np.int64], ...]

_VOTES = (
    "SELECT task_id, worker_id, CAST(x AS BIGINT), arrival FROM votes"
    " WHERE project_id = {id} AND x IS NOT NULL"
)


def vote_columns(connection: Connection, id: int, total: int, said: Said | None) -> Columns:
    """Task, worker, class and arrival of every present vote, in no order.

    Args:
        connection: in the transaction that everything is read in.
        id: the project's.
        total: how many votes there are, about.
        said: told how many are read.
    """
    driver: Any = connection.connection.driver_connection
    read = _copied if connection.dialect.name == "postgresql" else _fetched
    blocks: list[NDArray[np.int64]] = []
    count = 0
    for block in read(driver, _VOTES.format(id=id)):
        blocks.append(block)
        count += len(block)
        if said is not None:
            said(count, max(total, count))
    table = np.concatenate(blocks) if blocks else np.empty((0, 4), np.int64)
    return tuple(np.ascontiguousarray(table[:, column]) for column in range(4))


def _fetched(driver: Any, statement: str) -> Iterator[NDArray[np.int64]]:
    cursor = driver.execute(statement)
    while rows := cursor.fetchmany(PAGE):
        yield np.array(rows, dtype=np.int64)


_SIGNATURE = b"PGCOPY\n\xff\r\n\0"
_NUMBER = (("length", ">i4"), ("value", ">i8"))
_ROW = np.dtype(
    [("fields", ">i2"), *((f"{part}{i}", kind) for i in range(4) for part, kind in _NUMBER)]
)


def _copied(driver: Any, statement: str) -> Iterator[NDArray[np.int64]]:
    """Rows of PostgreSQL's binary COPY: of four numbers without nulls all are of one length."""
    held = bytearray()
    with (
        driver.cursor() as cursor,
        cursor.copy(f"COPY ({statement}) TO STDOUT (FORMAT BINARY)") as copy,
    ):
        for data in copy:
            held += data
            if len(held) >= PAGE * _ROW.itemsize:
                yield from _rows(held)
        yield from _rows(held)
    if held[:2] != b"\xff\xff":
        raise ValueError("the server's COPY does not end as it should")


def _rows(held: bytearray) -> Iterator[NDArray[np.int64]]:
    """Take the whole rows from the front."""
    if held.startswith(_SIGNATURE):
        (extension,) = struct.unpack_from(">i", held, 15)
        del held[: 19 + extension]
    count = len(held) // _ROW.itemsize
    if count:
        laid = np.frombuffer(bytes(held[: count * _ROW.itemsize]), _ROW)
        del held[: count * _ROW.itemsize]
        yield np.stack([laid[f"value{i}"].astype(np.int64) for i in range(4)], axis=1)
