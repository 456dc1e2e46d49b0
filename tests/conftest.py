"""What many tests share: the small generated web, as pages in memory."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import settings

from neardup.testing import Web, web

# The same cases every time in `make test`, others in `make fuzz`.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.register_profile("fuzz", max_examples=2000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))


@pytest.fixture(scope="session")
def small_web() -> Web:
    """300 pages on eight sites in five languages, with every planted relation."""
    return web(seed=3, sites=8, pages=300, words=120)


@pytest.fixture(scope="session")
def web_pages(small_web: Web) -> list[dict[str, Any]]:
    """The pages of the small web as ``find_duplicates`` takes them."""
    return [{"id": page.id, "url": page.url, "html": page.html, "date": page.date} for page in small_web.pages]
