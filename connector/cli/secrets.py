"""What must not be shown, and what is shown instead."""

from __future__ import annotations

import re

MASK = "******"

_SECRET = re.compile(r"password|secret|token|jaas|credential", re.IGNORECASE)
_USER_INFO = re.compile(r"^([^:/?#]+://)([^/?#]*)@")


def masked_kafka(key: str, text: str) -> str:
    """A Kafka setting's value; `@/path` names a file and is no secret."""
    return text if not _SECRET.search(key) or text.startswith("@/") else MASK


def masked_database(url: str) -> str:
    """A database's address without password and parameters, even if it is malformed."""
    if url.startswith("sqlite"):
        return url
    address, question, parameters = url.partition("?")
    match = _USER_INFO.match(address)
    if "@" in parameters or (match is None and "@" in address):
        # Something like an address that we cannot take apart: show nothing of it.
        return MASK
    if match is not None:
        user, colon, _ = match.group(2).partition(":")
        login = f"{user}:{MASK}@" if colon else f"{user}@"
        address = match.group(1) + login + address[match.end() :]
    return address + (f"?{MASK}" if question else "")
