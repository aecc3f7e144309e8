"""`crowdresolve simulate`: what assignment saves, on crowds whose truth is known."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from connector.settings import Loaded

from .options import command_with
from .progressbar import progressing
from .simulate_crowd import crowd
from .terminal import rows, say

if TYPE_CHECKING:
    from connector.simulate.crowd import Arrival, Setting

app = typer.Typer(
    no_args_is_help=True,
    help="What assignment saves: the SBIC paper's figures, real datasets, a crowd on a broker.",
)

app.command()(crowd)

_CROWD = "The crowd"
_OUTPUT = "Output"
_RUNS = "The runs"


def _option(*names: str, metavar: str, panel: str, help: str, **more: Any) -> Any:
    return typer.Option(*names, metavar=metavar, rich_help_panel=panel, help=help, **more)


Tasks = Annotated[int, _option("--tasks", metavar="M", panel=_CROWD, help="How many tasks.")]
PerWorker = Annotated[
    int,
    _option(
        "--labels-per-worker",
        metavar="L",
        panel=_CROWD,
        help="So many each worker gives.",
        # With the name of the figure in it, it would not fit into the help of a narrow terminal.
        envvar="CROWDRESOLVE_SIMULATE_LABELS_PER_WORKER",
    ),
]
Alpha = Annotated[
    float,
    _option("--alpha", metavar="A", panel=_CROWD, help="Accuracies are Beta(A, B)."),
]
Beta = Annotated[float, _option("--beta", metavar="B", panel=_CROWD, help="Likewise.")]
ArrivalOption = Annotated[
    str,
    _option(
        "--arrival",
        metavar="interleaved|sessions",
        panel=_CROWD,
        help="interleaved: each label from a random worker, as in the paper. sessions: each worker"
        " gives all of theirs in one sitting, as real ones do.",
    ),
]
Runs = Annotated[
    int, _option("--runs", metavar="N", panel=_RUNS, min=1, help="Crowds for each point.")
]
Seed = Annotated[
    int, _option("--seed", metavar="N", panel=_RUNS, min=0, help="Of everything random.")
]
Jobs = Annotated[
    int,
    _option(
        "--jobs", metavar="N", panel=_RUNS, min=0, help="Processes; 0: one for each processor."
    ),
]
Budgets = Annotated[
    str,
    _option(
        "--labels-per-task",
        metavar="R,R,...",
        panel=_RUNS,
        help="Budgets; each has crowds of its own.",
    ),
]
Algorithms = Annotated[
    str | None,
    _option(
        "--algorithms",
        metavar="NAME,NAME,...",
        panel=_RUNS,
        help="Of those that `replay --algorithm` knows. Default: the paper's.",
    ),
]
Every = Annotated[
    int | None,
    _option(
        "--fit-every",
        metavar="N",
        panel=_RUNS,
        min=1,
        help="Votes between two fits of a method that cannot follow each vote. Default: M/2.",
    ),
]
Out = Annotated[
    str | None,
    _option("--out", metavar="FILE", panel=_OUTPUT, help="All points as CSV; - is the screen."),
]
Picture = Annotated[
    str | None,
    _option(
        "--picture",
        metavar="FILE",
        panel=_OUTPUT,
        help="A picture: .png, .svg or .pdf. Needs matplotlib: pip install crowdresolve[pictures].",
    ),
]


@app.command()
@command_with()
def figure2(
    loaded: Loaded,
    runs: Runs = 5,
    seed: Seed = 0,
    labels_per_task: Budgets = "10,20,30,40,50,60",
    algorithms: Algorithms = None,
    arrival: ArrivalOption = "interleaved",
    probes: Annotated[
        str,
        _option(
            "--probes",
            metavar="auto|N",
            panel=_RUNS,
            help="Of the uncertainty policy, as in a project file; 0: none, as in the paper.",
        ),
    ] = "0",
    policies: Annotated[
        str, _option("--policies", metavar="UNI,US", panel=_RUNS, help="Which to run.")
    ] = "UNI,US",
    collect: Annotated[
        str,
        _option(
            "--collect",
            metavar="own|NAME",
            panel=_RUNS,
            help="Whose estimates choose in US: each method's own, as in the paper, or those of"
            " one method, whose labels all the others then aggregate.",
        ),
    ] = "own",
    fit_every: Every = None,
    tasks: Tasks = 1000,
    labels_per_worker: PerWorker = 10,
    alpha: Alpha = 4.0,
    beta: Beta = 3.0,
    out: Out = None,
    picture: Picture = None,
    jobs: Jobs = 0,
) -> None:
    """Error against labels per task under both policies: the SBIC paper's Figure 2.

    Prints mean errors and, for the methods of the theorems, the slope of the log error between
    0.1 and 0.001 beside the one that they predict.
    """
    from connector.simulate import figure2 as figure
    from connector.simulate.methods import COMPARED
    from connector.simulate.picture2 import draw_figure2
    from connector.simulate.pictures import check_picture
    from connector.simulate.tables import figure2_lines

    setting = _setting(tasks, labels_per_worker, alpha, beta)
    plan = figure.Plan(
        setting,
        numbers_of("--labels-per-task", labels_per_task),
        runs,
        seed,
        _names(algorithms, COMPARED),
        tuple(cast('Literal["UNI", "US"]', p) for p in _chosen("--policies", policies, POLICIES)),
        arrival_of(arrival),
        probes_of(probes),
        fit_every,
        collect,
    )
    _check_out(out)
    check_picture(picture)
    with progressing("runs") as progress:
        points = figure.figure2(plan, processes(jobs), progress)
    _write(out, figure.COLUMNS, points)
    if picture is not None:
        draw_figure2(picture, points, setting)
        say(f"Drawn in {picture}")
    _show(out, figure2_lines(points, setting), ("policy", "algorithm"))


@app.command()
@command_with()
def figure3(
    loaded: Loaded,
    runs: Runs = 3,
    seed: Seed = 0,
    labels_per_task: Budgets = "10,20,30,40",
    algorithms: Algorithms = None,
    arrival: ArrivalOption = "interleaved",
    fit_every: Every = None,
    tasks: Tasks = 1000,
    labels_per_worker: PerWorker = 10,
    alpha: Alpha = 4.0,
    beta: Beta = 3.0,
    out: Out = None,
    picture: Picture = None,
) -> None:
    """Time of one run under uncertainty sampling, by method: the SBIC paper's Figure 3.

    The choices themselves, which are the same for all, are measured apart. Majority and Fast SBIC
    follow each vote; the others are fitted again every so many votes, which the table names.
    """
    from connector.simulate import figure3 as figure
    from connector.simulate.methods import COMPARED
    from connector.simulate.picture3 import draw_figure3
    from connector.simulate.pictures import check_picture
    from connector.simulate.tables import figure3_lines

    from .run import tune_interpreter

    plan = figure.Plan(
        _setting(tasks, labels_per_worker, alpha, beta),
        numbers_of("--labels-per-task", labels_per_task),
        runs,
        seed,
        _names(algorithms, COMPARED),
        arrival_of(arrival),
        fit_every,
    )
    _check_out(out)
    check_picture(picture)
    tune_interpreter()  # as the service does, whose chooser and arithmetic are timed
    with progressing("runs") as progress:
        timings = figure.figure3(plan, progress)
    _write(out, figure.COLUMNS, timings)
    if picture is not None:
        draw_figure3(picture, timings)
        say(f"Drawn in {picture}")
    _show(out, figure3_lines(timings), ("algorithm", "fit every"))


@app.command()
@command_with()
def saved(
    loaded: Loaded,
    data: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[DATA]...",
            help="Datasets: each a directory with labels.csv (task, worker, label) and gold.csv"
            " (task, label), or a file of votes. Default: a synthetic crowd.",
            show_default=False,
        ),
    ] = None,
    gold: Annotated[
        str | None,
        _option(
            "--gold",
            metavar="FILE",
            panel=_RUNS,
            help="The truth, CSV (task, label); by default gold.csv beside the votes.",
        ),
    ] = None,
    kind: Annotated[
        str | None,
        _option(
            "--kind",
            metavar="KIND",
            panel=_RUNS,
            help="binary, categorical or ordinal; by default binary for two classes, else"
            " categorical.",
        ),
    ] = None,
    confidence: Annotated[
        str,
        _option(
            "--confidence", metavar="C,C,...", panel=_RUNS, help="Stop values: they resolve a task."
        ),
    ] = "0.8,0.9,0.95,0.99",
    policies: Annotated[
        str,
        _option("--policies", metavar="NAME,NAME", panel=_RUNS, help="Which to run."),
    ] = "uncertainty,uniform",
    runs: Runs = 5,
    seed: Seed = 0,
    arrival: ArrivalOption = "interleaved",
    probes: Annotated[
        str,
        _option("--probes", metavar="auto|N", panel=_RUNS, help="As in a project file."),
    ] = "auto",
    labels_per_task: Annotated[
        int,
        _option(
            "--labels-per-task",
            metavar="R",
            panel=_CROWD,
            min=1,
            help="So many labels a task has, of a synthetic crowd.",
        ),
    ] = 20,
    tasks: Tasks = 1000,
    labels_per_worker: PerWorker = 40,
    alpha: Alpha = 4.0,
    beta: Beta = 2.0,
    out: Out = None,
    picture: Picture = None,
    jobs: Jobs = 0,
) -> None:
    """Labels needed by the stop rule and the policy against the same number for every task.

    Given labels are asked for again: workers come in random order, each with the labels that they
    have in the dataset and no others. The overlap that is as good is where majority, or Fast SBIC
    with n labels each, reaches the same error.
    """
    from connector.simulate import saved as figure
    from connector.simulate.dataset import read, synthetic
    from connector.simulate.picture_saved import draw_saved
    from connector.simulate.pictures import check_picture
    from connector.simulate.tables import saved_lines

    plan = figure.Plan(
        runs,
        seed,
        numbers_of("--confidence", confidence, float),
        _chosen("--policies", policies, ("uncertainty", "uniform")),
        arrival_of(arrival),
        probes_of(probes),
        kind,
    )
    _check_out(out)
    check_picture(picture)
    if data:
        datasets = [read(place, gold) for place in data]
    else:
        setting = _setting(tasks, labels_per_worker, alpha, beta)
        datasets = [synthetic(setting, labels_per_task, seed)]
    with progressing("runs") as progress:
        points = figure.saved(datasets, plan, processes(jobs), progress)
    _write(out, figure.COLUMNS, points)
    if picture is not None:
        draw_saved(picture, points)
        say(f"Drawn in {picture}")
    _show(out, saved_lines(points), ("dataset", "policy"))


POLICIES = ("UNI", "US")


def _setting(tasks: int, labels_per_worker: int, alpha: float, beta: float) -> Setting:
    from connector.simulate.crowd import Setting

    return Setting(tasks, labels_per_worker, alpha, beta)


def numbers_of(flag: str, text: str, kind: Any = int) -> list[Any]:
    """A list with commas between."""
    from connector.simulate.errors import Misused

    try:
        return [kind(part) for part in text.split(",")]
    except ValueError:
        raise Misused(f"{flag}: numbers such as 10,20, not {text!r}") from None


def _names(given: str | None, default: Sequence[str]) -> tuple[str, ...]:
    return tuple(default) if given is None else tuple(given.split(","))


def _chosen(flag: str, text: str, known: Sequence[str]) -> tuple[str, ...]:
    from connector.simulate.errors import Misused

    found = tuple(text.split(","))
    if not set(found) <= set(known):
        raise Misused(f"{flag}: {' and '.join(known)}, not {text!r}")
    return found


def arrival_of(text: str) -> Arrival:
    """`--arrival`, checked."""
    from connector.simulate.crowd import ARRIVALS

    (found,) = _chosen("--arrival", text, ARRIVALS) if "," not in text else ("",)
    return cast("Arrival", found)


def probes_of(text: str) -> Literal["auto"] | int:
    """`--probes`, checked."""
    from connector.simulate.errors import Misused

    if text == "auto":
        return "auto"
    if not text.isdecimal():
        raise Misused(f"--probes: auto or a number, not {text!r}")
    return int(text)


def processes(jobs: int) -> int:
    """How many for `--jobs`."""
    return jobs or os.cpu_count() or 1


def _check_out(out: str | None) -> None:
    from connector.reports.formats import check_target

    if out is not None and out != "-":
        check_target(out)


def _write(out: str | None, columns: Sequence[str], lines: Iterable[Sequence[object]]) -> None:
    import sys

    from connector.reports.formats import target, write_csv

    if out is None:
        return
    if out == "-":
        write_csv(sys.stdout.buffer, columns, lines)
        sys.stdout.buffer.flush()
        return
    with target(out) as file:
        count = write_csv(file, columns, lines)
    say(f"{count:,} points in {out}")


def _show(
    out: str | None, table: tuple[Sequence[str], Sequence[Sequence[str]]], left: Sequence[str]
) -> None:
    """The table on the screen, unless the CSV is there."""
    if out != "-":
        columns, lines = table
        rows(columns, lines, right=[c for c in columns if c not in left])
