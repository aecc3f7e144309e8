"""`crowdresolve bench`: measurements that a user can repeat."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from connector.settings import Loaded

from .options import command_with
from .terminal import say

app = typer.Typer(help="Measure the aggregators here, beside other people's.", no_args_is_help=True)


@app.command()
@command_with()
def aggregators(
    loaded: Loaded,
    out: Annotated[
        Path,
        typer.Option("--out", metavar="DIR", file_okay=False, help="Where tables and pictures go."),
    ],
    parts: Annotated[
        list[str] | None, typer.Argument(metavar="[PART]...", help="Which; all by default.")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            metavar="DIR",
            file_okay=False,
            help="The datasets, a folder each; by default data or ../shared/data.",
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Minutes instead of an hour: fewer of everything.")
    ] = False,
) -> None:
    """Compare every method with the papers' tables and with Crowd-Kit.

    Errors, log loss, calibration and seconds of every method on every dataset; the tables and
    figures of the two papers; speed from 10,000 to 10 million votes. Each table is printed as
    markdown and written as CSV, markdown and, for some, a picture. Parts: speed, speed_cola,
    sbic_table_2, sbic_figure_2, cola_table_2, cola_table_4, cola_items, cola_concentration, real.
    """
    from connector.bench.extra import check_extra

    check_extra()
    from connector.bench.datasets import Datasets
    from connector.bench.parts import PARTS, check_parts, measure_parts, write

    chosen = parts or list(PARTS)
    for part in chosen:
        if part not in PARTS:
            raise typer.BadParameter(f"no part {part!r}: there are {', '.join(PARTS)}")
    found = Datasets.found(data)
    check_parts(chosen, found)
    out.mkdir(parents=True, exist_ok=True)
    for reports in measure_parts(chosen, found, quick, say):
        write(reports, out)
        for report in reports:
            print(report.markdown(), flush=True)
