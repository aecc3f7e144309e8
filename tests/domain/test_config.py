"""A project's configuration: defaults, bounds, and what contradicts itself."""

from __future__ import annotations

import json
from typing import Any

import pytest

from connector.domain.config import ProjectConfig, as_declared, from_json, known_keys, to_json
from connector.domain.decode import decode
from connector.domain.errors import DeadCode, InputError
from connector.domain.events import Declared


def declared(**fields: Any) -> ProjectConfig:
    base = {"type": "project.declared", "project": "p", "kind": "categorical", "classes": "abc"}
    base["classes"] = list("abc")  # type: ignore[assignment]
    event = decode(json.dumps({**base, **fields}).encode())
    assert isinstance(event, Declared)
    return event.config


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "nominal"},
        {"kind": "binary"},
        {"classes": ["a"]},
        {"classes": ["a", "a"]},
        {"classes": [str(i) for i in range(1001)]},
        {"closed": 1},
        {"model": None},
        {"model": {"worker_prior": [0, 1]}},
        {"model": {"worker_prior": [1, 2, 3]}},
        {"model": {"worker_prior": [1e7, 1]}},
        {"model": {"class_prior": [0.5, 0.5]}},
        {"model": {"class_prior": [0.5, 0.5, 0]}},
        {"model": {"class_prior": [1e308, 1e308, 1e308]}},
        {"resolve": {"confidence": 1.1}},
        {"resolve": {"doubt": 1}},
        {"resolve": {"min_labels": 0}},
        {"resolve": {"min_labels": 1.0}},
        {"resolve": {"max_labels": None}},
        {"resolve": {"confidence": 0.7, "ambiguity": 0.8}},
        {"resolve": {"confidence": 0.7, "reopen_confidence": 0.71}},
        {"assign": {"policy": "random"}},
        {"assign": {"probes": -1}},
        {"assign": {"probes": "some"}},
        {"assign": {"lease_seconds": 0}},
        {"assign": {"experts": ["anna", None]}},
        {"quality": {"block_spammers_after": -1}},
        {"reconcile": {"algorithm": "majority"}},
        {"reconcile": {"max_flip_fraction": 2}},
    ],
)
def test_what_is_out_of_bounds_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(InputError) as refused:
        declared(**fields)
    assert refused.value.code is DeadCode.INVALID_FIELD


def test_priors_are_scaled_to_sum_1() -> None:
    assert declared(model={"class_prior": [2, 1, 1]}).class_prior == (0.5, 0.25, 0.25)


def test_a_default_above_the_confidence_is_lowered_to_it() -> None:
    config = declared(resolve={"confidence": 0.5})
    assert (config.ambiguity, config.reopen_confidence) == (0.5, 0.5)


def test_keys_that_nobody_knows_are_ignored_in_the_event() -> None:
    assert declared(colour="red", resolve={"speed": 3}) == declared()


def test_what_is_stored_comes_back_equal() -> None:
    config = declared(
        model={"class_prior": [0.1, 0.2, 0.30000000000000004], "worker_prior": [1e-6, 1e6]},
        assign={"experts": ["anna", 7], "probes": 3},
        resolve={"max_labels": 5},
    )
    assert from_json(to_json(config)) == config


def test_what_people_read_is_again_a_declaration() -> None:
    config = declared(resolve={"max_labels": 5}, assign={"budget": 9, "experts": ["x"]})
    shown = dict(as_declared(config))
    project = shown.pop("project")
    assert declared(**project, **shown) == config


def test_every_key_of_a_project_file_is_known() -> None:
    keys = set(known_keys())
    assert {"kind", "classes", "closed", "model.worker_prior", "resolve.doubt"} <= keys
    assert {"assign.experts", "quality.block_spammers_after", "reconcile.algorithm"} <= keys
