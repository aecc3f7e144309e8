"""Places where a test may make the process die as if by `kill -9`.

`CROWDRESOLVE_FAILPOINT=name` kills it at the first pass, `name:3` at the third; `name:3:stop`
stops it there (SIGSTOP), so that it wakes up later as a zombie.  Unset, as always in production, a
place costs one look at a module variable.
"""

from __future__ import annotations

import os
import signal

NAMES = (
    "after_decode",
    "after_apply",
    "before_database_commit",
    "after_database_commit",
    "after_send",
    "before_kafka_commit",
    "after_kafka_commit",
    "during_revoke",
)

JOB_NAMES = (
    "snapshot_read",
    "computed",
    "encoded",
    "part_sent",
    "before_run_commit",
    "after_run_commit",
    "waiting",
)
"""Those of the scheduled job (`connector.reconcile`)."""

_name, _count, _how = [*os.environ.get("CROWDRESOLVE_FAILPOINT", "").split(":"), "", ""][:3]
_left = int(_count or 1) if _name else 0
_SIGNAL = signal.SIGSTOP if _how == "stop" else signal.SIGKILL


def failpoint(name: str) -> None:
    """Die here if the environment says so; the last words on stderr prove where it was."""
    global _left
    if not _left or name != _name:
        return
    _left -= 1
    if not _left:
        os.write(2, f"failpoint {name}\n".encode())
        os.kill(os.getpid(), _SIGNAL)
