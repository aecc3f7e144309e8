"""The figures of the pages are those of an independent computation."""

from __future__ import annotations

import io
import shlex
import sys
from html.parser import HTMLParser
from math import exp
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sqlalchemy import Engine

from connector.adapters.sql.database import engine
from connector.replay import replay
from connector.reports import html
from connector.reports.formats import Unsupported
from connector.reports.html.heat import MOST, heat
from connector.reports.html.projects import reliability_bins
from connector.reports.names import visible
from connector.reports.rows import UnknownWorker, projects
from tests.oracle.fold import PlainFold
from tests.replay.files import write_jsonl


class Tables(HTMLParser):
    """The tables of a page by caption, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: dict[str, list[list[str]]] = {}
        self.text = ""
        self._rows: list[list[str]] = []
        self._in = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "caption":
            self._caption, self._in = "", "caption"
        elif tag == "tr":
            self._rows.append([])
        elif tag in ("th", "td"):
            self._rows[-1].append("")
            self._in = "cell"

    def handle_endtag(self, tag: str) -> None:
        if tag in ("caption", "th", "td"):
            self._in = ""
        if tag == "table":
            self.found.setdefault(self._caption, []).extend(self._rows)
            self._rows = []

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._in == "caption":
            self._caption += data
        elif self._in == "cell":
            self._rows[-1][-1] += data


def page(reader: Engine, kind: str, project: str | None = None, limit: int = 1000) -> Tables:
    out = io.BytesIO()
    html.write(out, reader, kind, project, projects(reader, project), limit)
    return Tables(out.getvalue().decode())


def test_the_page_about_workers_has_the_fold_s_figures(reader: Engine, fold: PlainFold) -> None:
    for project in fold.projects.values():
        _, *rows = page(reader, "workers", project.name).found[
            "Flagged workers first, then those with the most votes"
        ]
        names = {visible(name): name for name in project.workers}
        assert {row[0] for row in rows} == set(names)
        alpha, beta = project.config.worker_prior
        for name, _, accuracy, interval, votes, *_ in rows:
            worker = project.workers[names[name]]
            S, n = project.S(worker), len(worker.votes)
            belief = stats.beta(S + alpha, n - S + beta)
            low, high = belief.ppf([0.025, 0.975])
            assert float(accuracy) == pytest.approx(belief.mean(), abs=5.1e-4)
            assert [float(v) for v in interval.split(" - ")] == pytest.approx(
                [low, high], abs=5.1e-4
            )
            assert int(votes) == n


def test_the_page_about_tasks_counts_the_fold_s_tasks(reader: Engine, fold: PlainFold) -> None:
    for project in fold.projects.values():
        want = [row for row in fold.task_labels() if row["project"] == project.name]
        shown = page(reader, "tasks", project.name)
        _, *rows = shown.found["Tasks, the least sure first"]
        assert {row[0] for row in rows} == {visible(str(row["task"])) for row in want}
        assert [float(row[2]) for row in rows] == sorted(float(row[2]) for row in rows)
        for status in {row["status"] for row in want}:
            count = sum(row["status"] == status for row in want)
            assert f"{status}: {count:,}" in shown.text  # what the picture says of itself


def test_a_page_of_one_worker_has_the_history_up_to_now(reader: Engine, fold: PlainFold) -> None:
    project = next(iter(fold.projects.values()))
    name, worker = next((n, w) for n, w in project.workers.items() if len(w.votes) > 2)
    out = io.BytesIO()
    html.write(out, reader, "workers", project.name, projects(reader, None), 50, [name])
    shown = Tables(out.getvalue().decode())
    _, row = shown.found["Flagged workers first, then those with the most votes"]
    assert row[0] == visible(name)
    assert f"{len(worker.votes):,} (95 % interval" in shown.text
    with pytest.raises(UnknownWorker, match="there is no worker 'nobody' in project"):
        html.write(io.BytesIO(), reader, "workers", project.name, {}, 50, ["nobody"])
    with pytest.raises(UnknownWorker, match=r"'nobody'$"):
        html.write(io.BytesIO(), reader, "workers", None, {}, 50, [name, "nobody"])


def test_a_page_says_who_is_blocked(reader: Engine, fold: PlainFold) -> None:
    out = {
        (p.name, w.name) for p in fold.projects.values() for w in p.workers.values() if w.blocked
    }
    assert out
    for project in fold.projects.values():
        _, *rows = page(reader, "workers", project.name).found[
            "Flagged workers first, then those with the most votes"
        ]
        said = {(project.name, row[0]) for row in rows if row[1].startswith("blocked")}
        want = {(of, visible(name)) for of, name in out if of == project.name}
        assert said == want


def test_commands_on_a_page_are_quoted_for_the_shell(tmp_path: Any) -> None:
    name = "a b; <b>'&"
    declared = {
        "type": "project.declared",
        "project": name,
        "kind": "binary",
        "classes": ["0", "1"],
    }
    vote = {"type": "annotation.submitted", "project": name, "task": "t", "worker": "w"}
    url = f"sqlite:///{tmp_path / 'odd.db'}"
    log = write_jsonl(tmp_path / "log.jsonl", [declared, vote | {"label": "1"}])
    with replay([log], database=url):
        pass
    made = engine(url)
    out = io.BytesIO()
    html.write(out, made, "workers", name, projects(made, name), 50)
    made.dispose()
    command = next(
        line
        for line in Tables(out.getvalue().decode()).text.splitlines()
        if "--worker NAME" in line
    ).partition("Another one: ")[2]
    assert shlex.split(command)[3:5] == ["--project", name]


def test_a_page_lists_no_more_than_it_was_asked_for(reader: Engine) -> None:
    shown = page(reader, "workers", limit=3)
    assert len(shown.found["Flagged workers first, then those with the most votes"]) == 4
    assert "3 of " in shown.text
    assert "crowdresolve report workers --format csv" in shown.text


def test_the_page_about_projects_has_their_sentence_and_alpha(
    reader: Engine, fold: PlainFold
) -> None:
    shown = page(reader, "project")
    _, *rows = shown.found["Every project"]
    assert [row[0] for row in rows] == sorted(fold.projects)
    for row in rows:
        assert row[1][1:] in shown.text
        assert "Krippendorff's alpha" in shown.text
        assert int(row[2]) == len(fold.projects[row[0]].tasks)


def test_an_empty_database_makes_pages_too(reader: Engine, tmp_path: Any) -> None:
    from connector.adapters.sql import database, migrate

    empty = database.engine(f"sqlite:///{tmp_path / 'empty.db'}")
    migrate.ensure(empty)
    for kind, said in (
        ("workers", "No workers yet"),
        ("tasks", "No tasks yet"),
        ("resolutions", "No task has been resolved yet"),
        ("project", "No project has been declared yet"),
    ):
        assert said in page(empty, kind).text
    empty.dispose()


def test_gold_tasks_are_put_into_bins_of_equally_many() -> None:
    random = np.random.default_rng(0)
    z = random.normal(2, 1.5, 200)
    hit = random.random(200) < 1 / (1 + np.exp(-z))
    bins = reliability_bins(list(zip(z.tolist(), hit.tolist(), strict=True)), 0.8)
    assert [b["tasks"] for b in bins] == [25] * 8
    order = np.argsort(z)
    stated = [1 / (1 + exp(-(0.8 * v if v > 0 else v))) for v in z[order]]
    for k, b in enumerate(bins):
        part = slice(25 * k, 25 * k + 25)
        right = int(hit[order][part].sum())
        belief = stats.beta(right + 0.5, 25 - right + 0.5)
        assert b["stated"] == pytest.approx(np.mean(stated[part]))
        assert b["right"] == right / 25
        assert (b["lower"], b["upper"]) == pytest.approx(tuple(belief.ppf([0.025, 0.975])))
    assert reliability_bins([], 1.0) == []
    assert [b["tasks"] for b in reliability_bins([(1.0, True)] * 3, 1.0)] == [3]


def test_a_heat_map_shows_the_classes_met_most() -> None:
    classes = [f"c{i}" for i in range(MOST + 5)]
    cells = [
        {"true_class": c, "given_class": c, "expected_count": float(i + 1), "rate": 1.0}
        for i, c in enumerate(classes)
    ]
    shown = heat("w", cells, classes)
    assert shown.classes == classes[5:]
    assert shown.left_out == 5
    assert shown.rows[0][:2] == ("c5", 6.0)
    assert [cell.shade for cell in shown.rows[0][2]] == [100, *[0] * (MOST - 1)]
    assert shown.rows[0][2][0].right


def test_without_its_packages_html_says_how_to_get_them(
    monkeypatch: pytest.MonkeyPatch, reader: Engine
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(Unsupported, match=r"pip install 'crowdresolve\[html\]'"):
        html.write(io.BytesIO(), reader, "workers", None, {}, 50)
