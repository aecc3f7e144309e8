"""README.md against the code: tables, commands, flags, examples, cited tests, links."""

from __future__ import annotations

import ast
import doctest
import functools
import re
from pathlib import Path

import pytest

from connector import projectfile
from connector.adapters.sql import migrate
from connector.adapters.sql.database import engine
from connector.domain.decode import TYPES, decode
from connector.domain.events import Declared
from connector.settings import FIELDS, load

from .readme import (
    README,
    REPOSITORY,
    anchors,
    blocks,
    cited,
    commands,
    generated,
    inline,
    links,
    renewed,
    script,
)
from .tables import TABLES, flags, leaves

TEXT = README.read_text(encoding="utf-8")


def test_the_generated_parts_are_what_the_code_says() -> None:
    assert renewed(TEXT) == TEXT, "run `python -m tests.docs`"


def test_every_table_that_can_be_made_is_there_once() -> None:
    assert sorted(generated(TEXT)) == sorted(TABLES)


@functools.cache
def functions_of(path: str) -> frozenset[str]:
    tree = ast.parse((REPOSITORY / path).read_text(encoding="utf-8"))
    return frozenset(n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef))


@pytest.mark.parametrize(("path", "name"), sorted(set(cited(TEXT))))
def test_a_test_that_is_named_exists(path: str, name: str) -> None:
    assert (REPOSITORY / path).is_file()
    assert name in functions_of(path)


def test_every_failure_names_a_test() -> None:
    _, _, rest = TEXT.partition("## What happens when")
    section, _, _ = rest.partition("\n## ")
    failures = [p for p in section.split("\n\n") if p.startswith("**")]
    assert len(failures) > 20
    assert [p for p in failures if not list(cited(p))] == []


def test_every_command_that_is_shown_exists_with_its_flags() -> None:
    known = dict(leaves())
    wrong = []
    for words in commands(TEXT):
        depth = next((n for n in (2, 1) if " ".join(words[:n]) in known), 0)
        group = any(path.startswith(words[0] + " ") for path in known)
        if not depth and not (group and len(words) == 1):
            wrong.append(words)
            continue
        command = known.get(" ".join(words[:depth]))
        allowed = set(flags(command)) if command else set()
        used = {w.partition("=")[0] for w in words if re.match(r"--?[a-zA-Z]", w)}
        if used - allowed:
            wrong.append(words)
    assert wrong == []


def test_every_flag_that_is_named_alone_exists() -> None:
    known = {flag for _, command in leaves() for flag in flags(command)} | {"--algorithm"}
    ours = [text for text in inline(TEXT) if not text.startswith(("make ", "python -m "))]
    named = {found for text in ours for found in re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)}
    assert named - known == set()


def test_every_variable_that_is_named_exists() -> None:
    known = {s.variable for s in FIELDS.values()} | {
        "CROWDRESOLVE_DEAD_LIST_LIMIT",
        "CROWDRESOLVE_TEST_KAFKA",
        "CROWDRESOLVE_TEST_DATABASE",
        "CROWDRESOLVE_TEST_BROWSER",
    }
    named = set(re.findall(r"CROWDRESOLVE_[A-Z_]+(?:<KEY>)?", TEXT)) - {"CROWDRESOLVE_"}
    assert named - known == set()


def test_every_target_of_make_that_is_named_exists() -> None:
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    known = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    shown = [line for b in blocks(TEXT, "sh") for line in b.text.splitlines()]
    named = {found for s in [*shown, *inline(TEXT)] for found in re.findall(r"^make ([a-z]+)", s)}
    assert named
    assert named - known == set()


def test_links_and_files_lead_somewhere() -> None:
    headings = anchors(TEXT)
    for target in links(TEXT):
        if target.startswith("#"):
            assert target[1:] in headings, target
        elif "://" not in target:
            assert (REPOSITORY / target).exists(), target
    named = {
        s for s in inline(TEXT) if re.fullmatch(r"(deploy|connector|tests|migrations)/[\w/.-]+", s)
    }
    assert named
    assert [s for s in sorted(named) if not (REPOSITORY / s).exists()] == []


