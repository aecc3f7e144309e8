"""What a worker's votes say of the worker: flags that people can act on, confusion counts.

    >>> import numpy as np
    >>> from aggregators.quality import flag_workers
    >>> task = np.repeat(np.arange(60), 4)
    >>> worker = np.tile(np.arange(4), 60)
    >>> truth = np.arange(60) % 2
    >>> label = np.where(worker < 3, truth[task], 0)  # the last one always says 0
    >>> said = flag_workers(task, worker, label, np.eye(2)[truth])
    >>> said[3].flag, said[3].reason
    ('constant', 'class 0 in 60 of 60 votes, though about 30 of those tasks are something else')

Every test keeps its false-alarm rate (`LEVEL`, one in a hundred honest workers) over a worker's
whole life, however often it is looked at: intervals and ratios that hold at every moment at once.
"""

from .case import FLAGS
from .confusion import Confusions, expected_confusions
from .flags import LEVEL, WorkerFlag, flag_workers

__all__ = ["FLAGS", "LEVEL", "Confusions", "WorkerFlag", "expected_confusions", "flag_workers"]
