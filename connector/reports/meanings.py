"""What flags mean, and what one does about each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Meaning(NamedTuple):
    """Of a flag.

    Attributes:
        says: what is shown, a sentence without its capital and its full stop.
        do: what to do, a sentence without its full stop; code between backquotes.
    """

    says: str
    do: str


MEANINGS: Mapping[str, Meaning] = {
    "adversarial": Meaning(
        "wrong more often than by chance",
        "Ask whether labels were mixed up; blocking gains little, as the votes already count the"
        " other way round",
    ),
    "spammer": Meaning(
        "hardly better than chance",
        "Block (`worker.blocked`, or `block_spammers_after` for all), and have the tasks voted on"
        " again",
    ),
    "constant": Meaning(
        "nearly one answer, whatever the question", "Ask why; block as a spammer if it goes on"
    ),
    "gold_failed": Meaning(
        "hardly better than chance on gold tasks, whatever the others say",
        "Go through these gold tasks together: the gold may be wrong, or the instructions unclear",
    ),
    "drifting": Meaning(
        "the latest votes are worse than those before",
        "Ask what has changed; look at the latest tasks",
    ),
    "too_few": Meaning("cannot be told from chance yet", "Wait for more votes, or assign gold"),
    "ok": Meaning("better than chance for sure", "Nothing"),
}
"""By flag, in order of severity."""

UNJUDGED = Meaning("came after the last reconciliation", "Run `crowdresolve reconcile`")
"""Of those who have no flag."""
