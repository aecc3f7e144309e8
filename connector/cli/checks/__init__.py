"""What `crowdresolve doctor` looks at, one module a subject."""

from .check import Check, State, failed, ok, warning

__all__ = ["Check", "State", "failed", "ok", "warning"]
