"""The topics as the contract says, and what `doctor` is told about them."""

from __future__ import annotations

import pytest
from kafka.structs import OffsetAndMetadata
from kafka.structs import TopicPartition as KafkaTopicPartition

from connector.adapters.kafka.admin import PartitionLag, create_topics, describe
from connector.adapters.kafka.topics import TopicNames, TopicReport

from .worlds import KafkaWorld, joined

pytestmark = pytest.mark.services

DAY_MS = 86_400_000


def names(world: KafkaWorld) -> TopicNames:
    return TopicNames(*(f"{world.group}.{name}" for name in TopicNames()))


def by_name(reports: list[TopicReport], topics: TopicNames) -> dict[str, TopicReport]:
    assert [report.name for report in reports] == list(topics)
    return dict(zip(TopicNames._fields, reports, strict=True))


def test_topics_are_created_as_the_contract_says(real: KafkaWorld) -> None:
    topics = names(real)
    reports = by_name(
        create_topics(real.settings, topics, partitions=3, replication_factor=1), topics
    )
    for report in reports.values():
        assert report.created
        assert (report.partitions, report.replication_factor) == (3, 1)
        assert list(report.problems()) == []
    annotations = reports["annotations"].settings
    assert annotations["cleanup.policy"] == "delete"
    assert annotations["retention.ms"] == "-1"
    assert annotations["message.timestamp.type"] == "LogAppendTime"
    assert reports["resolved"].settings["cleanup.policy"] == "compact"
    assert reports["assigned"].settings["retention.ms"] == str(7 * DAY_MS)
    dead = reports["dead"].settings
    assert dead["retention.ms"] == str(30 * DAY_MS)
    assert int(dead["max.message.bytes"]) == int(annotations["max.message.bytes"]) + 65_536


def test_creating_them_again_changes_nothing(real: KafkaWorld) -> None:
    topics = names(real)
    first = create_topics(real.settings, topics, partitions=2)
    again = create_topics(real.settings, topics, partitions=2)
    assert [report._replace(created=True) for report in again] == first
    assert not any(report.created for report in again)


def test_without_numbers_the_brokers_defaults_hold(real: KafkaWorld) -> None:
    for report in create_topics(real.settings, names(real)):
        assert report.partitions >= 1
        assert list(report.problems()) == []


def test_what_differs_in_existing_topics_is_listed_and_left(real: KafkaWorld) -> None:
    topics = names(real)
    shape = {
        "num_partitions": 2,
        "replication_factor": 1,
        "configs": {"retention.ms": "1000000", "max.message.bytes": "2000000"},
    }
    real.admin.create_topics({topics.annotations: shape}, wait_for_metadata=True)
    reports = by_name(create_topics(real.settings, topics, partitions=3), topics)
    annotations = reports["annotations"]
    assert not annotations.created
    assert annotations.too_few_partitions
    assert annotations.differing == {
        "retention.ms": ("-1", "1000000"),
        "message.timestamp.type": ("LogAppendTime", "CreateTime"),
    }
    assert len(list(annotations.problems())) == 3
    assert reports["dead"].settings["max.message.bytes"] == str(2_000_000 + 65_536)


def test_doctor_is_told_what_is_missing(real: KafkaWorld) -> None:
    report = describe(real.settings, names(real), real.group)
    assert report.brokers >= 1
    assert report.transactions
    assert [list(topic.problems()) for topic in report.topics] == [
        [f"{name} does not exist"] for name in names(real)
    ]
    assert report.lag == ()


def test_doctor_is_told_how_far_the_group_is_behind(real: KafkaWorld) -> None:
    topics = names(real)
    create_topics(real.settings, topics, partitions=2)
    for _ in range(5):
        real.produce(topics.annotations, b"vote")
    source = real.source(topics.annotations)
    joined(source, start=None)
    here = KafkaTopicPartition(topics.annotations, 0)
    real.admin.alter_group_offsets(real.group + "-other", {here: OffsetAndMetadata(2, "", -1)})
    report = describe(real.settings, topics, real.group)
    assert (report.group_state.lower(), report.group_members) == ("stable", 1)
    assert report.lag == (PartitionLag(0, None, 5), PartitionLag(1, None, 0))
    other = describe(real.settings, topics, real.group + "-other")
    assert [lag.lag for lag in other.lag] == [3, None]
