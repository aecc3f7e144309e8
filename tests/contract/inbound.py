"""The schemas of what the service reads, made from the types that it reads with.

They are written so that draft 07, which AsyncAPI takes by itself, and 2020-12 read them alike.
"""

from __future__ import annotations

from typing import Any

import msgspec

from connector.domain.config import MAX_CLASSES
from connector.domain.decode import TYPES
from connector.domain.ids import MAX_BYTES, Id
from connector.domain.instants import Instant

from . import words

Schema = dict[str, Any]

SCHEMAS = "#/components/schemas/"

YEAR = "(?:1969|19[7-9][0-9]|2[01][0-9]{2}|220[01])"  # one more at each end: its zone may save it
DATE = "(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
TIME = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?"
ZONE = "(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"

ID: Schema = {
    "title": "A name",
    "description": words.ID,
    "type": ["string", "integer"],
    "minLength": 1,
    "maxLength": MAX_BYTES,
    "pattern": r"^[^\u0000]+$",
}
INSTANT: Schema = {
    "title": "An instant",
    "description": words.INSTANT,
    "type": "string",
    "format": "date-time",
    "pattern": f"^{YEAR}-{DATE}[Tt]{TIME}{ZONE}$",
}


def schemas() -> dict[str, Schema]:
    """Of every inbound type two, its fields and the whole event, and of what they refer to.

    The fields alone are what a CloudEvent holds whose own `type` says the rest.
    """
    _, made = msgspec.json.schema_components(
        list(TYPES.values()), schema_hook=_hook, ref_template=SCHEMAS + "{name}"
    )
    found: dict[str, Schema] = {"Id": ID, "Instant": INSTANT}
    kinds = {kind.__name__: tag for tag, kind in TYPES.items()}
    for name, schema in made.items():
        fields = _tidy(schema)
        _finish(name, fields)
        _describe(name, fields)
        tag = kinds.get(name)
        if tag is None:
            found[name] = fields
        else:
            found[fields_of(tag)], found[tag] = _split(tag, fields)
    return found


def fields_of(tag: str) -> str:
    """The name of the schema of a type's fields."""
    return f"{tag}.fields"


def ref(name: str) -> Schema:
    return {"$ref": SCHEMAS + name}


def _hook(kind: type) -> Schema:
    if kind is Id:
        return ref("Id")
    if kind is Instant:
        return ref("Instant")
    raise NotImplementedError(kind)


def _split(tag: str, schema: Schema) -> tuple[Schema, Schema]:
    properties = {n: s for n, s in schema["properties"].items() if n != "type"}
    title = words.TITLES.get(tag, tag)
    fields = schema | {
        "title": f"{title}: its fields",
        "properties": properties,
        "required": [n for n in schema["required"] if n != "type"],
    }
    fields.pop("description", None)
    return fields, {
        "title": title,
        "description": words.SUMMARIES.get(tag, schema.get("description", "")),
        "type": "object",
        "required": ["type"],
        "properties": {"type": {"const": tag}},
        "allOf": [ref(fields_of(tag))],
    }


def _tidy(node: Any, name: str | None = None) -> Any:
    """Of several ways to say a thing, the one that every reader knows."""
    if isinstance(node, list | tuple):
        return [_tidy(n) for n in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:  # what stands beside it is not read
        return {"$ref": node["$ref"]}
    node = {k: _tidy(v, k) for k, v in node.items()}
    first, *others = node.get("prefixItems", [None])
    if others and node.get("items") is False:
        del node["prefixItems"]  # of a fixed length anyhow
        kinds = [first, *(o for n, o in enumerate(others) if o not in [first, *others[:n]])]
        node["items"] = first if len(kinds) == 1 else {"anyOf": kinds}
    if node.get("required") == []:
        del node["required"]
    if name == "properties":
        return node
    if node.get("type") == "number":
        node["format"] = "double"
    if node.get("type") == "integer":
        node["format"] = "int64" if node.get("maximum", 2**63) >= 2**31 else "int32"
    return node


def _describe(name: str, schema: Schema) -> None:
    for field, of in schema["properties"].items():
        said = words.FIELDS.get(f"{name}.{field}") or words.FIELDS.get(field)
        if said is None:
            continue
        if "$ref" in of:
            schema["properties"][field] = {"description": said, "allOf": [of]}
        else:
            schema["properties"][field] = {"description": said, **of}


def _finish(name: str, schema: Schema) -> None:
    """What the types check in code."""
    properties = schema["properties"]
    if name == "AnnotationRetracted":
        schema["anyOf"] = [{"required": ["annotation_id"]}, {"required": ["task", "worker"]}]
    if name == "ReconciliationPart":
        schema["oneOf"] = [{"required": [n]} for n in ("tasks", "workers", "clusters")]
    if name == "ReconciliationCompleted":
        schema["anyOf"] = [{"required": ["algorithm"]}, {"required": ["error"]}]
    if name == "Model":
        properties["class_prior"]["items"]["exclusiveMinimum"] = 0
    if name == "ProjectDeclared":
        properties["classes"] |= {"minItems": 2, "maxItems": MAX_CLASSES, "uniqueItems": True}
        schema["if"] = {"properties": {"kind": {"const": "binary"}}, "required": ["kind"]}
        schema["then"] = {"properties": {"classes": {"maxItems": 2}}}
