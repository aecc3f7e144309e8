"""`crowdresolve plan`: how many labels an error rate needs, and what they cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from connector.settings import Loaded

from .db import engine_of
from .options import command_with
from .progressbar import progressing
from .simulate import ArrivalOption, Runs, Seed, arrival_of, numbers_of, probes_of
from .terminal import as_json, rows, say

if TYPE_CHECKING:
    from connector.simulate.planning import Answer

SIMULATED = 1000
"""Tasks of a simulated crowd: labels per task hardly depend on it, the error's noise does."""


class Crowd(NamedTuple):
    """What is known of the workers and the work."""

    alpha: float
    beta: float
    labels_per_worker: int
    tasks: int
    classes: int


@command_with("database")
def plan(
    loaded: Loaded,
    error: Annotated[
        float, typer.Option("--error", metavar="E", help="The wished share of wrong labels.")
    ] = 0.05,
    alpha: Annotated[
        float | None,
        typer.Option("--alpha", metavar="A", help="Workers' accuracies are Beta(A, B). Default 2."),
    ] = None,
    beta: Annotated[
        float | None, typer.Option("--beta", metavar="B", help="Likewise. Default 1.")
    ] = None,
    project: Annotated[
        str | None,
        typer.Option("--project", metavar="NAME", help="Take its workers, from the database."),
    ] = None,
    labels_per_worker: Annotated[
        int | None,
        typer.Option(
            "--labels-per-worker",
            metavar="L",
            min=1,
            help="So many each worker gives. Default: the project's mean, else 10.",
        ),
    ] = None,
    tasks: Annotated[
        int | None,
        typer.Option(
            "--tasks", metavar="M", min=1, help="How many. Default: the project's, else 1000."
        ),
    ] = None,
    price: Annotated[
        float | None, typer.Option("--price", metavar="P", min=0, help="Of a label.")
    ] = None,
    algorithms: Annotated[
        str,
        typer.Option(
            "--algorithms", metavar="NAME,NAME", help="fast_sbic (the live rules), sorted_sbic."
        ),
    ] = "fast_sbic",
    arrival: ArrivalOption = "interleaved",
    probes: Annotated[
        str, typer.Option("--probes", metavar="auto|N", help="As in a project file.")
    ] = "0",
    runs: Runs = 3,
    seed: Seed = 0,
    json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Labels per task that an error rate needs, under uniform and under uncertainty sampling.

    The theorems of the SBIC paper hold up to a constant, so the crowd is also simulated, here and
    now, until it has that error; what cannot be simulated is carried on by the theorem's slope.
    """
    from connector.simulate.crowd import Setting
    from connector.simulate.errors import Misused
    from connector.simulate.planning import Question, answer

    if project is not None and (alpha, beta) != (None, None):
        raise Misused("--project has workers of its own: leave --alpha and --beta out")
    found = Crowd(2.0, 1.0, 10, 1000, 2) if project is None else _crowd_of(loaded, project)
    crowd = Crowd(
        found.alpha if alpha is None else alpha,
        found.beta if beta is None else beta,
        min(SIMULATED, labels_per_worker or found.labels_per_worker),
        tasks or found.tasks,
        found.classes,
    )
    question = Question(
        error,
        Setting(SIMULATED, crowd.labels_per_worker, crowd.alpha, crowd.beta),
        tuple(numbers_of("--algorithms", algorithms, str)),
        arrival_of(arrival),
        probes_of(probes),
        runs,
        seed,
    )
    with progressing("simulating") as progress:
        answers = answer(question, progress)
    if json:
        as_json([_plain(a, crowd, price) for a in answers])
        return
    _show(answers, crowd, price)
    for note in _notes(question.runs, answers, crowd):
        say(note)


def _crowd_of(loaded: Loaded, project: str) -> Crowd:
    from connector.adapters.sql import migrate
    from connector.reports import rows as reports
    from connector.simulate.planning import beta_of

    with engine_of(loaded, must_exist=True) as engine:
        migrate.check(engine)
        config = reports.projects(engine, project)[project]
        report = reports.workers(engine, project)
        at = {name: i for i, name in enumerate(report.columns)}
        known = [(row[at["accuracy"]], row[at["votes"]]) for row in report.rows]
        progress = reports.project(engine, project)
        (line,) = progress.rows
        tasks = int(line[list(progress.columns).index("tasks")])
    n = [float(votes) for _, votes in known]
    S = [a * (v + config.alpha + config.beta) - config.alpha for a, v in known]
    alpha, beta = beta_of(S, n)
    given = [v for v in n if v > 0]
    return Crowd(alpha, beta, max(1, round(sum(given) / len(given))), max(1, tasks), config.K)


def _plain(a: Answer, crowd: Crowd, price: float | None) -> dict[str, object]:
    total = a.simulated * crowd.tasks
    return {
        "policy": a.policy,
        "algorithm": a.algorithm,
        "theorem": a.theorem,
        "simulated": a.simulated,
        "measured": a.measured,
        "errors": {str(R): e for R, e in a.errors.items()},
        "tasks": crowd.tasks,
        "total": total,
        "cost": None if price is None else total * price,
        "alpha": crowd.alpha,
        "beta": crowd.beta,
        "labels_per_worker": crowd.labels_per_worker,
    }


def _show(answers: list[Answer], crowd: Crowd, price: float | None) -> None:
    columns = ["policy", "algorithm", "theorem", "simulated", f"for {crowd.tasks:,} tasks", "cost"]
    lines = []
    for a in answers:
        total = a.simulated * crowd.tasks
        lines.append(
            [
                a.policy,
                a.algorithm,
                str(a.theorem),
                f"{a.simulated:.1f}" + ("" if a.measured else " (carried on)"),
                f"{total:,.0f}",
                "" if price is None else f"{total * price:,.2f}",
            ]
        )
    if price is None:
        columns, lines = columns[:-1], [line[:-1] for line in lines]
    rows(columns, lines, right=columns[2:])


def _notes(runs: int, answers: list[Answer], crowd: Crowd) -> list[str]:
    meant = (
        f"Labels per task for a crowd of Beta({crowd.alpha:.3g}, {crowd.beta:.3g}) whose workers"
        f" give {crowd.labels_per_worker} each. The theorems hold up to a constant, taken as 1/2:"
        f" trust `simulated` ({runs} crowds, {SIMULATED:,} tasks)."
    )
    sittings = "Workers who come in sittings teach less: see --arrival sessions, and --probes auto."
    notes = [meant, sittings]
    if not all(a.measured for a in answers):
        notes.append(
            "Carried on: the simulation ended above that error, or had too few errors to count;"
            " from there the theorem's slope is taken."
        )
    if crowd.classes > 2:
        notes.append(f"The theorems speak of two classes; this project has {crowd.classes}.")
    return notes
