"""Log lines."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from connector import logs


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    root = logging.getLogger()
    before = root.handlers[:], root.level
    yield
    root.handlers[:], level = before[0], before[1]
    root.setLevel(level)
    structlog.reset_defaults()


def test_every_line_is_one_json_object_with_an_event_name(
    capsys: pytest.CaptureFixture[str],
) -> None:
    logs.configure("json", "info")
    structlog.get_logger("crowdresolve").info("progress", records=3)
    logging.getLogger("connector.adapters").warning("it took %d s", 7)
    try:
        raise ValueError("no")
    except ValueError:
        structlog.get_logger("crowdresolve").exception("failed")
    first, second, third = (json.loads(line) for line in capsys.readouterr().err.splitlines())
    assert (first["event"], first["level"], first["records"]) == ("progress", "info", 3)
    assert first["at"].endswith("Z")
    assert (second["event"], second["message"]) == ("log", "it took 7 s")
    assert second["logger"] == "connector.adapters"
    assert "ValueError: no" in third["exception"]


def test_lines_below_the_level_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("json", "warning")
    structlog.get_logger("crowdresolve").info("progress")
    logging.getLogger("connector").info("progress")
    logging.getLogger("kafka").error("of the client, which our own lines say better")
    assert capsys.readouterr().err == ""


def test_a_traceback_for_people_shows_no_local_variables(
    capsys: pytest.CaptureFixture[str],
) -> None:
    logs.configure("console", "info")
    password = "hush"
    try:
        raise ValueError(len(password))
    except ValueError:
        structlog.get_logger("crowdresolve").exception("failed")
    shown = capsys.readouterr().err
    assert "ValueError: 4" in shown
    assert "hush'" not in shown
