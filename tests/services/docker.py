"""Whether Docker can be used: a client without a daemon is common, a daemon that hangs happens."""

from __future__ import annotations

import functools
import shutil
import subprocess

DECIDE_SECONDS = 2.5


@functools.cache
def why_not_docker() -> str | None:
    """None if a Docker daemon answers; else the reason, found in less than 3 seconds."""
    if shutil.which("docker") is None:
        return "no docker command"
    try:
        asked = subprocess.run(
            ["docker", "version", "--format", "{{.Server.Version}}"],
            capture_output=True,
            text=True,
            timeout=DECIDE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"no answer from the Docker daemon in {DECIDE_SECONDS} s"
    return None if asked.returncode == 0 and asked.stdout.strip() else "no Docker daemon answers"
