"""What a person decides of a held run, on its way: sent, consumed, done."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from connector.domain.errors import CrowdResolveError, DependencyError
from connector.domain.records import TopicPartition

from . import reading
from .applying import LOOK_S
from .sending import ToSend, sender
from .terminal import waiting

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from connector.settings import Loaded

HEADERS = (("content-type", b"application/json"),)


def decide(
    loaded: Loaded,
    engine: Engine,
    kind: str,
    run: str,
    project: str | None,
    timeout_s: float | None,
) -> tuple[str, bool]:
    """Send the decision and wait for what becomes of it.

    Args:
        loaded: the settings.
        engine: the service's database.
        kind: `reconciliation.approved` or `reconciliation.rejected`.
        run: its name.
        project: whose it is; None: it is looked for.
        timeout_s: how long to wait, None: not at all.

    Returns:
        What happened, in words, and whether that was what was wanted.

    Raises:
        CrowdResolveError: there is no such run, it is not held, or the service did not consume the
            decision in time.
    """
    from .clients import kafka_client

    name, partition = _where(engine, run, project)
    value = json.dumps({"type": kind, "project": name, "run": run}).encode()
    client = kafka_client(loaded.settings, loaded.origins)
    with waiting(f"Sending to {client.where}"), sender(client, partition.topic) as to:
        record = ToSend(partition.partition, name.encode(), value, HEADERS)
        (outcome,) = to.send([record])
    if isinstance(outcome, Exception):
        raise DependencyError(f"{run}: could not be sent: {outcome}") from outcome
    place = f"{partition.topic}/{partition.partition} at offset {outcome}"
    if timeout_s is None:
        return f"{name} {run}: sent to {place}", True
    until = time.monotonic() + timeout_s
    with waiting(f"Waiting until {place} has been consumed"):
        while reading.next_offset(engine, partition) <= outcome:
            if time.monotonic() >= until:
                raise CrowdResolveError(
                    f"{name} {run}: sent to {place}, but not consumed within {timeout_s:g} s: is"
                    " `crowdresolve run` running, with the same --database"
                    f" ({reading.place(engine)})? It will be done when it is"
                )
            time.sleep(LOOK_S)
    dead = reading.dead_at(engine, partition, outcome)
    if dead is not None:
        return f"{name} {run}: refused as {dead.code}: {dead.message}", False
    found = _run(engine, name, run)
    wanted = "adopted" if kind.endswith("approved") else "rejected"
    return f"{name} {run}: {found['status']} from {place}", found["status"] == wanted


def _where(engine: Engine, run: str, project: str | None) -> tuple[str, TopicPartition]:
    """The project of a held run, and its partition."""
    from connector.adapters.sql import queries

    columns, found = queries.view(engine, "reconciliation_runs", project)
    known = [dict(zip(columns, row, strict=True)) for row in found]
    mine = [r for r in known if r["run"] == run]
    if len(mine) > 1:
        names = ", ".join(r["project"] for r in mine)
        raise CrowdResolveError(f"several projects have a run {run} ({names}): give --project")
    if not mine:
        held = [r["run"] for r in known if r["status"] == "held"]
        hint = f": {', '.join(held)} is held" if held else ": no run is held"
        raise CrowdResolveError(f"there is no run {run}{hint}")
    if mine[0]["status"] != "held":
        raise CrowdResolveError(
            f"{mine[0]['project']} {run} is not held: it is {mine[0]['status']}"
        )
    row = queries.project(engine, mine[0]["project"])
    assert row is not None
    return row.name, TopicPartition(row.topic, row.partition)


def _run(engine: Engine, project: str, run: str) -> dict[str, Any]:
    from connector.adapters.sql import queries

    columns, found = queries.view(engine, "reconciliation_runs", project)
    rows = [dict(zip(columns, row, strict=True)) for row in found]
    return next(r for r in rows if r["run"] == run)
