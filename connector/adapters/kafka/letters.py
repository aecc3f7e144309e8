"""What to send where a dead letter is too large for its topic.

A topic's limit counts compressed bytes, so a record that fitted the input can be too large for the
dead letters.  It must not hold up what comes after it: what is left out stays at its origin, whose
place the headers name.
"""

from __future__ import annotations

from hashlib import sha256

from connector.domain.errors import Refused
from connector.domain.records import Headers, Outgoing

REASON = ("error-code", "error-message", "origin-topic", "origin-partition", "origin-offset")
"""Headers that say why and whence; they come last, after those of the record itself."""


def without_value(letter: Outgoing) -> Outgoing:
    """The letter with a null value; headers say how long it was and what its digest is."""
    return letter._replace(value=None, headers=(*letter.headers, *_omitted("value", letter.value)))


def bare(letter: Outgoing) -> Outgoing:
    """Only why and whence: no value, no key, none of the record's own headers."""
    reason = {name: value for name, value in letter.headers if name in REASON}
    return letter._replace(
        key=None,
        value=None,
        headers=(
            *reason.items(),
            *_omitted("value", letter.value),
            *_omitted("key", letter.key),
            ("headers-omitted", str(len(letter.headers) - len(reason)).encode()),
        ),
    )


REDUCTIONS = (without_value, bare)
"""To be tried in this order, each on the whole letter."""


def _omitted(what: str, content: bytes | None) -> Headers:
    if content is None:
        return ()
    return (
        (f"{what}-omitted", str(len(content)).encode()),
        (f"{what}-sha256", sha256(content).hexdigest().encode()),
    )


def too_large(message: Outgoing, cause: object) -> Refused:
    """For a message that may not go otherwise than whole."""
    size = len(message.value or b"") + len(message.key or b"")
    return Refused(
        f"a message of {size} bytes with key {message.key!r} is too large for topic "
        f"{message.topic} ({cause}): raise the topic's max.message.bytes"
    )


def reduced(message: Outgoing, limit: int, dead_topic: str | None) -> Outgoing:
    """The message, or what of a dead letter fits into so many bytes.

    Raises:
        Refused: it does not fit, and is no dead letter or cannot be made smaller.
    """
    for candidate in (message, *(reduce(message) for reduce in REDUCTIONS)):
        size = len(candidate.key or b"") + len(candidate.value or b"")
        size += sum(len(name) + len(value or b"") for name, value in candidate.headers)
        if size <= limit:
            return candidate
        if message.topic != dead_topic:
            break
    raise too_large(message, f"{limit} bytes")
