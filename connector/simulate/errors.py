"""What `simulate` and `plan` refuse."""

from __future__ import annotations

from connector.domain.errors import CrowdResolveError


class Misused(CrowdResolveError):
    """Arguments that cannot be simulated; the message says which and what would do."""

    exit_code = 2
