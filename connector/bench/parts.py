"""What `crowdresolve bench aggregators` measures, part by part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import ordinal, real, sampling, speed
from .datasets import Datasets
from .report import Report, Say


@dataclass(frozen=True)
class Part:
    """One experiment.

    Attributes:
        measure: from datasets, whether to be quick, and whom to tell how far it is, to tables.
        needs: the datasets that it cannot do without.
    """

    measure: Callable[[Datasets, bool, Say], list[Report]]
    needs: tuple[str, ...] = ()


PARTS: dict[str, Part] = {
    "speed": Part(speed.measure),
    "speed_cola": Part(speed.cola, ("web",)),
    "sbic_table_2": Part(real.table_2, tuple(real.PAPER_TABLE_2)),
    "sbic_figure_2": Part(sampling.figure_2),
    "cola_table_2": Part(ordinal.table_2),
    "cola_table_4": Part(ordinal.table_4, ordinal.PAPER_SETS),
    "cola_items": Part(ordinal.items, ordinal.PAPER_SETS),
    "cola_concentration": Part(ordinal.concentration, ("ac2",)),
    "real": Part(real.measure),
}


def check_parts(names: Sequence[str], data: Datasets) -> None:
    """Raise ConfigurationError where a dataset that a part needs is not there."""
    for name in names:
        data.require(*PARTS[name].needs)
    if "real" in names and not data.names():
        data.require("birds")


def possible_parts(data: Datasets) -> list[str]:
    """Those whose datasets are there."""
    there = set(data.names())
    return [n for n, p in PARTS.items() if there.issuperset(p.needs) and (there or n != "real")]


def measure_parts(
    names: Sequence[str], data: Datasets, quick: bool, say: Say
) -> Iterator[list[Report]]:
    """The tables of one part after the other."""
    for name in names:
        say(name)
        yield PARTS[name].measure(data, quick, say)


def write(reports: Sequence[Report], out: Path) -> None:
    """CSV, markdown and, where there is one, a picture of each."""
    from .pictures import draw

    for report in reports:
        report.write(out)
    draw(reports, out)
