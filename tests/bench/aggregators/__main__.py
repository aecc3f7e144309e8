"""`python -m tests.bench.aggregators [PART...] [--quick] --out DIR`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from . import ordinal, real, sampling, speed
from .pictures import draw
from .report import Report

PARTS: dict[str, Callable[[bool], list[Report]]] = {
    "speed": speed.measure,
    "sbic_table_2": real.table_2,
    "sbic_figure_2": sampling.figure_2,
    "cola_table_2": ordinal.table_2,
    "cola_table_4": ordinal.table_4,
    "cola_items": ordinal.items,
    "cola_concentration": ordinal.concentration,
    "real": real.measure,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write CSV, markdown and pictures; all parts take about half an hour."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.aggregators", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)} (all)")
    parser.add_argument("--quick", action="store_true", help="a few minutes, fewer of everything")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    given = parser.parse_args(arguments)
    for part in given.parts:
        if part not in PARTS:
            parser.error(f"no part {part!r}; there are {', '.join(PARTS)}")
    given.out.mkdir(parents=True, exist_ok=True)
    for part in given.parts or PARTS:
        reports = PARTS[part](given.quick)
        for report in reports:
            report.write(given.out)
            print(report.markdown(), flush=True)
        draw(reports, given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
