"""Kafka: there, with transactions, its topics as they should be, the group at work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from connector.adapters.kafka.admin import describe
from connector.domain.errors import ConfigurationError, DependencyError

from .check import Check, failed, ok, warning

if TYPE_CHECKING:
    from connector.adapters.kafka.admin import ClusterReport
    from connector.adapters.kafka.client import ClientSettings
    from connector.adapters.kafka.topics import TopicNames, TopicReport
    from connector.settings import Settings

SHOWN = 8
TOLD = ("cleanup.policy", "retention.ms", "message.timestamp.type")


def look(
    client: ClientSettings,
    names: TopicNames,
    settings: Settings,
    expected: Mapping[int, int] | None,
    partitions: int | None,
) -> Iterator[Check]:
    """Connects.

    Args:
        client: how to reach it.
        names: the topics.
        settings: group and delivery.
        expected: what the database expects next, per partition; None where it is not known.
        partitions: what the database knows of the annotations topic, None: nothing yet.
    """
    try:
        report = describe(client, names, settings.group)
    except DependencyError as error:
        yield failed(
            "broker", str(error), "start it, or correct --bootstrap-servers", unreachable=True
        )
        return
    except ConfigurationError as error:
        yield failed("broker", str(error), "see there")
        return
    brokers = f"{report.brokers} broker{'s' if report.brokers != 1 else ''}"
    yield ok("broker", f"{client.where}: {brokers}, Kafka {report.version} or newer")
    yield _transactions(report, settings)
    for topic in report.topics:
        yield _topic(topic, report.brokers)
    annotations = report.topics[0]
    if annotations.exists:
        if partitions is not None:
            yield _partitions(annotations, partitions)
        yield _group(report, settings)
        if expected is not None:
            yield _offsets(report, expected)


def _transactions(report: ClusterReport, settings: Settings) -> Check:
    if report.transactions:
        return ok("transactions", f"supported; delivery is {settings.delivery}")
    if settings.delivery == "at_least_once":
        return ok("transactions", "not supported, and not needed: delivery is at_least_once")
    return failed(
        "transactions",
        "the broker does not support them",
        "use Apache Kafka 2.5 or newer, or --delivery at_least_once",
    )


def _topic(topic: TopicReport, brokers: int) -> Check:
    what = f"topic {topic.name}"
    if not topic.exists:
        return failed(what, "does not exist", "`crowdresolve topics create` makes it")
    copies = "1 copy" if topic.replication_factor == 1 else f"{topic.replication_factor} copies"
    found = f"{topic.partitions} partition{'s' if topic.partitions != 1 else ''}, {copies}"
    if topic.differing:
        said = ", ".join(f"{key} = {has}" for key, (_, has) in topic.differing.items())
        wanted = ",".join(f"{key}={want}" for key, (want, _) in topic.differing.items())
        return warning(
            what,
            f"{found}; {said}",
            f"kafka-configs.sh --alter --entity-type topics --entity-name {topic.name}"
            f" --add-config {wanted}",
        )
    if topic.replication_factor < min(2, brokers):
        return warning(what, found, "one broker's loss loses it: give it 3 copies")
    said = ", ".join(f"{key} = {topic.settings[key]}" for key in TOLD if key in topic.settings)
    return ok(what, f"{found}; {said}" if said else found)


def _partitions(topic: TopicReport, known: int) -> Check:
    if topic.partitions == known:
        return ok("partition count", f"{known}, as the database knows it")
    return failed(
        "partition count",
        f"{topic.name} has {topic.partitions}, the database was made from {known}",
        f"`run` refuses it: make a new topic with {topic.partitions} partitions, send the old"
        " one's records to it in order, and start with an empty database",
    )


def _group(report: ClusterReport, settings: Settings) -> Check:
    waiting = sum(p.lag if p.lag is not None else p.end for p in report.lag)
    parts = [
        f"{p.partition}: {p.lag if p.lag is not None else p.end}"
        for p in report.lag
        if (p.lag if p.lag is not None else p.end) > 0
    ]
    shown = f" (partition {', '.join(parts[:SHOWN])})" if parts else ""
    members = f"{report.group_members} member{'s' if report.group_members != 1 else ''}"
    found = f"{settings.group} is {report.group_state.lower()}, {members}, lag {waiting}{shown}"
    if report.group_members == 0:
        return warning("consumer group", found, "nobody consumes: start `crowdresolve run`")
    return ok("consumer group", found)


def _offsets(report: ClusterReport, expected: Mapping[int, int]) -> Check:
    for p in report.lag:
        following = expected.get(p.partition, 0)
        if following > p.end:
            return failed(
                "offsets",
                f"partition {p.partition}: the database expects offset {following}, the topic ends"
                f" at {p.end}",
                "point --bootstrap-servers at the right cluster, or start with an empty database",
            )
        if p.committed is not None and p.committed > following:
            return failed(
                "offsets",
                f"partition {p.partition}: the group stands at {p.committed}, the database at"
                f" {following}: it was emptied, or restored from an older backup",
                "point --database at the right one, or `crowdresolve run --rebuild`",
            )
    return ok("offsets", "database and group fit together")
