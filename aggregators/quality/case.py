"""What is known of one worker, and which flag it makes."""

from __future__ import annotations

from typing import NamedTuple

from .drift import Change

FLAGS = ("adversarial", "spammer", "constant", "gold_failed", "drifting", "too_few", "ok")
"""In order of severity."""

VARIETY = 40.0
"""So much of `Information.variety` before J alone can make a spammer: below it J is not normal."""

LEANING = 0.65
"""A J of 0.3 has at most the standard deviation LEANING / sqrt(variety): sqrt(2 * 0.3 * 0.7)."""

SURE = 2.33
"""Standard deviations of a single look at the level of 1 %."""


class Case(NamedTuple):
    """All that a flag rests on.

    Attributes:
        votes: how many there are.
        accuracy: estimated share of right answers, by the others' votes and gold.
        lower: of its interval, which holds at every look.
        upper: likewise.
        chance: accuracy of answers at random.
        limit: accuracy that a spammer is surely below.
        margin: the same as a share of the way from chance to always right.
        follows: J, share of answers that follow the task (`information`).
        reach: so far from J the real one may be, at every look.
        error: its standard deviation at a single look.
        variety: how many tasks could tell.
        answer: name of the class given most.
        same: votes that gave it.
        elsewhere: expected number of the worker's tasks that are another class.
        constant: whether nearly one answer, whatever the question, is shown.
        gold: votes on gold tasks.
        gold_right: right ones of them.
        gold_upper: of the interval of the accuracy on gold.
        change: a shown change for the worse.
    """

    votes: int
    accuracy: float
    lower: float
    upper: float
    chance: float
    limit: float
    margin: float
    follows: float
    reach: float
    error: float
    variety: float
    answer: str
    same: int
    elsewhere: float
    constant: bool
    gold: int
    gold_right: int
    gold_upper: float
    change: Change | None


def flag_of(c: Case) -> str:
    """The most severe flag that is shown."""
    if c.upper < c.chance and c.follows + SURE * c.error < 0.0:
        return "adversarial"
    if inaccurate(c) or unrelated(c):
        return "spammer"
    if c.constant:
        return "constant"
    if c.gold_upper < c.limit:
        return "gold_failed"
    if c.change is not None:
        return "drifting"
    # Being right as often as the commonest class is there shows nothing yet.
    shown = c.lower > c.chance and c.follows > SURE * c.error
    return "ok" if shown or c.follows > c.reach else "too_few"


def inaccurate(c: Case) -> bool:
    """Around chance, and not only for leaning to answers that are seldom right.

    Surely below chance without being reversed: one answer that is seldom right is `constant`.
    """
    around = c.lower <= c.chance <= c.upper or not c.constant
    return c.upper < c.limit and c.follows < c.margin and around


def unrelated(c: Case) -> bool:
    """The answers do not follow the task, however often they are right: they are as frequent."""
    if c.constant or c.variety < VARIETY:
        return False
    # Of one who leans to an answer J varies more than over the orders of the answers.
    reach = c.reach * max(1.0, LEANING / c.variety**0.5 / c.error) if c.error else 2.0
    return c.follows - c.reach <= 0.0 and c.follows + reach < c.margin
