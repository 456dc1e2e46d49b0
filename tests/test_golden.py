"""Golden vectors: the same page gives the same numbers on every machine and in every release of the format."""

from __future__ import annotations

import json
from typing import Any

import pytest

from golden.make import FILE, PAGES, vectors
from neardup import _native

WHAT_TO_DO = """
The fingerprints of a fixed page are no longer what they were, so results and indexes of earlier runs cannot be
compared with new ones. If the change was not meant, undo it. If it was, raise FORMAT_VERSION in the core's format.rs,
run `python tests/golden/make.py`, and say in the change log what became different.
"""

EXPECTED: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def made() -> dict[str, Any]:
    return json.loads(json.dumps(vectors()))  # type: ignore[no-any-return]


def test_the_file_is_of_this_format() -> None:
    assert EXPECTED["format_version"] == _native.FORMAT_VERSION, "run `python tests/golden/make.py`"
    assert EXPECTED["unicode"] == _native.UNICODE_VERSION, WHAT_TO_DO
    assert list(EXPECTED["pages"]) == list(PAGES)


@pytest.mark.parametrize("name", list(PAGES))
def test_fingerprints_are_what_they_were(name: str, made: dict[str, Any]) -> None:
    now, before = made["pages"][name], EXPECTED["pages"][name]
    assert list(now) == list(before)
    changed = [what for what in now if now[what] != before[what]]
    # In the order of the path: the first that changed is the cause of those behind it.
    assert not changed, f"{WHAT_TO_DO}\nPage {name!r}: changed are {', '.join(changed)}."


def test_a_page_does_not_depend_on_its_neighbours(made: dict[str, Any]) -> None:
    from neardup.sources.memory import texts
    from neardup.text import read

    for name, page in PAGES.items():
        (chunk,) = texts([page]).chunks()
        alone = read(chunk.load().pages)
        assert f"{alone.identity_high[0]:016x}{alone.identity_low[0]:016x}" == made["pages"][name]["identity"]
