"""The browser that pages are looked at with."""

from __future__ import annotations

import os
import shutil

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_browser() -> str | None:
    """Path of a Chromium: CROWDRESOLVE_TEST_BROWSER, else the first that is installed."""
    if given := os.environ.get("CROWDRESOLVE_TEST_BROWSER"):
        return given
    return next((path for name in PROGRAMS if (path := shutil.which(name))), None)
