"""A project file is read strictly, and by the rules of the event."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from connector.domain.config import as_declared
from connector.domain.errors import ConfigurationError
from connector.projectfile import read

WHOLE = """
[project]
name = "rte"
kind = "binary"
classes = ["0", 1]
closed = false
[model]
worker_prior = [2, 1]
class_prior = [0.5, 0.5]
[resolve]
confidence = 0.95
min_labels = 2
max_labels = 10
ambiguity = 0.6
doubt = 0.1
calibrate = true
reopen_confidence = 0.8
[assign]
policy = "uncertainty"
probes = "auto"
lease_seconds = 1800
gold_rate = 0.05
budget = 10000
skilled_after = 4
skilled_accuracy = 0.8
experts = ["anna"]
[quality]
block_spammers_after = 0
[reconcile]
algorithm = "auto"
max_flip_fraction = 0.2
"""


def _file(directory: Path, text: str) -> Path:
    path = directory / "project.toml"
    path.write_text(text)
    return path


def test_every_documented_key_is_understood(tmp_path: Path) -> None:
    found = read(_file(tmp_path, WHOLE))
    assert found.name == "rte"
    assert found.config.classes == ("0", "1")
    assert found.config.budget == 10_000
    event = json.loads(found.event)
    assert event["type"] == "project.declared"
    assert event["project"] == "rte"
    assert "name" not in event


def test_what_is_omitted_is_the_default(tmp_path: Path) -> None:
    text = '[project]\nname = "x"\nkind = "categorical"\nclasses = ["a", "b", "c"]\n'
    shown = as_declared(read(_file(tmp_path, text)).config)
    assert shown["resolve"]["confidence"] == 0.95
    assert shown["reconcile"] == {"algorithm": "auto", "max_flip_fraction": 0.2}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "confidence = 0.95",
            "confidnce = 0.9",
            "no key `resolve.confidnce`; did you mean `resolve.c",
        ),
        (
            "budget = 1",
            "confidence = 1",
            "no key `assign.confidence`; did you mean `resolve.confidence`",
        ),
        ("[reconcile]", "[reconcil]", "there is no key `reconcil`; did you mean `reconcile`?"),
        ('name = "rte"', "", "`project.name` is missing"),
        ("closed = false", "key = 1", "no key `project.key`"),
        ('kind = "binary"', "", "missing required field `project.kind`"),
        ('kind = "binary"', 'kind = "unary"', "`project.kind`: Invalid enum value 'unary'"),
        ('classes = ["0", 1]', 'classes = ["0"]', "`project.classes`"),
        ('classes = ["0", 1]', "classes = [2020-01-01]", "`project.classes` is neither text nor"),
        ("confidence = 0.95", "confidence = 1.5", "`resolve.confidence`: Expected `float` <= 1"),
        ("confidence = 0.95", "confidence = nan", "`resolve.confidence` must be a finite number"),
        ("ambiguity = 0.6", "ambiguity = 0.99", "`resolve.ambiguity` (0.99) lies above"),
        ("doubt = 0.1", 'doubt = "0.1"', "`resolve.doubt`: Expected `float`, got `str`"),
    ],
)
def test_a_mistake_is_named_by_file_and_key(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = _file(tmp_path, WHOLE.replace(old, new, 1))
    with pytest.raises(ConfigurationError) as refusal:
        read(path)
    assert said in str(refusal.value)
    assert str(path) in str(refusal.value)


def test_a_file_without_a_project_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"has no table \[project\]"):
        read(_file(tmp_path, "[resolve]\nconfidence = 0.9\n"))


def test_a_file_that_is_not_there_or_no_toml_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"cannot read .*: No such file"):
        read(tmp_path / "nix.toml")
    with pytest.raises(ConfigurationError, match="is not TOML"):
        read(_file(tmp_path, "[project"))
