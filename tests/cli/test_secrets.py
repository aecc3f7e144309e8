"""What is masked."""

from __future__ import annotations

import pytest

from connector.cli.secrets import masked_database, masked_kafka


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("sqlite:///crowdresolve.db", "sqlite:///crowdresolve.db"),
        ("sqlite:////var/a@b/x.db", "sqlite:////var/a@b/x.db"),
        ("postgresql+psycopg://me@db:5432/x", "postgresql+psycopg://me@db:5432/x"),
        ("postgresql+psycopg://me:hush@db/x", "postgresql+psycopg://me:******@db/x"),
        ("postgresql://me:hu@sh@db/x", "postgresql://me:******@db/x"),
        ("postgresql://me@db/x?password=hush", "postgresql://me@db/x?******"),
        ("postgresql://me:hush/hush@db/x", "******"),
        ("postgresql://me:hush?hush@db/x", "******"),
        ("me:hush@db", "******"),
    ],
)
def test_a_database_is_shown_without_its_password(url: str, shown: str) -> None:
    assert masked_database(url) == shown


def test_a_kafka_password_is_masked_but_not_the_file_that_holds_one() -> None:
    assert masked_kafka("sasl_plain_password", "hush") == "******"
    assert masked_kafka("ssl_password", "hush") == "******"
    assert masked_kafka("sasl_plain_password", "@/run/secret") == "@/run/secret"
    assert masked_kafka("sasl_plain_username", "me") == "me"
