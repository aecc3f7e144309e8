"""What to send where a dead letter is too large for its topic.

A topic's limit counts compressed bytes, so a record that fitted the input can be too large for the
dead letters.  It must not hold up what comes after it: what is left out stays at its origin, whose
place the headers name.
"""

from __future__ import annotations

from hashlib import sha256

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
