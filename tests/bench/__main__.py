"""`python -m tests.bench [PART...] [--quick] [--out DIR]`; `make bench` calls it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console

from connector.cli.run import tune_interpreter

from .aggregators import measure_aggregators
from .assign import measure_assign
from .confidence import measure_confidence
from .flags import measure_flags
from .history import measure_history
from .latency import measure_latency
from .memory import measure_memory
from .path import measure_path
from .progress import Progress
from .reconcile import measure_reconcile
from .simulate import measure_simulate
from .stage import Stage
from .table import Table

Part = Callable[..., list[Table]]

PARTS: dict[str, Part] = {
    "path": measure_path,
    "latency": measure_latency,
    "history": measure_history,
    "memory": measure_memory,
    "assign": measure_assign,
    "confidence": measure_confidence,
    "aggregators": measure_aggregators,
    "flags": measure_flags,
    "reconcile": measure_reconcile,
    "simulate": measure_simulate,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)} or all")
    parser.add_argument("--quick", action="store_true", help="smaller, in minutes")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write CSV and markdown there")
    given = parser.parse_args(arguments)
    chosen = [p for p in given.parts or ["all"] if p != "all"] or list(PARTS)
    for part in chosen:
        if part not in PARTS:
            parser.error(f"no part {part!r}; there are {', '.join(PARTS)} and all")
    console = Console()
    tune_interpreter()  # as the service does, or its parts would look slower here than they are
    with Stage() as stage:
        for part in chosen:
            with Progress() as say:
                tables = PARTS[part](stage, say, quick=given.quick)
            for table in tables:
                table.print(console)
                if given.out is not None:
                    given.out.mkdir(parents=True, exist_ok=True)
                    (given.out / f"{table.name}.md").write_text(table.markdown())
                    (given.out / f"{table.name}.csv").write_text(table.csv())
    return 0


if __name__ == "__main__":
    sys.exit(main())
