"""Votes, skips and retractions: what each does, checks first, then changes."""

from __future__ import annotations

from typing import TypeVar

from . import model
from .events import Retracted, Skipped, Stamp, Submitted, compare
from .fields import Rejected
from .project import Project
from .state import Pair, Vote
from .turn import APPLIED, DUPLICATE, STALE, Turn, check_class

Key = TypeVar("Key")


def newest(new: Stamp, last: Stamp | None) -> Stamp:
    """What is remembered of two retractions: the newer, lacking fields from the other."""
    if last is None:
        return new
    return last.filled_from(new) if compare(new, last) == -1 else new.filled_from(last)


def submit(turn: Turn, project: Project, vote: Submitted) -> str:
    pair = (vote.task, vote.worker)
    check_class(project, vote.label)
    annotation_id = vote.annotation_id
    if annotation_id is not None:
        if project.owners.get(annotation_id, pair) != pair:
            raise Rejected("annotation_id_conflict", annotation_id)
        gone = project.id_retractions.get(annotation_id)
        if gone is not None and compare(vote.stamp, gone) != 1:
            return STALE
    gone = project.retractions.get(pair)
    if gone is not None and compare(vote.stamp, gone) in (-1, 0):
        return STALE
    present = project.present.get(pair)
    if present is not None:
        order = compare(vote.stamp, present.stamp)
        if order == -1:
            return STALE
        if order == 0 or (order is None and vote.label == present.label):
            return DUPLICATE

    task, worker = turn.task(project, vote.task), turn.worker(project, vote.worker)
    if present is not None:
        turn.remove(project, present)
    p = model.vote_p(project.S(worker), len(worker.votes), project.config.worker_prior)
    new = Vote(task.name, worker.name, vote.label, vote.stamp, annotation_id, turn.record.offset, p)
    task.votes.append(new)
    worker.votes.append(new)
    worker.changed(turn.time)
    project.present[pair] = new
    project.ever_voted.add(pair)
    project.skips.discard(pair)
    project.leases.pop(pair, None)
    if annotation_id is not None:
        project.owners.setdefault(annotation_id, pair)
    if not worker.blocked:
        is_expert = worker.name in project.config.experts
        turn.touch(project, task, expert=vote.label if is_expert else None)
    turn.write_history(project, worker)
    return APPLIED


def skip(turn: Turn, project: Project, event: Skipped) -> str:
    pair = (event.task, event.worker)
    outcome = retract(turn, project, pair, event.stamp)
    if outcome == STALE or (outcome == DUPLICATE and pair in project.skips):
        return outcome
    project.skips.add(pair)
    project.leases.pop(pair, None)
    return APPLIED


def retract(turn: Turn, project: Project, pair: Pair, stamp: Stamp) -> str:
    present = project.present.get(pair)
    if present is not None:
        return retract_vote(turn, project, present, stamp)
    outcome = remember(project.retractions, pair, stamp)
    if outcome == APPLIED:
        turn.task(project, pair[0])
        turn.worker(project, pair[1])
    return outcome


def retract_id(turn: Turn, project: Project, annotation_id: str, event: Retracted) -> str:
    owner = project.owners.get(annotation_id)
    if owner is not None:
        if event.task not in (None, owner[0]) or event.worker not in (None, owner[1]):
            raise Rejected("annotation_id_conflict", annotation_id)
        present = project.present.get(owner)
        if present is not None and present.annotation_id == annotation_id:
            return retract_vote(turn, project, present, event.stamp)
    return remember(project.id_retractions, annotation_id, event.stamp)


def retract_vote(turn: Turn, project: Project, vote: Vote, stamp: Stamp) -> str:
    if compare(stamp, vote.stamp) == -1:
        return STALE
    pair = (vote.task, vote.worker)
    filled = stamp.filled_from(vote.stamp)
    project.retractions[pair] = newest(filled, project.retractions.get(pair))
    if vote.annotation_id is not None:
        last = project.id_retractions.get(vote.annotation_id)
        project.id_retractions[vote.annotation_id] = newest(filled, last)
    turn.remove(project, vote)
    worker = project.workers[vote.worker]
    worker.changed(turn.time)
    if not worker.blocked:
        turn.touch(project, project.tasks[vote.task])
    return APPLIED


def remember(memory: dict[Key, Stamp], key: Key, stamp: Stamp) -> str:
    last = memory.get(key)
    if last is not None:
        order = compare(stamp, last)
        if order == -1:
            return STALE
        if order == 0 or stamp.filled_from(last) == last:
            return DUPLICATE
    memory[key] = newest(stamp, last)
    return APPLIED
