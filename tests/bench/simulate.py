"""The SBIC paper's Figures 2 and 3, and what the stop rule and the policy save on real data."""

from __future__ import annotations

import os
from collections.abc import Callable

from connector.simulate import figure2, figure3, saved
from connector.simulate.crowd import Setting
from connector.simulate.dataset import read
from connector.simulate.slopes import HIGH, LOW, measured, predicted
from connector.simulate.tables import saved_lines

from .datasets import DIRECTORY
from .stage import Stage
from .table import Cell, Table

DATASETS = ("rte", "temp", "sentiment", "dog", "weather", "zencrowd")
SLOPE_AIM = 0.25
"""US, Fast SBIC: within this of the theorem's slope."""
RATIO_AIM = 1.5
"""A US run with Fast SBIC against one with majority."""


def measure_simulate(stage: Stage, say: Callable[[str], None], *, quick: bool) -> list[Table]:
    """Figure 2 with its slopes, Figure 3, and labels saved on six datasets."""

    def told(what: str) -> Callable[[int, int], None]:
        return lambda done, total: say(f"{what}: {done} of {total}")

    setting = Setting(tasks=200) if quick else Setting()
    budgets = (10, 20, 30) if quick else (10, 20, 30, 40, 50, 60)
    plan = figure2.Plan(setting, budgets, runs=1 if quick else 5)
    points = figure2.figure2(plan, os.cpu_count() or 1, told("figure 2"))
    timed = figure3.Plan(setting, budgets[: 2 if quick else 4], runs=1 if quick else 3)
    timings = figure3.figure3(timed, told("figure 3"))
    data = [read(str(DIRECTORY / name)) for name in DATASETS[: 1 if quick else None]]
    again = saved.saved(
        data, saved.Plan(runs=1 if quick else 5), os.cpu_count() or 1, told("saved")
    )
    return [
        errors_table(points, plan),
        slopes_table(points, plan),
        times_table(timings, timed),
        saved_table(again),
    ]


def errors_table(points: list[figure2.Point], plan: figure2.Plan) -> Table:
    """Mean error by policy, method and R."""
    rows: list[list[Cell]] = [
        [policy, name, *(f"{errors[R]:.4f}" for R in plan.labels_per_task)]
        for (policy, name), errors in figure2.means(points).items()
    ]
    crowd = plan.setting
    note = (
        f"{crowd.tasks} tasks, Beta({crowd.alpha:g}, {crowd.beta:g}), L ="
        f" {crowd.labels_per_worker}, {plan.arrival}, no probes, mean of {plan.runs} crowds per R."
        " In US each method chooses by its own estimates: majority and Fast SBIC after each vote,"
        f" the others fitted again every {plan.between_fits} votes."
    )
    return Table(
        "simulate_errors",
        "Figure 2: error against labels per task R",
        ["policy", "method", *map(str, plan.labels_per_task)],
        rows,
        [note],
    )


def slopes_table(points: list[figure2.Point], plan: figure2.Plan) -> Table:
    """Measured slopes beside those of Theorems 1 and 2."""
    found = figure2.means(points)
    rows: list[list[Cell]] = []
    for policy in plan.policies:
        for name in ("fast_sbic", "sorted_sbic"):
            # Sorted SBIC, fitted every M/2 votes, is at R up to 30 what the theorem speaks of.
            most = 30 if (policy, name) == ("US", "sorted_sbic") else max(plan.labels_per_task)
            errors = {R: e for R, e in found[policy, name].items() if most >= R}
            slope, theorem = measured(errors), predicted(policy, name, plan.setting)
            assert theorem is not None
            used = [R for R, e in errors.items() if LOW <= e <= HIGH]
            rows.append(
                [
                    policy,
                    name,
                    ", ".join(map(str, used)),
                    None if slope is None else f"{slope:.3f}",
                    f"{theorem:.3f}",
                    None if slope is None else f"{slope / theorem - 1:+.0%}",
                ]
            )
    slope = measured(found["US", "fast_sbic"])
    theorem = predicted("US", "fast_sbic", plan.setting)
    assert theorem is not None
    met = slope is not None and abs(slope / theorem - 1.0) <= SLOPE_AIM
    return Table(
        "simulate_slopes",
        "Slope of the log error where the error is between 0.1 and 0.001",
        ["policy", "method", "R", "measured", "theorem", "difference"],
        rows,
        [f"US, Fast SBIC, to be within 25 % of the theorem's: {'met' if met else 'MISSED'}."],
    )


def times_table(timings: list[figure3.Timing], plan: figure3.Plan) -> Table:
    """Milliseconds of one US run, and ratios to majority's."""
    rows: list[list[Cell]] = [
        [
            t.algorithm,
            "each vote" if t.votes_between_fits == 1 else f"{t.votes_between_fits} votes",
            t.labels_per_task,
            *(1000.0 * s for s in (t.run_s, t.choosing_s, t.estimating_s, t.keeping_s)),
            t.run_ratio,
            t.ratio_without_choice,
        ]
        for t in timings
    ]
    worst = max(t.run_ratio for t in timings if t.algorithm == "fast_sbic")
    how = (
        f"Medians of {plan.runs} runs, each beside one with majority. The rest is asking the crowd"
        " and keeping the tasks in order for the next choice."
    )
    aim = (
        f"Run with Fast SBIC / with majority, to be at most {RATIO_AIM}: {worst:.2f}"
        f" ({'met' if worst <= RATIO_AIM else 'MISSED'})."
    )
    return Table(
        "simulate_times",
        "Figure 3: one run under uncertainty sampling, milliseconds of processor time",
        [
            "method",
            "estimates follow",
            "R",
            "run",
            "choices",
            "estimates",
            "the rest",
            "run / majority's",
            "the same without the choices",
        ],
        rows,
        [how, aim],
    )


def saved_table(points: list[saved.Point]) -> Table:
    """Labels per task at equal error."""
    columns, lines = saved_lines(points)
    note = (
        "Mean of the orders of arrival, interleaved, probes as by default. As good: the fixed"
        " overlap with the same error; > n (error): not reached with all n labels that the"
        " dataset has."
    )
    return Table(
        "simulate_saved",
        "Labels per task by stop rule and policy, against the same number for every task",
        columns,
        lines,
        [note],
    )
