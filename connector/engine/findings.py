"""What a run found, as its parts are kept, and read again when it is adopted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec
from msgspec import UNSET

from aggregators.streaming import clip_p
from connector.domain.errors import DeadCode, InputError
from connector.domain.runs import ReconciliationPart

from .project import Project
from .rows import pack

Cells = list[tuple[str | int, str | int, float]]


class Found(NamedTuple):
    """What a run says of a worker."""

    p: float
    flag: str | None
    flag_reason: str | None
    confusion: Cells
    cluster: int | None


class _Part(msgspec.Struct, array_like=True):
    tasks: list[tuple[str, bytes]]
    workers: list[tuple[str, Found]]
    clusters: list[tuple[int, Cells]]


class Unusable(Exception):
    """The run was computed for other classes, which the message says."""


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Part).decode


def encode_part(e: ReconciliationPart) -> bytes:
    """The part as it is kept: bases as doubles, so that every bit comes back.

    Raises:
        InputError: a text holds half of a surrogate pair, which nothing can keep.
    """
    tasks = [] if e.tasks is UNSET else e.tasks
    workers = [] if e.workers is UNSET else e.workers
    clusters = [] if e.clusters is UNSET else e.clusters
    made = _Part(
        [(t.task, pack(t.base) or b"") for t in tasks],
        [
            (w.worker, Found(clip_p(w.p), w.flag, w.flag_reason, w.confusion, w.cluster))
            for w in workers
        ],
        [(c.cluster, c.confusion) for c in clusters],
    )
    try:
        return _encode(made)
    except UnicodeEncodeError:
        raise InputError(DeadCode.INVALID_FIELD, "a text holds half of a surrogate pair") from None


class Findings:
    """All parts of a run put together; of what is named twice the last counts.

    Args:
        project: that the run is of.
        bodies: of its parts, in order of their numbers.

    Attributes:
        bases: of tasks by name, packed.
        workers: by name.
        clusters: by number, cells by class name.

    Raises:
        Unusable: it was computed for other classes than the project has.
    """

    def __init__(self, project: Project, bodies: Iterable[bytes]) -> None:
        self._classes = project.config.classes
        self.bases: dict[str, bytes] = {}
        self.workers: dict[str, Found] = {}
        self.clusters: dict[int, dict[tuple[str, str], float]] = {}
        size = 8 * len(self._classes)
        for body in bodies:
            part = _decode(body)
            for name, base in part.tasks:
                if len(base) != size:
                    raise Unusable(f"{len(base) // 8} classes")
                self.bases[name] = base
            for name, worker in part.workers:
                self.cells(worker.confusion)
                self.workers[name] = worker
            for number, cells in part.clusters:
                self.clusters[number] = self.cells(cells)

    def cells(self, confusion: Cells) -> dict[tuple[str, str], float]:
        """Expected counts by names of true and given class.

        Raises:
            Unusable: a class that the project does not have.
        """
        return {(self._class(true), self._class(given)): count for true, given, count in confusion}

    def _class(self, ref: str | int) -> str:
        if isinstance(ref, int):
            if ref < len(self._classes):
                return self._classes[ref]
        elif ref in self._classes:
            return ref
        raise Unusable(f"a class {str(ref)[:80]!r}")
