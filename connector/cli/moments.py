"""Times as people give them."""

from __future__ import annotations

import re
import time

from connector.domain.instants import parse_instant

_UNITS_S = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


def span(text: str, flag: str) -> float:
    """Seconds of `90s`, `15m`, `12h`, `7d`.

    Raises:
        typer.BadParameter: it is none of these, or no time at all.
    """
    import typer

    found = re.fullmatch(r"(\d{1,9})\s*([smhd])", text)
    if found is None or not int(found.group(1)):
        raise typer.BadParameter(f"{text!r} is not like 90s, 15m, 12h, 7d", param_hint=flag)
    return float(int(found.group(1)) * _UNITS_S[found.group(2)])


def parsed(text: str, flag: str) -> int:
    """Microseconds since 1970 of an RFC 3339 time, or of `90m`, `12h`, `7d` ago.

    Raises:
        typer.BadParameter: it is neither.
    """
    import typer

    ago = re.fullmatch(r"(\d{1,9})\s*([smhd])", text)
    if ago:
        return int((time.time() - int(ago.group(1)) * _UNITS_S[ago.group(2)]) * 1_000_000)
    try:
        return parse_instant(text)
    except ValueError as error:
        raise typer.BadParameter(f"{error}, or 90m, 12h, 7d ago", param_hint=flag) from None
