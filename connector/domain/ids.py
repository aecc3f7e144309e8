"""Names that producers give: exactly as sent, no normalisation."""

from __future__ import annotations

MAX_BYTES = 512


class CheckedType(type):
    """Lets a plain value pass for its schema type.

    Instances of a subclass of `str` or `int` would make every look-up of the hot path slower.
    """

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, cls.__mro__[1])


class Id(str, metaclass=CheckedType):
    """A string of 1 to 512 bytes of UTF-8, in JSON a string or an integer (its decimal digits)."""

    __slots__ = ()


def as_id(value: object) -> str:
    """The string that a name is from here on.

    Raises:
        ValueError: neither string nor integer, or empty, too long, with a NUL or half a surrogate
            pair.
    """
    if not isinstance(value, str):
        if not isinstance(value, int) or isinstance(value, bool):
            raise ValueError("must be a string or an integer")
        value = str(value)
    if not value:
        raise ValueError("is empty")
    if "\0" in value:
        raise ValueError("holds a NUL character")
    if not value.isascii() or len(value) > MAX_BYTES:
        try:
            size = len(value.encode())
        except UnicodeEncodeError:
            raise ValueError("holds half of a surrogate pair") from None
        if size > MAX_BYTES:
            raise ValueError(f"is {size} bytes long; {MAX_BYTES} are allowed")
    return value


def quoted(name: str) -> str:
    """A name as part of a message key: `%` and `/` are percent-encoded."""
    if "%" in name or "/" in name:
        return name.replace("%", "%25").replace("/", "%2F")
    return name
