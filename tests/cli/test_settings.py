"""Settings: where a value comes from, and what is said of a wrong one."""

from __future__ import annotations

from pathlib import Path

import pytest

from connector.domain.errors import ConfigurationError
from connector.settings import FIELDS, Settings, load


@pytest.fixture(autouse=True)
def empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_flag_wins_over_a_variable_and_that_over_the_file_and_that_over_the_default(
    empty_directory: Path,
) -> None:
    (empty_directory / "crowdresolve.toml").write_text(
        'group = "file"\nbatch_size = 7\ndelivery = "at_least_once"\n'
    )
    environ = {"CROWDRESOLVE_GROUP": "variable", "CROWDRESOLVE_BATCH_SIZE": "8"}
    loaded = load({"group": "flag"}, environ)
    assert loaded.settings.group == "flag"
    assert loaded.settings.batch_size == 8
    assert loaded.settings.delivery == "at_least_once"
    assert loaded.settings.topic_dead == "annotations.dead"
    assert [str(loaded.origin(n)) for n in ("group", "batch_size", "delivery", "topic_dead")] == [
        "--group",
        "CROWDRESOLVE_BATCH_SIZE",
        "`delivery` in crowdresolve.toml",
        "default",
    ]


def test_the_documented_defaults_hold_where_nobody_says_anything() -> None:
    settings = load({}, {}).settings
    assert settings == Settings(instance=settings.instance, log_format=settings.log_format)
    assert settings.database == "sqlite:///crowdresolve.db"
    assert settings.bootstrap_servers == "localhost:9092"
    assert (settings.batch_size, settings.batch_wait_ms) == (1000, 20)
    assert settings.delivery == "exactly_once"


def test_an_empty_variable_counts_as_unset() -> None:
    assert load({}, {"CROWDRESOLVE_GROUP": ""}).settings.group == "crowdresolve"


def test_kafka_settings_are_merged_key_by_key(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        '[kafka]\nsecurity_protocol = "SSL"\nssl_cafile = "/file"\nssl_check_hostname = false\n'
        "request_timeout_ms = 5000\n"
    )
    loaded = load(
        {"kafka": ["ssl_cafile=/flag", "ssl_keyfile=a=b"]},
        {"CROWDRESOLVE_KAFKA_SSL_CAFILE": "/variable", "CROWDRESOLVE_KAFKA_SSL_CRLFILE": "/v"},
        str(file),
    )
    assert loaded.settings.kafka == {
        "security_protocol": "SSL",
        "ssl_cafile": "/flag",
        "ssl_check_hostname": "false",
        "request_timeout_ms": "5000",
        "ssl_crlfile": "/v",
        "ssl_keyfile": "a=b",
    }
    assert str(loaded.origin("kafka.ssl_cafile")) == "--kafka ssl_cafile"
    assert str(loaded.origin("kafka.ssl_crlfile")) == "CROWDRESOLVE_KAFKA_SSL_CRLFILE"
    assert str(loaded.origin("kafka.security_protocol")) == f"`kafka.security_protocol` in {file}"


@pytest.mark.parametrize(
    ("flags", "environ", "text", "named"),
    [
        ({"batch_size": "0"}, {}, "", "--batch-size: '0' is not a whole number from 1 to 100000"),
        ({"kafka": ["acks"]}, {}, "", "--kafka acks: must be KEY=VALUE"),
        (
            {},
            {"CROWDRESOLVE_DELIVERY": "twice"},
            "",
            "CROWDRESOLVE_DELIVERY: 'twice' is not one of",
        ),
        ({}, {"CROWDRESOLVE_REBUILD": "maybe"}, "", "CROWDRESOLVE_REBUILD: 'maybe' is not true or"),
        (
            {},
            {},
            'batch_wait_ms = "20"',
            "`batch_wait_ms` in crowdresolve.toml: '20' is not a whole",
        ),
        ({}, {}, "batch_wait_ms = -1", "`batch_wait_ms` in crowdresolve.toml: -1 is not a whole"),
        ({}, {}, 'topic_dead = "a b"', "`topic_dead` in crowdresolve.toml: 'a b' is not a topic's"),
        ({}, {}, 'bach_size = "1"', "no setting `bach_size`; did you mean batch_size?"),
        ({}, {}, "kafka = 3", "`kafka` in crowdresolve.toml: must be a table"),
        ({}, {}, "kafka.acks = []", "`kafka.acks` in crowdresolve.toml: must be a text"),
        ({}, {}, "group = ", "crowdresolve.toml is not TOML"),
    ],
)
def test_a_wrong_value_is_named_by_where_it_was_given(
    empty_directory: Path,
    flags: dict[str, object],
    environ: dict[str, str],
    text: str,
    named: str,
) -> None:
    (empty_directory / "crowdresolve.toml").write_text(text)
    with pytest.raises(ConfigurationError) as refusal:
        load(flags, environ)
    assert named in str(refusal.value)


@pytest.mark.parametrize(
    ("config", "environ"), [("nix.toml", {}), (None, {"CROWDRESOLVE_CONFIG": "nix.toml"})]
)
def test_a_file_that_was_asked_for_must_be_there(
    config: str | None, environ: dict[str, str]
) -> None:
    with pytest.raises(ConfigurationError, match=r"cannot read nix\.toml: No such file"):
        load({}, environ, config)


def test_a_wrong_database_address_is_not_repeated_since_it_may_hold_a_password(
    tmp_path: Path,
) -> None:
    (tmp_path / "crowdresolve.toml").write_text("database = ['hush']")
    with pytest.raises(ConfigurationError) as refusal:
        load({}, {})
    assert "hush" not in str(refusal.value)


def test_a_database_address_may_be_in_a_file_of_its_own(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("postgresql+psycopg://me:hush@db/x\n")
    loaded = load({}, {"CROWDRESOLVE_DATABASE": f"@{secret}"})
    assert loaded.settings.database == "postgresql+psycopg://me:hush@db/x"


def test_a_variable_that_nobody_knows_is_a_warning_that_names_the_nearest() -> None:
    environ = {
        "CROWDRESOLVE_GRUOP": "x",
        "CROWDRESOLVE_TEST_KAFKA": "x",
        "CROWDRESOLVE_FAILPOINT": "x",
        "CROWDRESOLVE_KAFKA_ACKS": "x",
        "CROWDRESOLVE_DEAD_LIST_LIMIT": "x",
    }
    assert load({}, environ, known_variables={"CROWDRESOLVE_DEAD_LIST_LIMIT"}).warnings == [
        "the variable CROWDRESOLVE_GRUOP is no setting; did you mean CROWDRESOLVE_GROUP?"
    ]


def test_every_setting_says_what_it_is_and_what_it_expects() -> None:
    for setting in FIELDS.values():
        assert setting.description.endswith(".")
        assert setting.expects
        assert setting.default


@pytest.mark.parametrize("name", ["topic_resolved", "topic_assigned", "topic_dead"])
def test_two_topics_in_one_would_feed_the_service_its_own_messages(name: str) -> None:
    with pytest.raises(ConfigurationError, match="each needs its own") as refused:
        load({name: "annotations"}, {})
    assert FIELDS[name].flag in str(refused.value)
    with pytest.raises(ConfigurationError, match="CROWDRESOLVE_TOPIC_ANNOTATIONS"):
        load({}, {"CROWDRESOLVE_TOPIC_ANNOTATIONS": getattr(load({}, {}).settings, name)})
