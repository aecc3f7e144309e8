"""Whether anything has happened to a project since its last run."""

from __future__ import annotations

from hashlib import blake2b

import msgspec

from connector.domain.config import ProjectConfig


class Mark(msgspec.Struct, frozen=True):
    """What the database says of a project's votes, in a few numbers.

    Attributes:
        arrivals: votes that were ever cast, replacing ones among them.
        uses: how many present votes and gold truths name each class.
        gold: digest of the gold tasks and their truths.
        blocked: digest of the blocked workers.
        config: digest of what the declaration says to the methods.
    """

    arrivals: int
    uses: tuple[int, ...]
    gold: str
    blocked: str
    config: str

    def changes_since(self, last: Mark) -> int:
        """How many votes were cast, or taken out, whichever is more."""
        if len(self.uses) != len(last.uses):
            return max(self.arrivals - last.arrivals, 1)
        moved = sum(abs(a - b) for a, b in zip(self.uses, last.uses, strict=True))
        return max(self.arrivals - last.arrivals, moved)

    def due(self, last: Mark | None, min_new_votes: int) -> bool:
        """Whether a run is due.

        Args:
            last: as it was at the last run, None before the first.
            min_new_votes: how many votes must have changed. Gold, blocks and declarations change
                what every vote is worth: one of them is enough.
        """
        if last is None:
            return self.arrivals >= min_new_votes and sum(self.uses) > 0
        if (self.gold, self.blocked, self.config) != (last.gold, last.blocked, last.config):
            return True
        return self.changes_since(last) >= min_new_votes


def config_digest(config: ProjectConfig) -> str:
    """Equal where kind, classes, priors and method are."""
    said = (
        config.kind,
        config.classes,
        config.class_prior,
        config.alpha,
        config.beta,
        config.algorithm,
    )
    return blake2b(msgspec.json.encode(said), digest_size=8).hexdigest()


def to_text(mark: Mark) -> str:
    """As it is kept."""
    return msgspec.json.encode(mark).decode()


def from_text(text: str | None) -> Mark | None:
    """The reverse; None also for what another release has written."""
    if text is None:
        return None
    try:
        return msgspec.json.decode(text, type=Mark)
    except msgspec.DecodeError:
        return None
