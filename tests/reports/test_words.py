"""What figures say in words and bars."""

from __future__ import annotations

import msgspec

from connector.domain.config import Declaration, ProjectConfig, Resolve, effective
from connector.domain.ids import Id
from connector.reports.bars import count_bar, interval_bar
from connector.reports.sentences import (
    Calibration,
    calibration_figures,
    calibration_sentence,
    percent,
)


def config(confidence: float = 0.95, calibrate: bool = True) -> ProjectConfig:
    resolve = msgspec.structs.replace(Resolve(), confidence=confidence, calibrate=calibrate)
    return effective(Declaration(kind="binary", classes=[Id("0"), Id("1")], resolve=resolve))


def test_a_checked_confidence_says_by_how_many_gold_tasks() -> None:
    said = calibration_sentence(Calibration(0.9, 250, 212, 202, 0.9312, 0.9689, 0.96), config())
    assert said == "of the labels we call 95 % sure, 93-97 % are right (by 212 gold tasks)"


def test_without_gold_confidence_is_not_checked() -> None:
    nothing = Calibration(1.0, 0, 0, 0, None, None, None)
    assert calibration_sentence(nothing, config()) == "no gold: confidence is not checked"
    off = calibration_sentence(nothing, config(calibrate=False))
    assert off == "calibration is off: confidence is not checked"


def test_gold_that_is_not_voted_on_yet_is_gold_all_the_same() -> None:
    said = calibration_sentence(Calibration(1.0, 0, 0, 0, None, None, None), config(), gold=3)
    assert said == "none of 3 gold tasks has two votes yet: confidence is not checked"


def test_what_the_sentence_rests_on_is_told_too() -> None:
    said = calibration_figures(Calibration(0.9, 250, 212, 202, 0.9312, 0.9689, 0.96), config())
    assert said.startswith("202 of 212 gold tasks at the stop value right, stated 96 %; slope 0.90")
    assert calibration_figures(Calibration(1.0, 0, 0, 0, None, None, None), config()) == "none"
    never = calibration_figures(Calibration(0.4, 5, 0, 0, None, None, None), config())
    assert never.startswith("none of 5 gold tasks at the stop value; slope 0.40")


def test_gold_that_never_reaches_the_stop_value_checks_nothing() -> None:
    said = calibration_sentence(Calibration(0.8, 1, 0, 0, None, None, None), config(0.975))
    assert said == "none of 1 gold task reaches 97.5 %: confidence is not checked"


def test_a_low_slope_is_a_warning() -> None:
    for b, warned in ((0.59, True), (0.6, False)):
        said = calibration_sentence(Calibration(b, 90, 10, 9, 0.6, 0.98, 0.96), config())
        assert ("Warning" in said) is warned
        assert said.startswith("of the labels we call 95 % sure, 60-98 % are right")


def test_percentages_have_no_idle_digits() -> None:
    assert [percent(s) for s in (0.95, 0.975, 1.0, 0.9999)] == ["95", "97.5", "100", "100"]


def test_bars_hold_their_figures() -> None:
    assert interval_bar(0.0, 0.5, 1.0, 10) == "-----o----"
    assert interval_bar(0.31, 0.31, 0.31, 10) == "...o......"
    assert interval_bar(0.85, 0.93, 0.999, 10) == "........-o"
    assert [len(count_bar(n, 1000)) for n in (0, 1, 500, 1000)] == [0, 1, 15, 30]
