"""Apache Kafka from its Maven artifacts on this machine's Java: one node, KRaft, no Docker."""

from __future__ import annotations

import base64
import os
import re
import shutil
import subprocess
import tempfile
import uuid
from pathlib import Path

from tests.services import guardian
from tests.services.errors import ServiceUnavailable
from tests.services.kafka import BROKER_SETTINGS, KafkaService
from tests.services.network import answers, free_ports, wait_until
from tests.services.process import ServerProcess

POM = Path(__file__).with_name("pom.xml")
OLDEST_JAVA = 17
DOWNLOAD_SECONDS = 240
START_SECONDS = 60

# A broker's own log is of interest only when it does not start.
LOG4J = """\
Configuration:
  status: error
  Appenders: {Console: {name: OUT, PatternLayout: {pattern: "[%d] %p %m (%c)%n"}}}
  Loggers: {Root: {level: warn, AppenderRef: [{ref: OUT}]}}
"""


class LocalKafka(KafkaService):
    """A broker of this machine, in a directory of its own under the temporary directory."""

    def __init__(self) -> None:
        java, java_version = _java()
        version, jars = _jars()
        self.how = f"Apache Kafka {version} on this machine's Java {java_version}"
        self._directory = Path(tempfile.mkdtemp(prefix="crowdresolve-kafka-"))
        guardian.watch_directory(self._directory)
        self._port, controller_port = free_ports(2)
        self.bootstrap = f"127.0.0.1:{self._port}"
        properties = self._directory / "server.properties"
        properties.write_text(_properties(self._directory, self._port, controller_port))
        log4j = self._directory / "log4j2.yaml"
        log4j.write_text(LOG4J)
        command = [java, f"-Dlog4j2.configurationFile={log4j}", "-cp", f"{jars}/*"]
        _format(command, properties)
        self._process = ServerProcess(
            [*command[:1], "-Xms256m", "-Xmx768m", *command[1:], "kafka.Kafka", str(properties)],
            self._directory,
        )

    @property
    def pid(self) -> int | None:
        return self._process.pid

    def start(self) -> None:
        if self.alive():
            return
        self._process.start()
        # A cheap question first: a client that is refused takes its time to say so.
        wait_until(lambda: not self.alive() or answers("127.0.0.1", self._port), START_SECONDS)
        try:
            self._await(START_SECONDS)
        except ServiceUnavailable as error:
            raise ServiceUnavailable(f"{error}. It said:\n{self._process.last_words()}") from None

    def stop(self) -> None:
        self._process.stop()

    def kill(self) -> None:
        self._process.kill()

    def alive(self) -> bool:
        return self._process.alive()

    def close(self) -> None:
        # No clean stop: nobody will read the data, and SIGKILL takes no time.
        self._process.kill()
        shutil.rmtree(self._directory, ignore_errors=True)
        guardian.forget(self._directory)


def _java() -> tuple[str, int]:
    """The command and its major version."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which(f"{home}/bin/java") if home else None
    java = java or shutil.which("java")
    if java is None:
        raise ServiceUnavailable(f"no java (needs {OLDEST_JAVA} or newer)")
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    match = re.search(r'version "(\d+)', said)
    version = int(match[1]) if match else 0
    if version < OLDEST_JAVA:
        raise ServiceUnavailable(f"{java} is version {version}, needs {OLDEST_JAVA} or newer")
    return java, version


def _jars() -> tuple[str, Path]:
    """Kafka's version and the directory with its jars: downloaded once per machine (43 MB)."""
    match = re.search(r"<kafka\.version>(.+?)</kafka\.version>", POM.read_text())
    assert match is not None
    version = match[1]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "crowdresolve"
    jars = cache / f"kafka-jars-{version}"
    if jars.exists():
        return version, jars
    maven = shutil.which("mvn")
    if maven is None:
        raise ServiceUnavailable(f"no mvn to download Kafka with, and no {jars}")
    cache.mkdir(parents=True, exist_ok=True)
    # Beside its place, then renamed: whole or not there, even if two sessions do this at once.
    with tempfile.TemporaryDirectory(dir=cache, prefix="downloading-") as scratch:
        shutil.copy(POM, scratch)
        command = [maven, "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=jars"]
        try:
            subprocess.run(
                command,
                cwd=scratch,
                capture_output=True,
                text=True,
                timeout=DOWNLOAD_SECONDS,
                check=True,
            )
        except subprocess.TimeoutExpired:
            raise ServiceUnavailable(f"mvn took more than {DOWNLOAD_SECONDS} s") from None
        except subprocess.CalledProcessError as error:
            raise ServiceUnavailable(f"mvn failed:\n{error.stdout[-2000:]}") from None
        try:
            (Path(scratch) / "jars").rename(jars)
        except OSError:
            if not jars.exists():
                raise
    return version, jars


def _properties(directory: Path, port: int, controller_port: int) -> str:
    settings = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@127.0.0.1:{controller_port}",
        "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port}",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        "log.dirs": f"{directory}/data",
        **BROKER_SETTINGS,
    }
    return "".join(f"{key}={value}\n" for key, value in settings.items())


def _format(command: list[str], properties: Path) -> None:
    # Kafka's tools take an id that begins with "-" for an option.
    cluster = "c" + base64.urlsafe_b64encode(uuid.uuid4().bytes).decode()[1:].rstrip("=")
    done = subprocess.run(
        [*command, "kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(properties)],
        capture_output=True,
        text=True,
        timeout=START_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        raise ServiceUnavailable(f"Kafka's storage cannot be formatted:\n{done.stderr[-2000:]}")
