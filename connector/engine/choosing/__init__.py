"""Who labels what next: the rule, and an index that does not look at every task to follow it.

Nothing here knows a database, a broker or a clock: the service feeds it from the log's fold, and
`crowdresolve simulate` from a crowd in memory.
"""

from .chooser import ALL_SEEN, NO_OPEN_TASK, Choice, Chooser
from .rule import Facts, Rules, Standing, margin

__all__ = [
    "ALL_SEEN",
    "NO_OPEN_TASK",
    "Choice",
    "Chooser",
    "Facts",
    "Rules",
    "Standing",
    "margin",
]
