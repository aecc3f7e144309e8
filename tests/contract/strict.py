"""The document's schemas as the service means them, to be held against what it does.

JSON Schema leaves some things to its readers: here an integer has no fraction (`1.0` is none),
patterns are ECMA's (`$` is the end, not a last line feed), and formats are checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from math import isfinite
from typing import Any

import jsonschema
import yaml
from jsonschema.protocols import Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from .document import PATH

URI = "urn:crowdresolve:asyncapi"

FORMATS = jsonschema.FormatChecker(formats=())


@FORMATS.checks("date-time", raises=ValueError)
def _a_day_of_the_calendar(text: object) -> bool:
    return not isinstance(text, str) or bool(datetime.fromisoformat(text.upper()))


@FORMATS.checks("double", raises=OverflowError)
def _finite(number: object) -> bool:
    return not isinstance(number, int | float) or isfinite(float(number))


def _no_fraction(_: object, value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _ecma(
    _: Validator, pattern: str, value: object, __: object
) -> Iterator[jsonschema.ValidationError]:
    if isinstance(value, str) and not re.search(re.sub(r"\$$", r"\\Z", pattern), value):
        yield jsonschema.ValidationError(f"{value!r} does not match {pattern!r}")


_Strict: Any = jsonschema.validators.extend(  # type: ignore[no-untyped-call]
    jsonschema.Draft202012Validator,
    {"pattern": _ecma},
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine("integer", _no_fraction),
)


@cache
def published() -> dict[str, Any]:
    """The document as it is in the package."""
    loaded: dict[str, Any] = yaml.safe_load(PATH.read_text(encoding="utf-8"))
    return loaded


@cache
def validator(pointer: str) -> Validator:
    """Of the schema at that place of the document, `components/schemas/Id` say."""
    resource = DRAFT202012.create_resource(published())
    registry: Registry[Any] = Registry().with_resource(URI, resource)
    return _Strict(  # type: ignore[no-any-return]
        {"$ref": f"{URI}#/{pointer}"}, registry=registry, format_checker=FORMATS
    )


def why_not(name: str, value: Any) -> str | None:
    """What is wrong with a value by the schema of that name."""
    return wrong(f"components/schemas/{name}", value)


def wrong(pointer: str, value: Any) -> str | None:
    """What is wrong with a value by the schema at that place."""
    error = jsonschema.exceptions.best_match(validator(pointer).iter_errors(value))
    return None if error is None else f"{error.json_path}: {error.message}"[:300]
