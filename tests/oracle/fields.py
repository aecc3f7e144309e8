"""The checks of single fields, and the error that makes a record a dead letter."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import date

Fields = Mapping[str, object]

MAX_ID_BYTES = 512
MAX_INT32 = 2**31 - 1
MICROSECONDS = 1_000_000


class Rejected(Exception):
    """The record is a dead letter with this stable code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Oversized:
    """An integer of so many digits that it is valid in no field."""


def invalid(name: str, why: str) -> Rejected:
    return Rejected("invalid_field", f"{name}: {why}")


def identifier(fields: Fields, name: str) -> str:
    """A string of 1 to 512 bytes of UTF-8, or an integer, which is its decimal string."""
    if name not in fields:
        raise invalid(name, "is missing")
    return check_identifier(fields[name], name)


def check_identifier(value: object, name: str) -> str:
    if type(value) is int:
        value = str(value)
    if not isinstance(value, str):
        raise invalid(name, "is neither a string nor an integer")
    try:
        size = len(value.encode("utf-8"))
    except UnicodeEncodeError:
        raise invalid(name, "has a lone surrogate") from None
    if not 1 <= size <= MAX_ID_BYTES or "\0" in value:
        raise invalid(name, "is not 1 to 512 bytes without NUL")
    return value


def optional_identifier(fields: Fields, name: str) -> str | None:
    return identifier(fields, name) if name in fields else None


def check_number(value: object, name: str) -> float:
    """A finite number; an integer will do."""
    if type(value) not in (int, float):
        raise invalid(name, "is not a number")
    assert isinstance(value, int | float)
    try:
        number = float(value)
    except OverflowError:
        raise invalid(name, "is not finite") from None
    if not math.isfinite(number):
        raise invalid(name, "is not finite")
    return number


def check_integer(value: object, name: str, low: int, high: int) -> int:
    if type(value) is not int:
        raise invalid(name, "is not an integer")
    if not low <= value <= high:
        raise invalid(name, f"is not within {low} to {high}")
    return value


def check_prior(value: object, name: str) -> tuple[float, ...]:
    """Numbers above 0, scaled to sum 1."""
    if not isinstance(value, list) or not value:
        raise invalid(name, "is not a list of numbers")
    numbers = [check_number(item, name) for item in value]
    if min(numbers) <= 0:
        raise invalid(name, "has a number that is not above 0")
    total = sum(numbers)
    scaled = tuple(number / total for number in numbers)
    if min(scaled) <= 0:
        raise invalid(name, "cannot be scaled to sum 1")
    return scaled


RFC3339 = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})"
    r"(?:\.([0-9]+))?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))"
)
UNIX_EPOCH = date(1970, 1, 1).toordinal()
YEAR_2201 = (date(2201, 1, 1).toordinal() - UNIX_EPOCH) * 86_400 * MICROSECONDS


def check_instant(value: object, name: str) -> int:
    """RFC 3339 with a zone, as microseconds since 1970; finer digits are cut."""
    found = RFC3339.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise invalid(name, "is not a time of RFC 3339 with a zone")
    year, month, day, hour, minute, second = (int(text) for text in found.groups()[:6])
    fraction, sign, offset_hour, offset_minute = found.groups()[6:]
    try:
        days = date(year, month, day).toordinal() - UNIX_EPOCH
    except ValueError:
        raise invalid(name, "is no day of the calendar") from None
    if hour > 23 or minute > 59 or second > 59:
        raise invalid(name, "is no time of a day")
    offset = 0
    if sign is not None:
        if int(offset_hour) > 23 or int(offset_minute) > 59:
            raise invalid(name, "has no real offset")
        offset = int(offset_hour) * 3600 + int(offset_minute) * 60
        offset = -offset if sign == "-" else offset
    seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset
    instant = seconds * MICROSECONDS + int(((fraction or "") + "000000")[:6])
    if not 0 <= instant < YEAR_2201:
        raise invalid(name, "is not within the years 1970 to 2200")
    return instant


def check_reason(fields: Fields) -> None:
    if "reason" in fields and not isinstance(fields["reason"], str):
        raise invalid("reason", "is not a string")
