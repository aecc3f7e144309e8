"""Making topics, and looking at the cluster for `doctor`."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import kafka.structs
from kafka import KafkaAdminClient, errors
from kafka.admin import ConfigResource, ConfigResourceType
from kafka.protocol.consumer import IsolationLevel, OffsetSpec

from connector.domain.errors import CrowdResolveError, DependencyError

from . import quirks
from .client import ClientSettings
from .connecting import PATIENCE, connecting, within
from .faults import explained
from .topics import (
    READ_KEYS,
    TopicNames,
    TopicReport,
    annotations_settings,
    differences,
    outgoing_settings,
)

_EXISTS = errors.TopicAlreadyExistsError.errno
_UNKNOWN = errors.UnknownTopicOrPartitionError.errno


class PartitionLag(NamedTuple):
    """How far the group is behind on one partition."""

    partition: int
    committed: int | None
    end: int

    @property
    def lag(self) -> int | None:
        """Records not yet published; None before the first commit."""
        return None if self.committed is None else max(0, self.end - self.committed)


class ClusterReport(NamedTuple):
    """What `doctor` wants to know."""

    cluster_id: str | None
    brokers: int
    version: str
    """The newest release whose requests the broker knows: a lower bound."""
    transactions: bool
    """With the check of the group's membership that exactly once needs (Kafka 2.5)."""
    topics: tuple[TopicReport, ...]
    group_state: str
    group_members: int
    lag: tuple[PartitionLag, ...]


def create_topics(
    settings: ClientSettings,
    names: TopicNames,
    *,
    partitions: int | None = None,
    replication_factor: int | None = None,
) -> list[TopicReport]:
    """Make the topics that are missing; change none that exists.

    Blocks up to a minute. Without a number the broker's default holds.

    Raises:
        DependencyError: no broker answers.
        ConfigurationError: access is denied, or the cluster does not allow it.
    """
    with _admin(settings) as admin:
        shape = {
            "num_partitions": -1 if partitions is None else partitions,
            "replication_factor": -1 if replication_factor is None else replication_factor,
        }
        wanted = {names.annotations: annotations_settings()}
        created = _create(admin, wanted, shape)
        limit = _settings(admin, [names.annotations])[names.annotations].get("max.message.bytes")
        outgoing = outgoing_settings(names, int(limit) if limit else None)
        created |= _create(admin, outgoing, shape)
        wanted |= outgoing
        return _reports(admin, wanted, partitions, created)


def describe(settings: ClientSettings, names: TopicNames, group: str) -> ClusterReport:
    """The cluster, the topics and the group as they are. Blocks up to a minute.

    Raises:
        DependencyError: no broker answers.
        ConfigurationError: access is denied.
    """
    with _admin(settings) as admin:
        cluster = admin.describe_cluster()
        known = quirks.api_versions(admin)
        limit = _settings(admin, [names.annotations])[names.annotations].get("max.message.bytes")
        wanted = {
            names.annotations: annotations_settings(),
            **outgoing_settings(names, int(limit) if limit else None),
        }
        topics = tuple(_reports(admin, wanted, None, set()))
        state, members = _members(admin, group)
        return ClusterReport(
            cluster_id=cluster.get("cluster_id"),
            brokers=len(cluster["brokers"]),
            version=".".join(str(part) for part in quirks.broker_version(admin)),
            transactions=known.get("InitProducerId", -1) >= 0
            and known.get("EndTxn", -1) >= 0
            and known.get("TxnOffsetCommit", -1) >= 3,
            topics=topics,
            group_state=state,
            group_members=members,
            lag=_lag(admin, group, topics[0]),
        )


_COORDINATOR_S = 15.0


@contextlib.contextmanager
def _admin(settings: ClientSettings) -> Iterator[KafkaAdminClient]:
    with connecting("admin client", settings) as client:
        admin = KafkaAdminClient(**settings.admin(**PATIENCE, kafka_client=client))
    try:
        yield admin
    except CrowdResolveError:
        raise
    except errors.KafkaError as error:
        raise explained(error, f"cannot administer {settings.where}") from error
    except RuntimeError as error:
        raise DependencyError(f"cannot administer {settings.where}: {error}") from error
    finally:
        within(5.0, "close the admin client", admin.close)


