"""What `--kafka KEY=VALUE` may say, and what it may not."""

from __future__ import annotations

from pathlib import Path

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer

from connector.adapters.kafka.client import REFUSED, client_settings
from connector.domain.errors import ConfigurationError


def test_servers_come_as_a_text_with_commas_or_as_a_list() -> None:
    expected = ("a:9092", "b:9093")
    assert client_settings("a:9092, b:9093").bootstrap_servers == expected
    assert client_settings(["a:9092", "b:9093"]).bootstrap_servers == expected
    assert client_settings("[::1]:9092").where == "[::1]:9092"


@pytest.mark.parametrize("servers", ["", " , ", "broker", "broker:", "broker:x", "broker:70000"])
def test_a_wrong_server_is_named(servers: str) -> None:
    with pytest.raises(ConfigurationError, match="--bootstrap-servers"):
        client_settings(servers)


def test_values_get_the_types_that_the_client_wants() -> None:
    settings = client_settings(
        "a:1",
        {
            "security_protocol": "SASL_SSL",
            "ssl_check_hostname": "false",
            "request_timeout_ms": "5000",
            "receive_buffer_bytes": "65536",
            "api_version": "3.7",
        },
    )
    assert settings.options == {
        "security_protocol": "SASL_SSL",
        "ssl_check_hostname": False,
        "request_timeout_ms": 5000,
        "receive_buffer_bytes": 65536,
        "api_version": (3, 7),
    }


def test_each_client_gets_what_it_knows() -> None:
    settings = client_settings(
        "a:1", {"linger_ms": "7", "fetch_min_bytes": "2", "security_protocol": "SSL"}
    )
    for arguments, client in (
        (settings.consumer(), KafkaConsumer),
        (settings.producer(), KafkaProducer),
        (settings.admin(), KafkaAdminClient),
    ):
        assert set(arguments) <= set(client.DEFAULT_CONFIG)
        assert arguments["security_protocol"] == "SSL"
    assert settings.producer(linger_ms=1)["linger_ms"] == 7
    assert settings.producer(batch_size=1)["batch_size"] == 1
    assert "linger_ms" not in settings.consumer()


def test_a_secret_is_read_from_its_file_and_never_shown(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("s3cret\n")
    settings = client_settings("a:1", {"sasl_plain_password": f"@{file}"})
    assert settings.options["sasl_plain_password"] == "s3cret"
    assert "s3cret" not in repr(settings)
    with pytest.raises(ConfigurationError, match=r"sasl_plain_password: cannot read .*/absent"):
        client_settings("a:1", {"sasl_plain_password": f"@{tmp_path}/absent"})


def test_a_short_session_gets_quicker_heartbeats() -> None:
    assert client_settings("a:1", {"session_timeout_ms": "6000"}).consumer() == {
        "bootstrap_servers": ["a:1"],
        "client_id": "crowdresolve",
        "session_timeout_ms": 6000,
        "heartbeat_interval_ms": 2000,
    }


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_would_break_a_promise_is_refused_with_the_reason(name: str) -> None:
    with pytest.raises(ConfigurationError, match=f"--kafka {name} cannot be set: "):
        client_settings("a:1", {name: "1"})


def test_every_refused_name_is_one_of_the_clients() -> None:
    known = {*KafkaConsumer.DEFAULT_CONFIG, *KafkaProducer.DEFAULT_CONFIG}
    assert set(REFUSED) <= known


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("request_timeout_ms", "soon", "'soon' is not a whole number"),
        ("ssl_check_hostname", "maybe", "'maybe' is not true or false"),
        ("api_version", "new", "'new' is not a version such as 3.7"),
        ("ssl_context", "x", "takes an object"),
        ("bootstrap.servers", "x", "has no such setting"),
        ("nonsense", "x", "has no such setting"),
    ],
)
def test_a_wrong_name_or_value_is_named(name: str, value: str, said: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        client_settings("a:1", {name: value})
    assert f"--kafka {name}" in str(caught.value)
    assert said in str(caught.value)
