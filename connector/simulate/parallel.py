"""Independent runs, in as many processes as there are to be had."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

Progress = Callable[[int, int], None]
"""Called with (runs done, runs in all)."""


def silent(done: int, total: int) -> None:
    """No progress wanted."""


def each(
    work: Callable[[T], R], jobs: Sequence[T], processes: int = 1, progress: Progress = silent
) -> list[R]:
    """``work`` of each job, in the jobs' order, whichever ends first.

    Args:
        work: a function of a module, since it is sent to other processes.
        jobs: the arguments.
        processes: 1: all in this one.
        progress: told after each.
    """
    found: dict[int, R] = {}
    progress(0, len(jobs))
    for place, result in _done(work, jobs, min(processes, len(jobs))):
        found[place] = result
        progress(len(found), len(jobs))
    return [found[place] for place in range(len(jobs))]


def _done(work: Callable[[T], R], jobs: Sequence[T], processes: int) -> Iterator[tuple[int, R]]:
    if processes <= 1:
        yield from ((place, work(job)) for place, job in enumerate(jobs))
        return
    # Not by fork: this process may have threads.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        waiting = {pool.submit(work, job): place for place, job in enumerate(jobs)}
        try:
            for future in as_completed(waiting):
                yield waiting[future], future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
