"""A result as the records that carry it: `reconciliation.part`, each at most 256 KiB.

The bytes follow from the result and the run's name alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec
import numpy as np

from .flags import Flag
from .result import TRIPLES, Result

PART_BYTES = 256 * 1024
"""A quarter of what a broker takes by default."""

_encode = msgspec.json.encode


def parts(result: Result, run: str, flags: Sequence[Flag]) -> Iterator[bytes]:
    """The parts in order: tasks, workers, clusters.

    Args:
        result: what the run found.
        run: its name.
        flags: of each worker, by place in `Snapshot.names`.
    """
    number = 0
    for kind, entries in (
        ("tasks", _tasks(result)),
        ("workers", _workers(result, flags)),
        ("clusters", _clusters(result)),
    ):
        head = _encode(
            {
                "type": "reconciliation.part",
                "project": result.snapshot.project,
                "run": run,
            }
        )[:-1]
        for body in _packed(entries, PART_BYTES - len(head) - 64):
            yield b'%s,"part":%d,"%s":[%s]}' % (head, number, kind.encode(), body)
            number += 1


def _packed(entries: Iterable[bytes], room: int) -> Iterator[bytes]:
    """Entries joined by commas, as many as fit."""
    held: list[bytes] = []
    size = 0
    for entry in entries:
        if held and size + len(entry) + 1 > room:
            yield b",".join(held)
            held, size = [], 0
        held.append(entry)
        size += len(entry) + 1
    if held:
        yield b",".join(held)


def _tasks(result: Result) -> Iterator[bytes]:
    for name, base in zip(result.snapshot.tasks, result.base, strict=True):
        yield _encode({"task": name, "base": base.tolist()})


def _workers(result: Result, flags: Sequence[Flag]) -> Iterator[bytes]:
    names = result.snapshot.names
    following = 0
    for cells in result.confusions():
        begins = np.searchsorted(cells.worker, np.arange(following, len(names) + 1)).tolist()
        rows = list(
            zip(cells.true.tolist(), cells.given.tolist(), cells.expected.tolist(), strict=True)
        )
        last = int(cells.worker[-1]) if len(cells.worker) else following - 1
        for worker in range(following, last + 1):
            at = worker - following
            confusion = rows[begins[at] : begins[at + 1]]
            yield _worker(result, worker, names[worker], confusion, flags[worker])
        following = last + 1


def _worker(
    result: Result, worker: int, name: str, confusion: list[tuple[int, int, float]], flag: Flag
) -> bytes:
    entry = {
        "worker": name,
        "p": float(result.p[worker]),
        "flag": flag.flag,
        "flag_reason": flag.reason,
        "confusion": confusion,
    }
    if result.cluster is not None and worker < len(result.cluster):
        entry["cluster"] = int(result.cluster[worker])
    return _encode(entry)


def _clusters(result: Result) -> Iterator[bytes]:
    if result.cluster_confusions is None or result.cluster is None:
        return
    for cluster in np.unique(result.cluster).tolist():
        counts = result.cluster_confusions[cluster]
        true, given = np.nonzero(counts > 0.0)
        count = counts[true, given]
        order = np.lexsort((given, true, -count))[:TRIPLES]
        cells = zip(true[order].tolist(), given[order].tolist(), count[order].tolist(), strict=True)
        yield _encode({"cluster": cluster, "confusion": list(cells)})
