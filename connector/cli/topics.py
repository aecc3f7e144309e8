"""`crowdresolve topics`: the four topics of the service."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from connector.settings import Loaded, Settings

from .options import TOPICS, command_with
from .terminal import result, say, waiting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from connector.adapters.kafka.client import ClientSettings
    from connector.adapters.kafka.topics import TopicReport

app = typer.Typer(no_args_is_help=True, help="The Kafka topics of the service.")


@app.command()
@command_with("bootstrap_servers", "kafka", *TOPICS, "partitions", "replication_factor")
def create(loaded: Loaded) -> None:
    """Make the topics that are missing, each with its settings; change none that exists.

    Choose the number of partitions well: it is the most processes that can share the work, and it
    cannot be changed later without replaying everything.
    """
    from .clients import kafka_client

    client = kafka_client(loaded.settings, loaded.origins)
    with waiting(f"Making topics on {client.where}"):
        reports = make_topics(loaded.settings, client, asked=loaded.given("partitions"))
    for report in reports:
        made = "created" if report.created else "exists"
        count = f"{report.partitions} partition{'s' if report.partitions != 1 else ''}"
        copies = (
            "1 copy" if report.replication_factor == 1 else f"{report.replication_factor} copies"
        )
        result(f"{report.name}: {made}, {count}, {copies}")
    for report in reports:
        for problem in report.problems():
            say(f"Warning: {problem}", "yellow")


def make_topics(
    settings: Settings, client: ClientSettings, *, asked: bool = True
) -> Sequence[TopicReport]:
    """Make what is missing.

    Args:
        settings: names, partitions and copies.
        client: how to reach the cluster.
        asked: somebody chose the number of partitions: fewer are worth a warning.
    """
    from connector.adapters.kafka.admin import create_topics

    from .clients import topic_names

    reports = create_topics(
        client,
        topic_names(settings),
        partitions=settings.partitions,
        replication_factor=settings.replication_factor,
    )
    return reports if asked else [r._replace(partitions_wanted=None) for r in reports]