def _create(
    admin: KafkaAdminClient, wanted: Mapping[str, Mapping[str, str]], shape: Mapping[str, int]
) -> set[str]:
    """The names of those that were not there before."""
    answer = admin.create_topics(
        {name: {**shape, "configs": dict(configs)} for name, configs in wanted.items()},
        raise_errors=False,
    )
    created = set()
    for topic in answer["topics"]:
        if topic["error_code"] == 0:
            created.add(topic["name"])
        elif topic["error_code"] != _EXISTS:
            error = errors.for_code(topic["error_code"])(topic.get("error_message"))
            raise explained(error, f"cannot create topic {topic['name']}") from error
    admin.wait_for_topics(list(wanted), timeout_ms=30_000)
    return created


def _reports(
    admin: KafkaAdminClient,
    wanted: Mapping[str, Mapping[str, str]],
    partitions: int | None,
    created: set[str],
) -> list[TopicReport]:
    found = {topic["name"]: topic for topic in admin.describe_topics(list(wanted))}
    settings = _settings(admin, list(wanted))
    reports = []
    for name, configs in wanted.items():
        topic = found.get(name, {"error_code": _UNKNOWN})
        if topic["error_code"] == _UNKNOWN:
            reports.append(TopicReport(name, exists=False))
            continue
        if topic["error_code"] != 0:
            error = errors.for_code(topic["error_code"])(name)
            raise explained(error, f"cannot describe topic {name}") from error
        parts = topic["partitions"]
        reports.append(
            TopicReport(
                name,
                exists=True,
                created=name in created,
                partitions=len(parts),
                partitions_wanted=partitions,
                replication_factor=min((len(part["replica_nodes"]) for part in parts), default=0),
                settings=settings[name],
                differing=differences(configs, settings[name]),
            )
        )
    return reports


def _settings(admin: KafkaAdminClient, names: list[str]) -> dict[str, dict[str, str]]:
    """Of the topics that exist, as far as reading them is allowed."""
    resources = [ConfigResource(ConfigResourceType.TOPIC, name) for name in names]
    answer = admin.describe_configs(resources, config_filter="all").get("topic", {})
    return {
        name: {
            key: str(setting["value"])
            for key, setting in answer.get(name, {}).items()
            if key in READ_KEYS and setting["value"] is not None
        }
        for name in names
    }


def _coordinated(ask: Callable[[], Any]) -> Any:
    """Ask a group's coordinator.

    On a new cluster the first question only makes the broker choose one.
    """
    until = time.monotonic() + _COORDINATOR_S
    while True:
        try:
            return ask()
        except (errors.CoordinatorNotAvailableError, errors.NotCoordinatorError):
            if time.monotonic() > until:
                raise
            time.sleep(0.25)


def _members(admin: KafkaAdminClient, group: str) -> tuple[str, int]:
    """The group's state and how many members it has."""
    try:
        found = _coordinated(lambda: admin.describe_groups([group]))[group]
    except ValueError:
        # The broker names a right that the client does not know; it then gives up on the answer.
        return "unknown", 0
    return str(found["group_state"]), len(found["members"])


def _lag(admin: KafkaAdminClient, group: str, topic: TopicReport) -> tuple[PartitionLag, ...]:
    if not topic.exists:
        return ()
    where = [kafka.structs.TopicPartition(topic.name, n) for n in range(topic.partitions)]
    ends: Mapping[Any, Any] = admin.list_partition_offsets(
        dict.fromkeys(where, OffsetSpec.LATEST), isolation_level=IsolationLevel.READ_COMMITTED
    )
    committed: Mapping[Any, Any] = _coordinated(lambda: admin.list_group_offsets({group: where}))[
        group
    ]
    return tuple(
        PartitionLag(
            partition.partition,
            committed[partition].offset
            if partition in committed and committed[partition].offset >= 0
            else None,
            ends[partition].offset,
        )
        for partition in where
    )
