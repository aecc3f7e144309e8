"""`connector/asyncapi.yaml` is what the code says, complete, and AsyncAPI.

`asyncapi-3.0.0.json` is the specification's own schema, `schemas/3.0.0-without-$id.json` of
@asyncapi/specs 6.11.1 (Apache-2.0), as it was published; `test_parser` compares them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest
import yaml
from typer.testing import CliRunner

from connector.cli import app
from connector.domain.config import Kind, known_keys
from connector.domain.decode import TYPES
from connector.domain.errors import DeadCode
from connector.engine import resolve

from . import outbound, words
from .document import BINARY, DEAD, IN_ENVELOPE, NAMES, PATH, document, text
from .inbound import fields_of
from .strict import published, wrong

SPECIFICATION = Path(__file__).with_name("asyncapi-3.0.0.json")


def places(node: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every node with the way to it."""
    yield path, node
    if isinstance(node, dict):
        for key, value in node.items():
            yield from places(value, (*path, str(key)))
    if isinstance(node, list):
        for index, value in enumerate(node):
            yield from places(value, (*path, str(index)))


def test_the_file_is_what_the_code_makes() -> None:
    assert published() == document(), "stale: run `python -m tests.contract`"
    assert PATH.read_text(encoding="utf-8").startswith(text().split("\n")[0])


def test_it_is_plain_yaml_that_any_reader_understands() -> None:
    assert "&id" not in PATH.read_text(encoding="utf-8")
    assert yaml.safe_load(text()) == document()
    assert json.loads(json.dumps(document(), allow_nan=False)) == document()


def test_it_keeps_to_the_specification_of_asyncapi_3() -> None:
    specification = json.loads(SPECIFICATION.read_text(encoding="utf-8"))
    checker = jsonschema.Draft7Validator(specification)
    assert [f"{e.json_path}: {e.message}"[:200] for e in checker.iter_errors(published())] == []
    broken = published() | {"channels": {"annotations": {"adress": "annotations"}}}
    assert not checker.is_valid(broken)


def test_every_reference_leads_somewhere() -> None:
    references = [node["$ref"] for _, node in places(published()) if _is_reference(node)]
    assert len(references) > 100
    for reference in references:
        node: Any = published()
        assert reference.startswith("#/")
        for step in reference[2:].split("/"):
            node = node[step]


def _is_reference(node: object) -> bool:
    return isinstance(node, dict) and isinstance(node.get("$ref"), str)


def test_nothing_is_defined_that_nobody_uses() -> None:
    used = {node["$ref"] for _, node in places(published()) if _is_reference(node)}
    defined = {
        f"#/components/{kind}/{name}"
        for kind, found in published()["components"].items()
        for name in found
    }
    assert defined - used == set()


@pytest.mark.parametrize(
    "dialect", [jsonschema.Draft7Validator, jsonschema.Draft202012Validator], ids=["7", "2020-12"]
)
def test_each_schema_is_one_by_both_drafts(dialect: Any) -> None:
    for schema in published()["components"]["schemas"].values():
        dialect.check_schema(schema)
        words = {path[-1] for path, _ in places(schema) if path}
        # Each of these means something else in the other draft, or nothing.
        assert not words & {"prefixItems", "additionalItems", "definitions", "$defs", "$id"}


def test_nothing_stands_beside_a_reference_where_draft_7_would_not_read_it() -> None:
    for path, node in places(published()):
        if _is_reference(node):
            assert set(node) == {"$ref"}, path


def test_every_type_that_is_read_is_a_message_of_the_annotations() -> None:
    channel = published()["channels"][NAMES.annotations]
    assert set(channel["messages"]) == {*TYPES, BINARY, IN_ENVELOPE}
    for tag, kind in TYPES.items():
        schemas = published()["components"]["schemas"]
        fields: Any = kind.__struct_fields__  # type: ignore[attr-defined]
        assert schemas[tag]["properties"]["type"]["const"] == tag
        assert set(schemas[fields_of(tag)]["properties"]) == set(fields)
        assert tag in words.TITLES
        assert tag in words.SUMMARIES
        assert words.EXAMPLES[tag]


def test_every_kind_of_message_that_the_rules_can_ask_for_is_there() -> None:
    kinds = {
        value
        for value in vars(resolve).values()
        if isinstance(value, str) and value.startswith("label.")
    }
    assert len(kinds) == 3
    assert set(published()["channels"][NAMES.resolved]["messages"]) == kinds
    assert set(outbound.LABELS) == kinds


def test_every_code_of_a_dead_letter_is_there_with_its_meaning() -> None:
    schema = published()["components"]["schemas"]["DeadCode"]
    assert schema["enum"] == [str(code) for code in DeadCode]
    meanings = outbound.code_meanings()
    for code in DeadCode:
        assert f"- `{code}`: {meanings[code]}" in schema["description"]


def test_every_field_is_described_once() -> None:
    schemas = published()["components"]["schemas"]
    for tag in TYPES:
        for name, schema in schemas[fields_of(tag)]["properties"].items():
            assert schema.get("description"), f"{tag}.{name}"
    for key in known_keys():
        section, _, name = key.partition(".")
        if name:
            assert schemas[section.capitalize()]["properties"][name].get("description"), key
    assert schemas[fields_of("project.declared")]["properties"]["kind"]["enum"] == list(
        get_args(Kind)
    )


def test_every_field_and_message_that_is_described_exists() -> None:
    said = {
        path[-2] for path, node in places(published()) if path[-1:] == ("description",) and node
    }
    assert {name.rpartition(".")[2] for name in words.FIELDS} - {"type"} <= said
    for described in (words.TITLES, words.SUMMARIES, words.EXAMPLES):
        assert set(described) <= set(TYPES)


def test_every_message_has_examples_and_they_are_valid() -> None:
    for name, message in published()["components"]["messages"].items():
        assert message["examples"], name
        for example in message["examples"]:
            place = f"components/messages/{name}"
            assert wrong(f"{place}/payload", example["payload"]) is None, name
            if "headers" in message:
                assert wrong(f"{place}/headers", example["headers"]) is None, name


def test_examples_of_the_inbound_messages_fit_one_message_alone() -> None:
    messages = published()["channels"][NAMES.annotations]["messages"]
    for name in messages:
        for example in published()["components"]["messages"][name]["examples"]:
            fitting = [
                other
                for other in messages
                if wrong(f"components/messages/{other}/payload", example["payload"]) is None
            ]
            assert fitting == [name]


def test_a_dead_letter_may_hold_anything() -> None:
    for payload in ("{", None, {"any": "thing"}):
        assert wrong(f"components/messages/{DEAD}/payload", payload) is None


def test_the_command_prints_the_file() -> None:
    shown = CliRunner().invoke(app, ["asyncapi"])
    assert shown.exit_code == 0
    assert shown.stdout == PATH.read_text(encoding="utf-8")
