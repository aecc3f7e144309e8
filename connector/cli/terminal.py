"""What people see: results on stdout, everything else on stderr; plain lines where no terminal is.

`NO_COLOR` and a missing terminal turn colours and moving lines off.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from connector.domain.errors import CrowdResolveError


def out() -> Console:
    """For results. Made anew, so that it follows a redirected stdout."""
    return Console(highlight=False, soft_wrap=not sys.stdout.isatty())


def err() -> Console:
    """For what is said on the way."""
    return Console(stderr=True, highlight=False, soft_wrap=True)


def say(text: str, style: str = "") -> None:
    """A line on stderr."""
    err().print(Text(text, style=style))


def result(text: str) -> None:
    """A line on stdout."""
    out().print(Text(text))


def as_json(value: Any) -> None:
    """A JSON document on stdout."""
    print(json.dumps(value, indent=2, ensure_ascii=False, default=str))


def tell(error: CrowdResolveError, debug: bool) -> int:
    """Say what went wrong; the exit code that it means."""
    if debug:
        traceback.print_exception(error)
    err().print(Text.assemble(("Error: ", "bold red"), (str(error), "red")))
    return error.exit_code


def rows(
    columns: Sequence[str], lines: Sequence[Sequence[object]], right: Sequence[str] = ()
) -> None:
    """A table on stdout: for people on a terminal, tab-separated elsewhere."""
    if not sys.stdout.isatty():
        print("\t".join(columns))
        for line in lines:
            print("\t".join(_one_line(value) for value in line))
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left")
    for line in lines:
        table.add_row(*(Text(_one_line(value)) for value in line))
    out().print(table)


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """A moving line on stderr while the block runs, on a terminal only."""
    console = err()
    if not console.is_terminal:
        yield
        return
    with console.status(Text(what)):
        yield


def _one_line(value: object) -> str:
    return " ".join(str("" if value is None else value).split())
