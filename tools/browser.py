"""A Chromium that is installed, for tests and screenshots: found, started without a network, and watched."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def find_chromium() -> str | None:
    """The browser's program: what CHROMIUM names, or one of the usual names on the path."""
    named = os.environ.get("CHROMIUM")
    return named or next((found for name in NAMES if (found := shutil.which(name))), None)


@contextmanager
def chromium() -> Iterator[Any]:
    """A running browser; its pages are made by ``new_page`` of Playwright's."""
    from playwright.sync_api import sync_playwright

    program = find_chromium()
    if program is None:
        raise RuntimeError("no Chromium was found: set CHROMIUM to its program")
    # Chromium will not start its sandbox for root; what it is shown here are files of our own making.
    arguments = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        try:
            yield browser
        finally:
            browser.close()
