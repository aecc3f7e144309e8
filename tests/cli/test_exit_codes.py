"""Exit codes: 2 usage, 3 configuration, 4 a dependency is unreachable; and one clear line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.services.network import free_ports

from .conftest import Run

UNREACHABLE = "127.0.0.1:1"


@pytest.mark.parametrize(
    "arguments",
    [
        ["walk"],
        ["run", "--walk"],
        ["project", "apply"],
        ["dead", "list", "--code", "walk"],
        ["dead", "redrive", "--since", "walk"],
        ["config", "--format", "walk"],
    ],
)
def test_a_wrong_command_line_is_usage(crowdresolve: Run, arguments: list[str]) -> None:
    done = crowdresolve(*arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "variables", "said"),
    [
        (["run", "--batch-size", "many"], {}, "--batch-size"),
        (["run"], {"CROWDRESOLVE_DELIVERY": "twice"}, "CROWDRESOLVE_DELIVERY"),
        (["run", "--config", "nix.toml"], {}, "nix.toml"),
        (["run", "--database", "mysql://me:hush@db/x"], {}, "given by --database"),
        (["db", "check"], {"CROWDRESOLVE_DATABASE": "nonsense"}, "given by CROWDRESOLVE_DATABASE"),
        (["db", "check"], {}, "crowdresolve.db"),
        (["run", "--bootstrap-servers", "localhost"], {}, "given by --bootstrap-servers"),
        (["topics", "create", "--kafka", "acks=0"], {}, "given by --kafka acks"),
        (
            ["topics", "create"],
            {"CROWDRESOLVE_KAFKA_WALK": "1"},
            "given by CROWDRESOLVE_KAFKA_WALK",
        ),
        (["project", "apply", "nix.toml"], {}, "nix.toml"),
    ],
)
def test_a_wrong_setting_names_itself_in_one_line(
    crowdresolve: Run, arguments: list[str], variables: dict[str, str], said: str
) -> None:
    done = crowdresolve(*arguments, **variables)
    assert done.returncode == 3
    assert said in done.stderr
    assert "hush" not in done.stderr + done.stdout
    assert len(done.stderr.splitlines()) == 1
    assert not done.stdout


def test_debug_shows_where_an_error_came_from(crowdresolve: Run) -> None:
    for more in ({"CROWDRESOLVE_DEBUG": "1"}, {}):
        flags = [] if more else ["--debug"]
        done = crowdresolve("db", "check", *flags, **more)
        assert done.returncode == 3
        assert "Traceback" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [["run"], ["topics", "create"], ["doctor"]],
    ids=" ".join,
)
def test_an_unreachable_broker_is_said_soon(crowdresolve: Run, arguments: list[str]) -> None:
    crowdresolve("db", "upgrade")
    done = crowdresolve(*arguments, "--bootstrap-servers", UNREACHABLE)
    assert done.returncode == 4
    assert UNREACHABLE in done.stderr + done.stdout
    assert "is the address right" in done.stderr + done.stdout


@pytest.mark.parametrize(
    "arguments", [["run"], ["db", "upgrade"], ["project", "list"]], ids=" ".join
)
def test_an_unreachable_database_is_said_soon(crowdresolve: Run, arguments: list[str]) -> None:
    url = f"postgresql+psycopg://me:hush@127.0.0.1:{free_ports(1)[0]}/x"
    done = crowdresolve(*arguments, "--database", url)
    assert done.returncode == 4
    assert "cannot be reached" in done.stderr
    assert "hush" not in done.stderr


def test_run_says_in_json_why_it_ends_where_its_log_is_json(crowdresolve: Run) -> None:
    done = crowdresolve(
        *("run", "--bootstrap-servers", UNREACHABLE, "--kafka", "bootstrap_timeout_ms=500"),
        CROWDRESOLVE_GRUOP="x",
    )
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert lines[0]["event"] == "unknown_variable"
    assert lines[-1]["event"] == "failed"
    assert lines[-1]["exit_code"] == 4


def test_config_shows_values_with_origin_and_no_secret(crowdresolve: Run, tmp_path: Path) -> None:
    (tmp_path / "crowdresolve.toml").write_text(
        'database = "postgresql+psycopg://me:hush@db/x"\n[kafka]\nsasl_plain_password = "hush"\n'
    )
    done = crowdresolve("config", "--format", "json", "--group", "g", CROWDRESOLVE_BATCH_SIZE="7")
    assert "hush" not in done.stdout + done.stderr
    shown = json.loads(done.stdout)
    assert shown["group"] == {"value": "g", "origin": "--group"}
    assert shown["batch_size"] == {"value": 7, "origin": "CROWDRESOLVE_BATCH_SIZE"}
    assert shown["database"] == {
        "value": "postgresql+psycopg://me:******@db/x",
        "origin": "`database` in crowdresolve.toml",
    }
    assert shown["kafka.sasl_plain_password"]["value"] == "******"
    table = crowdresolve("config").stdout
    assert "hush" not in table
    assert "kafka.sasl_plain_password\t******\t`kafka.sasl_plain_password` in" in table


def test_version_names_everything_that_a_report_needs(crowdresolve: Run) -> None:
    shown = json.loads(crowdresolve("version", "--json").stdout)
    assert set(shown) == {"crowdresolve", "python", "libraries", "schema", "algorithms"}
    assert shown["libraries"]["kafka-python"].startswith("3.")
    assert "fast_sbic" in shown["algorithms"]
    assert shown["crowdresolve"] in crowdresolve("version").stdout
