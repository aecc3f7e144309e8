"""What is in deploy/ can be read, and says what an operator relies on."""

from __future__ import annotations

import configparser
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

DEPLOY = Path(__file__).parents[2] / "deploy"
UID = 10001


def _documents(name: str) -> list[dict[str, Any]]:
    with (DEPLOY / name).open() as file:
        return list(yaml.safe_load_all(file))


@pytest.fixture
def stateful_set() -> dict[str, Any]:
    (found,) = [d for d in _documents("kubernetes.yaml") if d["kind"] == "StatefulSet"]
    return found


@pytest.mark.parametrize("path", sorted(DEPLOY.glob("*.yaml")), ids=lambda path: path.name)
def test_every_yaml_file_can_be_parsed(path: Path) -> None:
    assert all(_documents(path.name))


def test_every_kubernetes_object_has_a_kind_and_a_name() -> None:
    for document in _documents("kubernetes.yaml"):
        assert document["apiVersion"]
        assert document["kind"]
        assert document["metadata"]["name"] == "crowdresolve"


def test_a_pod_is_named_by_kubernetes_so_that_a_restart_fences_its_former_self(
    stateful_set: dict[str, Any],
) -> None:
    (container,) = stateful_set["spec"]["template"]["spec"]["containers"]
    variables = {variable["name"]: variable for variable in container["env"]}
    source = variables["CROWDRESOLVE_INSTANCE"]["valueFrom"]["fieldRef"]["fieldPath"]
    assert source == "metadata.name"


def test_the_database_url_comes_from_the_secret(stateful_set: dict[str, Any]) -> None:
    (secret,) = [d for d in _documents("kubernetes.yaml") if d["kind"] == "Secret"]
    (container,) = stateful_set["spec"]["template"]["spec"]["containers"]
    variables = {variable["name"]: variable for variable in container["env"]}
    reference = variables["CROWDRESOLVE_DATABASE"]["valueFrom"]["secretKeyRef"]
    assert reference["name"] == secret["metadata"]["name"]
    assert reference["key"] in secret["stringData"]


def test_every_way_to_run_it_leaves_time_to_end_cleanly(stateful_set: dict[str, Any]) -> None:
    assert stateful_set["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] == 30
    (compose,) = _documents("docker-compose.yaml")
    assert compose["services"]["crowdresolve"]["stop_grace_period"] == "30s"
    assert _unit()["Service"]["TimeoutStopSec"] == "30"


def test_nothing_runs_as_root(stateful_set: dict[str, Any]) -> None:
    pod = stateful_set["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] == UID
    users = re.findall(r"^USER (\S+)$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)
    assert users[-1] == str(UID)
    assert _unit()["Service"]["User"] == "crowdresolve"


def test_compose_waits_until_what_it_needs_is_healthy() -> None:
    (compose,) = _documents("docker-compose.yaml")
    services = compose["services"]
    for name, condition in services["crowdresolve"]["depends_on"].items():
        assert condition == {"condition": "service_healthy"}
        assert "healthcheck" in services[name]


def test_the_unit_does_not_retry_what_cannot_succeed() -> None:
    assert _unit()["Service"]["RestartPreventExitStatus"] == "2 3"


def test_the_example_configuration_has_the_documented_defaults() -> None:
    with (DEPLOY / "crowdresolve.toml").open("rb") as file:
        settings = tomllib.load(file)
    assert settings == {
        "database": "sqlite:///crowdresolve.db",
        "bootstrap_servers": "localhost:9092",
        "group": "crowdresolve",
        "topic_annotations": "annotations",
        "topic_resolved": "labels.resolved",
        "topic_assigned": "tasks.assigned",
        "topic_dead": "annotations.dead",
        "delivery": "exactly_once",
        "batch_size": 1000,
        "batch_wait_ms": 20,
        "kafka": {},
    }


def test_the_jobs_unit_and_deployment_are_what_the_services_are() -> None:
    """Not root, time to end, no retries of what cannot succeed; and the command is one."""
    unit = _unit("crowdresolve-reconcile.service")["Service"]
    assert unit["User"] == "crowdresolve"
    assert unit["TimeoutStopSec"] == "30"
    assert unit["RestartPreventExitStatus"] == "2 3"
    (deployment,) = _documents("kubernetes-reconcile.yaml")
    pod = deployment["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsUser"] == UID
    assert pod["terminationGracePeriodSeconds"] == 30
    (container,) = pod["containers"]
    words = unit["ExecStart"].split()
    assert (
        words[1 : words.index("--config")] == container["args"] == ["reconcile", "--every", "15m"]
    )
    known = {d["kind"]: d["metadata"]["name"] for d in _documents("kubernetes.yaml")}
    variables = {variable["name"]: variable for variable in container["env"]}
    secret = variables["CROWDRESOLVE_DATABASE"]["valueFrom"]["secretKeyRef"]["name"]
    assert secret == known["Secret"]
    assert container["envFrom"] == [{"configMapRef": {"name": known["ConfigMap"]}}]


def _unit(name: str = "crowdresolve.service") -> configparser.ConfigParser:
    # systemd repeats keys (`Environment=`) and has values with percent signs.
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(DEPLOY / name)
    return unit
