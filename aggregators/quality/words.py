"""A flag's reason, as people read it, and its numbers by name."""

from __future__ import annotations

from collections.abc import Mapping

from .case import Case, inaccurate


def reason(flag: str, c: Case) -> str:
    """One sentence without a full stop."""
    chance = percent(c.chance)
    between = f"right in {percent(c.lower)}-{percent(c.upper)} % of {counted(c.votes)}"
    if flag == "adversarial":
        return f"{between}, below the {chance} % of chance: turned round, the answers would help"
    constant = (
        f"{c.answer} in {c.same:,} of {counted(c.votes)}, though about"
        f" {c.elsewhere:,.0f} of those tasks are something else"
    )
    if flag == "spammer":
        also = f"; {constant}" if c.constant else ""
        if not inaccurate(c):
            return f"{counted(c.votes)} do not follow the task: in any order as many would be right"
        if c.upper < c.chance:
            return f"{between}, below the {chance} % of chance, though not reversed{also}"
        return f"{between}, around the {chance} % of chance and below {percent(c.limit)} %{also}"
    if flag == "constant":
        return constant
    if flag == "gold_failed":
        return (
            f"{c.gold_right:,} of {c.gold:,} gold tasks right: surely fewer than"
            f" {percent(c.limit)} % in the long run"
        )
    if flag == "drifting" and c.change is not None:
        d = c.change
        return (
            f"{d.right:,} of the latest {d.block:,} clear tasks right, {d.before:,} of"
            f" {d.earlier:,} before (without a change {one_in(d.chance)} would look so)"
        )
    if flag == "too_few":
        if not c.votes:
            return "no votes"
        if c.lower > c.chance:
            return f"{between}: too little yet to tell from giving the commonest answer"
        return f"{between}: too little yet to tell from chance ({chance} %)"
    if c.lower > c.chance:
        return f"{between}, above the {chance} % of chance"
    return f"{between}, and answers follow the task"


def numbers(flag: str, c: Case) -> Mapping[str, float]:
    """What the flag rests on."""
    found: dict[str, float] = {
        "votes": c.votes,
        "accuracy": c.accuracy,
        "lower": c.lower,
        "upper": c.upper,
        "chance": c.chance,
        "follows": c.follows,
        "follows_lower": c.follows - c.reach,
        "follows_upper": c.follows + c.reach,
    }
    if flag in ("spammer", "gold_failed"):
        found["limit"] = c.limit
    if flag == "constant":
        found |= {"same": c.same, "elsewhere": c.elsewhere}
    if flag == "gold_failed":
        found |= {"gold": c.gold, "gold_right": c.gold_right}
    if flag == "drifting" and c.change is not None:
        found |= c.change._asdict()
    return found


def one_in(chance: float) -> str:
    """A small probability in words: `1 in 2,500`."""
    times = 1.0 / max(chance, 1e-300)
    return "fewer than 1 in a million" if times > 1e6 else f"1 in {times:,.0f}"


def counted(votes: int) -> str:
    """`1 vote`, `1,234 votes`."""
    return f"{votes:,} vote" + ("" if votes == 1 else "s")


def percent(share: float) -> str:
    """Without a fraction."""
    return f"{100 * share:.0f}"
