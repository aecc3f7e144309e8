"""`crowdresolve simulate crowd`: a synthetic crowd on a real broker."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Annotated, Any

import typer

from connector.settings import Loaded

from .options import command_with
from .progressbar import progressing
from .terminal import result, say

if TYPE_CHECKING:
    from connector.simulate.people import People


def _option(*names: str, metavar: str, help: str, **more: Any) -> Any:
    return typer.Option(*names, metavar=metavar, help=help, **more)


@command_with("bootstrap_servers", "kafka", "topic_annotations", "topic_assigned")
def crowd(
    loaded: Loaded,
    project: Annotated[
        str, _option("--project", metavar="NAME", help="The project; it is declared first.")
    ] = "simulated",
    declare: Annotated[
        bool,
        typer.Option(help="Declare the project. One that exists must have the classes 0 and 1."),
    ] = True,
    tasks: Annotated[int, _option("--tasks", metavar="M", min=1, help="How many.")] = 1000,
    workers: Annotated[int, _option("--workers", metavar="N", min=1, help="How many.")] = 50,
    labels_per_task: Annotated[
        int,
        _option(
            "--labels-per-task", metavar="R", min=1, help="Votes on each task; at most, if --ask."
        ),
    ] = 5,
    ask: Annotated[
        bool,
        typer.Option(
            "--ask",
            help="The workers ask the service for tasks, and answer what it assigns, until it has"
            " no more; else they label every task equally often.",
        ),
    ] = False,
    skips: Annotated[
        float,
        _option("--skips", metavar="SHARE", min=0, max=1, help="Of assignments, if --ask."),
    ] = 0.0,
    rate: Annotated[
        float,
        _option("--rate", metavar="N", min=0, help="Events a second; 0: as fast as they go."),
    ] = 0.0,
    alpha: Annotated[
        float, _option("--alpha", metavar="A", min=1e-6, help="Accuracies are Beta(A, B).")
    ] = 4.0,
    beta: Annotated[float, _option("--beta", metavar="B", min=1e-6, help="Likewise.")] = 2.0,
    seed: Annotated[int, _option("--seed", metavar="N", min=0, help="Of the crowd.")] = 0,
    patience: Annotated[
        float,
        _option(
            "--patience", metavar="SECONDS", min=1, help="To wait for an assignment, if --ask."
        ),
    ] = 60.0,
    truth_out: Annotated[
        str | None,
        _option("--truth-out", metavar="FILE", help="The truth, CSV (task, label)."),
    ] = None,
) -> None:
    """Send a synthetic crowd's events to the broker, as load, or with --ask as a demo.

    The service runs elsewhere; the truth goes to a file, to compare its labels with.
    """
    from connector.reports.formats import check_target
    from connector.simulate.asking import Asking
    from connector.simulate.people import People
    from connector.simulate.wire import Wire, converse, push

    from .clients import kafka_client

    if truth_out is not None:
        check_target(truth_out)
    s = loaded.settings
    client = kafka_client(s, loaded.origins)
    people = People(project, tasks, workers, alpha, beta, seed)
    total = tasks * labels_per_task
    votes = people.votes(labels_per_task, seed)
    assigned = s.topic_assigned if ask else None
    with (
        progressing("votes") as progress,
        Wire(client, s.topic_annotations, assigned, project, rate) as wire,
    ):
        if declare:
            limit = min(labels_per_task, workers)
            groups = {"resolve": {"max_labels": limit}} if ask else {}
            wire.send(people.declaration(**groups))
        if ask:
            asking = Asking(people, skips, seed)
            converse(wire, asking, patience, lambda done: progress(done, total))
        else:
            push(wire, votes, lambda done: progress(done, total))
        seconds = wire.seconds
    result(f"{wire.sent:,} events in {seconds:.1f} s, {wire.sent / seconds:,.0f} a second")
    if ask:
        why = ", ".join(f"{reason} {n}" for reason, n in sorted(asking.ended.items()))
        result(
            f"{asking.assigned:,} assignments: {asking.votes:,} answered, {asking.skipped:,}"
            f" skipped, {len(asking.repeated)} a second time; workers left: {why}"
        )
    if truth_out is not None:
        _write_truth(truth_out, people)
        say(f"The truth of {tasks:,} tasks in {truth_out}")


def _write_truth(path: str, people: People) -> None:
    from connector.reports.formats import target

    with target(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(("task", "label"))
        writer.writerows(people.truth.items())
        text.flush()
        text.detach()
