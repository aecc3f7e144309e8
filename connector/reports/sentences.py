"""What figures say, in plain words."""

from __future__ import annotations

from typing import NamedTuple

from connector.domain.config import ProjectConfig

LOW_SLOPE = 0.6
"""Below it the stop value is out of this crowd's reach (algorithms.md, "Stated confidence")."""


class Calibration(NamedTuple):
    """A row of the view calibration, but for the project."""

    b: float
    gold_tasks: int
    resolved_at_stop: int
    right_at_stop: int
    lower: float | None
    upper: float | None
    stated_mean: float | None


def calibration_sentence(found: Calibration, config: ProjectConfig, gold: int = 0) -> str:
    """How far the stated confidence can be believed, by the gold tasks; `gold` of them in all."""
    stop = percent(config.confidence)
    if not config.calibrate:
        return "calibration is off: confidence is not checked"
    if not found.gold_tasks and gold:
        return f"none of {_gold(gold)} has two votes yet: confidence is not checked"
    if not found.gold_tasks:
        return "no gold: confidence is not checked"
    if found.lower is None or found.upper is None:
        text = f"none of {_gold(found.gold_tasks)} reaches {stop} %: confidence is not checked"
    else:
        text = (
            f"of the labels we call {stop} % sure, {percent(found.lower, 0)}-"
            f"{percent(found.upper, 0)} % are right (by {_gold(found.resolved_at_stop)})"
        )
    if found.b < LOW_SLOPE:
        text += (
            f". Warning: by gold, answers are much less sure than the votes look (slope"
            f" {found.b:.2f}), so {stop} % is out of this crowd's reach for most tasks; lower"
            " `confidence`, or find better workers"
        )
    return text


def calibration_figures(found: Calibration, config: ProjectConfig) -> str:
    """What the sentence rests on: hits at the stop value, and the slope."""
    if not config.calibrate or not found.gold_tasks:
        return "none"
    slope = (
        f"slope {found.b:.2f} (1: as sure as the votes look, below {LOW_SLOPE:g}:"
        f" {percent(config.confidence)} % is out of reach)"
    )
    if found.stated_mean is None:
        return f"none of {_gold(found.gold_tasks)} at the stop value; {slope}"
    return (
        f"{found.right_at_stop:,} of {_gold(found.resolved_at_stop)} at the stop value right,"
        f" stated {percent(found.stated_mean)} %; {slope}"
    )


def agreement_sentence(alpha: float | None, level: str) -> str:
    """What Krippendorff's alpha says of the crowd."""
    if alpha is None:
        return "no task has two votes"
    return f"Krippendorff's alpha {alpha:.3f} ({level}); 1 is full agreement, 0 chance"


def percent(share: float, digits: int = 1) -> str:
    """Of a share: `95`, `97.5`."""
    text = f"{100 * share:.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _gold(count: int) -> str:
    return f"{count:,} gold task" + ("s" if count != 1 else "")