def test_every_event_is_shown_and_every_example_is_one() -> None:
    shown = [line for b in blocks(TEXT, "jsonl") for line in b.text.splitlines()]
    types = set()
    for line in shown:
        event = decode(line.encode())
        types.add("project.declared" if isinstance(event, Declared) else type(event))
    kinds = {n if n == "project.declared" else kind for n, kind in TYPES.items()}
    assert kinds - types == set()


def test_the_project_file_is_one_with_and_without_its_optional_keys(tmp_path: Path) -> None:
    full = [b.text for b in blocks(TEXT, "toml") if b.text.startswith("[project]")]
    heredocs = re.findall(r"<<'END'\n(\[project\].*?)END\n", TEXT, re.DOTALL)
    assert full
    assert heredocs
    options = [re.sub(r"^# (?=\w+ = )", "", text, flags=re.MULTILINE) for text in full]
    assert options != full
    for n, text in enumerate([*full, *options, *heredocs]):
        path = tmp_path / f"{n}.toml"
        path.write_text(text, encoding="utf-8")
        assert projectfile.read(path).name == "sentiment"


def test_the_project_file_shows_the_defaults(tmp_path: Path) -> None:
    (full,) = (b.text for b in blocks(TEXT, "toml") if b.text.startswith("[project]"))
    head = full[: full.index("[model]")]
    configs = []
    for n, text in enumerate((full, head)):
        path = tmp_path / f"{n}.toml"
        path.write_text(text, encoding="utf-8")
        configs.append(projectfile.read(path).config)
    assert configs[0] == configs[1]


def test_the_example_of_settings_can_be_read(tmp_path: Path) -> None:
    others = [b.text for b in blocks(TEXT, "toml") if not b.text.startswith("[project]")]
    assert others
    secret = tmp_path / "database-url"
    secret.write_text("sqlite:///x.db\n", encoding="utf-8")
    for n, text in enumerate(others):
        path = tmp_path / f"{n}.toml"
        path.write_text(re.sub(r"@/[\w/-]*/database-url", f"@{secret}", text), encoding="utf-8")
        loaded = load({}, {}, str(path))
        assert loaded.settings.database == "sqlite:///x.db"


def test_the_python_examples_are_true() -> None:
    examples = doctest.DocTestParser().get_doctest(
        "".join(b.text for b in blocks(TEXT, "python")), {}, "README.md", str(README), 0
    )
    assert examples.examples
    out: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(examples, out=out.append)
    assert result.failed == 0, "".join(out)


def statements() -> list[str]:
    text = "".join(b.text for b in blocks(TEXT, "sql"))
    found = re.sub(r"^--.*\n", "", text, flags=re.MULTILINE).split(";")
    return [s.strip() for s in found if s.strip()]


def test_the_queries_run_on_both_databases(database_url: str) -> None:
    made = engine(database_url)
    migrate.ensure(made)
    assert statements()
    with made.connect() as connection:
        for statement in statements():
            connection.exec_driver_sql(statement).fetchall()
    made.dispose()


def test_scripts_have_no_path_of_one_machine() -> None:
    assert script(TEXT, "service")
    assert script(TEXT, "files")
    assert not re.search(r"/(work|tmp|home|root)/", TEXT)


def test_the_python_programs_of_the_quick_start_compile() -> None:
    found = re.findall(r"cat > \w+\.py <<'END'\n(.*?)END\n", TEXT, re.DOTALL)
    assert found
    for program in found:
        compile(program, "README.md", "exec")


def test_the_picture_is_one_that_no_theme_can_hide() -> None:
    svg = (REPOSITORY / "deploy" / "flow.svg").read_text(encoding="utf-8")
    assert svg.startswith("<svg ")
    assert "<title" in svg
    # Text is dark, and stands on a fill of its own; lines are of one grey in the middle.
    assert set(re.findall(r'<g fill="(#\w+)"', svg)) == {"#1b222c"}
    lines = set(re.findall(r'<g fill="none" stroke="(#\w+)"', svg))
    assert lines == {"#848d97"}
