"""README.md as parts: what is generated, what is code, what is run, what is cited."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .tables import TABLES

REPOSITORY = Path(__file__).parents[2]
README = REPOSITORY / "README.md"

_GENERATED = re.compile(r"(<!-- generated: ([a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
_FENCED = re.compile(
    r"(?:<!-- run: ([a-z-]+) -->\n)?^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE
)
_INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")


class Block(NamedTuple):
    """A fenced piece of code; `run` names the script that it is a part of, if any."""

    run: str
    language: str
    text: str


def renewed(text: str) -> str:
    """The text with every generated part made anew.

    Raises:
        KeyError: a part that there is not.
    """

    def part(found: re.Match[str]) -> str:
        return found[1] + TABLES[found[2]]().strip("\n") + "\n" + found[3]

    return _GENERATED.sub(part, text)


def generated(text: str) -> list[str]:
    """Names of the generated parts, in order."""
    return [found[2] for found in _GENERATED.finditer(text)]


def blocks(text: str, language: str | None = None) -> Iterator[Block]:
    """The fenced code, all of it or that of one language."""
    for found in _FENCED.finditer(text):
        if language in (None, found[2]):
            yield Block(found[1] or "", found[2], found[3])


def inline(text: str) -> Iterator[str]:
    """What stands between backticks outside of fenced code."""
    for found in _INLINE.finditer(_FENCED.sub("", text)):
        yield found[1]


def script(text: str, name: str) -> str:
    """The shell script that the blocks marked `<!-- run: name -->` are."""
    return "".join(b.text for b in blocks(text, "sh") if b.run == name)


def commands(text: str) -> Iterator[list[str]]:
    """The words after `crowdresolve` of every command line that the text shows."""
    shown = [b.text.replace("\\\n", " ") for b in blocks(text, "sh")]
    shown = [line for block in shown for line in block.splitlines()]
    for line in [*shown, *inline(text)]:
        for found in re.finditer(r"(?<![\w/.-])crowdresolve ([^|&;<>#\n]*)", line):
            words = found[1].replace('"', " ").replace("'", " ").split()
            if (
                words and words[0] == "crowdresolve"
            ):  # `docker compose exec crowdresolve crowdresolve`
                words = words[1:]
            if words and re.match(r"[a-z-]", words[0]):
                yield words


def cited(text: str) -> Iterator[tuple[str, str]]:
    """Each `tests/...py::test_...` that the text names."""
    for found in re.finditer(r"(tests/[\w/]+\.py)::(\w+)", text):
        yield found[1], found[2]


def anchors(text: str) -> set[str]:
    """The anchors of the headings, as GitHub makes them."""
    plain = _FENCED.sub("", text)
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        for heading in re.findall(r"^#+ (.+)$", plain, re.MULTILINE)
    }


def links(text: str) -> Iterator[str]:
    """Targets of the links and pictures."""
    for found in re.finditer(r"\]\(([^)\s]+)\)", _FENCED.sub("", text)):
        yield found[1]
