"""`crowdresolve demo`: the whole service on this machine, with a simulated crowd."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from connector import logs
from connector.settings import Loaded, Settings

from .options import command_with
from .terminal import out, say

if TYPE_CHECKING:
    from connector.adapters.memory.broker import MemoryBroker
    from connector.demo.service import Service
    from connector.demo.stage import Stage

INTERRUPTED = 130


@command_with()
def demo(
    loaded: Loaded,
    keep: Annotated[
        bool, typer.Option("--keep", help="Leave everything running until Ctrl-C, with addresses.")
    ] = False,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", min=0, help="Of the crowd, and of the truth.")
    ] = 0,
    tasks: Annotated[
        int, typer.Option("--tasks", metavar="N", min=1, max=5000, help="How many.")
    ] = 300,
    workers: Annotated[
        int, typer.Option("--workers", metavar="N", min=2, max=1000, help="How many.")
    ] = 40,
) -> None:
    """See the whole service at work on this machine, in under a minute.

    An embedded broker, SQLite in a temporary directory, the real consumer, and a simulated crowd
    of differing skill that labels whatever is undecided. Nothing is left behind.
    """
    from connector.demo.crowd import Crowd
    from connector.demo.ending import ending
    from connector.demo.platform import Platform
    from connector.demo.play import play
    from connector.demo.show import showing
    from connector.demo.stage import stage
    from connector.demo.telling import commands, tell

    console = out()
    if not loaded.given("log_level"):  # the demo speaks for itself
        logs.configure(loaded.settings.log_format, "warning")
    with _ended_in_order():
        try:
            with stage(_in_memory, say) as on:
                if on.missing is not None:
                    say(f"No embedded broker: {on.missing}. The in-memory broker stands in for it.")
                platform = Platform(Crowd(tasks, workers, seed), seed)
                with showing(console, platform) as show:
                    seconds = play(on, platform, show)
                tell(console, ending(on, platform, seed), seconds)
                console.print()
                if keep:
                    _keep(on, commands(on))
        except KeyboardInterrupt:
            say("Stopped.")
            raise typer.Exit(INTERRUPTED) from None
    if not keep:
        console.print("Next:")
        for command in commands(None):
            console.print(Text(f"  {command}"), soft_wrap=True)


def _keep(on: Stage, commands: list[str]) -> None:
    """Say where everything is, and wait for Ctrl-C."""
    from connector.demo.stage import TOPICS

    console = out()
    console.print("Still running:")
    broker = "in the memory of this process" if on.bootstrap is None else on.bootstrap
    console.print(f"  broker    {broker}")
    console.print(f"  topics    {', '.join(TOPICS)}")
    console.print(Text(f"  database  {on.database}"), soft_wrap=True)
    console.print("Next, in another terminal:")
    for command in commands:
        console.print(Text(f"  {command}"), soft_wrap=True)
    console.print("Ctrl-C ends it and removes its files.")
    try:
        while True:
            on.service.check()
            time.sleep(0.2)
    except KeyboardInterrupt:
        say("Ending ...")


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """SIGTERM as Ctrl-C: what was started is ended, and its files removed."""

    def interrupt(signum: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _in_memory(broker: MemoryBroker, database: str) -> Iterator[Service]:
    """The service in a thread, where there is no broker that another process could reach."""
    from connector.adapters.memory.sink import MemorySink
    from connector.adapters.memory.source import MemorySource
    from connector.demo.service import service_thread

    from .wiring import assemble, open_database

    settings = Settings(database=database)
    dead = settings.topic_dead
    store = open_database(database)
    source = MemorySource(
        broker,
        group=settings.group,
        topic=settings.topic_annotations,
        on_revoke=lambda partitions, lost: parts.consumer.on_revoke(partitions, lost),
        batch_size=settings.batch_size,
    )
    parts = assemble(
        settings,
        store,
        source,
        lambda: MemorySink(broker, transactional_id="demo", dead_topic=dead),
    )
    with closing(store), service_thread(parts.consumer.run, parts.consumer.stop) as service:
        yield service
