"""What `replay` refuses."""

from __future__ import annotations

from connector.domain.errors import CrowdResolveError


class Misused(CrowdResolveError):
    """Options and files that do not go together; the message says which and what to do."""

    exit_code = 2


class Unreadable(CrowdResolveError):
    """A file that cannot be read, or written, as what it is; the message names file and line."""
