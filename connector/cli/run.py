"""`crowdresolve run`: the consumer."""

from __future__ import annotations

import gc
import sys

import structlog
import typer

from connector.domain.errors import CrowdResolveError
from connector.settings import Loaded

from .options import ALL, command_with

log = structlog.get_logger("crowdresolve")


def tune_interpreter() -> None:
    """Make Python's own habits fit a service of a few busy threads.

    The garbage collector looks seldom, as the engine's objects form no cycles: by default a full
    collection walks every task in memory, tens of milliseconds at a time, and takes a tenth of the
    engine's time.  Threads are handed the interpreter after 0.5 ms instead of 5: the loop would
    else wait that long for it at each turn (6 % of the whole path).
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)
    sys.setswitchinterval(0.0005)


@command_with(*ALL, service=True)
def run(loaded: Loaded) -> None:
    """Consume annotation events, and publish what they resolve.

    Makes the schema in an empty database. SIGTERM ends it cleanly, with exit code 0; a second one
    at once.
    """
    from .clients import database, kafka_client, shown_database
    from .stopping import Stop
    from .topics import make_topics
    from .wiring import build_consumer, open_database

    settings = loaded.settings
    stop = Stop()
    client = kafka_client(settings, loaded.origins)
    url = database(loaded)
    log.info("starting", database=shown_database(url), brokers=client.where)
    store = open_database(url)
    try:
        if settings.create_topics:
            for report in make_topics(settings, client):
                log.info(
                    "topic", topic=report.name, partitions=report.partitions, created=report.created
                )
        parts = build_consumer(
            settings, store, client=client, stable_instance=loaded.given("instance")
        )
        stop.parts = parts
        log.info(
            "connecting",
            group=settings.group,
            instance=settings.instance,
            topic=settings.topic_annotations,
            delivery=settings.delivery,
        )
        tune_interpreter()
        parts.consumer.run()
    except CrowdResolveError:
        raise
    except Exception:
        # A mistake of ours. Its trace must not break a log whose lines are JSON.
        log.critical("crashed", exc_info=True)
        raise typer.Exit(1) from None
    finally:
        store.close()
