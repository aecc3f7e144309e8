"""The pages in a real browser: as they open from disk, with no network."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from connector.adapters.sql.database import engine
from connector.reports import html
from connector.reports.rows import REPORTS, projects
from tests.conftest import missing

from .crowd import LONG, build
from .finding import find_browser

SIZES = {3: 40, 300: 40, 30_000: 1}
"""Workers, and votes of each."""
VIEWS = ((400, "dark"), (1280, "light"), (400, "light"), (1280, "dark"))
HEAVIEST_KB = 600


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, int], Path]:
    """Every report of every crowd."""
    found = {}
    for workers, votes in SIZES.items():
        directory = tmp_path_factory.mktemp(f"crowd{workers}")
        url = f"sqlite:///{directory / 'crowd.db'}"
        build(url, directory, workers, votes, projects=2 if workers == 3 else 1)
        reader = engine(url)
        for kind in REPORTS:
            page = directory / f"{kind}.html"
            with page.open("wb") as file:
                html.write(file, reader, kind, None, projects(reader, None), 50)
            found[kind, workers] = page
        reader.dispose()
    return found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = find_browser()
    if path is None:
        missing("no browser: set CROWDRESOLVE_TEST_BROWSER, or install chromium")
    with sync_playwright() as playwright:
        # As root, which CI is, Chromium has no sandbox of its own.
        opened = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()


def show(browser: Browser, page: Path, width: int, scheme: Any) -> tuple[Page, list[str]]:
    """The page, and what its console and its network have said."""
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True
    )
    shown, said = context.new_page(), []
    shown.on("console", lambda message: said.append(message.text))
    shown.on("pageerror", lambda error: said.append(str(error)))
    shown.on(
        "request", lambda r: None if r.url.startswith(("file:", "data:")) else said.append(r.url)
    )
    shown.goto(page.as_uri())
    return shown, said


@pytest.mark.parametrize("workers", SIZES)
@pytest.mark.parametrize("kind", REPORTS)
def test_a_page_is_quiet_fits_and_can_be_read_aloud(
    browser: Browser, pages: dict[tuple[str, int], Path], kind: str, workers: int
) -> None:
    page = pages[kind, workers]
    assert page.stat().st_size < HEAVIEST_KB * 1024
    for width, scheme in VIEWS if workers == 300 else VIEWS[:2]:
        shown, said = show(browser, page, width, scheme)
        assert said == []
        root = "document.documentElement"
        assert shown.evaluate(f"{root}.scrollWidth - {root}.clientWidth") == 0
        assert shown.evaluate("document.body.innerText").strip()
        found = Axe().run(shown).response["violations"]
        assert [(v["id"], v["nodes"][0]["html"]) for v in found] == []
        shown.context.close()


def test_the_page_follows_light_and_dark(
    browser: Browser, pages: dict[tuple[str, int], Path]
) -> None:
    """Background, letters and pictures all change."""
    seen = {}
    for scheme in ("light", "dark"):
        shown, _ = show(browser, pages["workers", 3], 1280, scheme)
        seen[scheme] = shown.evaluate(
            "[getComputedStyle(document.body).backgroundColor,"
            " getComputedStyle(document.body).color,"
            " getComputedStyle(document.querySelector('svg text')).fill]"
        )
        shown.context.close()
    assert all(a != b for a, b in zip(seen["light"], seen["dark"], strict=True))
    assert seen["light"][1] == seen["light"][2]


def test_every_picture_says_what_it_shows(
    browser: Browser, pages: dict[tuple[str, int], Path]
) -> None:
    for kind in REPORTS:
        shown, _ = show(browser, pages[kind, 300], 1280, "light")
        names = shown.evaluate(
            "[...document.querySelectorAll('svg')].map(s => [s.getAttribute('role'),"
            " s.querySelector('title').textContent, s.querySelector('desc').textContent])"
        )
        assert names
        assert all(role == "img" and title and words for role, title, words in names)
        ids = shown.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
        assert len(ids) == len(set(ids))
        scopes = shown.evaluate("[...document.querySelectorAll('th')].every(t => t.scope)")
        assert scopes
        shown.context.close()


def test_the_flagged_come_first_and_what_is_left_out_is_told(
    pages: dict[tuple[str, int], Path],
) -> None:
    text = pages["workers", 30_000].read_text()
    assert "50 of 30,000 workers are listed here" in text
    assert "crowdresolve report workers --format csv --out workers.csv" in text
    flags = re.findall(
        r'<td class="why"><span class="flag[^>]*>(\w+)</span>', pages["workers", 300].read_text()
    )
    assert flags[0] == "spammer"
    assert flags == sorted(flags, key=lambda flag: flag != "spammer")


def test_names_are_text_whatever_they_are(pages: dict[tuple[str, int], Path]) -> None:
    text = pages["workers", 3].read_text()
    assert LONG not in text
    assert LONG.replace("<&>", "&lt;&amp;&gt;") in text
