"""A page is called the same wherever pairs name it: by its id, ``id#row`` where the id repeats, else by its URL."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

from neardup import find_duplicates, parse
from neardup.errors import InputError
from neardup.evaluation.search_judges import by_detector
from neardup.signals import compute
from neardup.sources.memory import texts

#: Ids that repeat, that look like renamed ones, and none at all.
IDS = ["x", "x", "y", "x#1", None, "x", "y#2", "memory#4", None]


def pages() -> list[dict[str, Any]]:
    text = "the harbour has a ferry that leaves at noon and comes back at four"
    words = text.split(" ")
    return [
        {"id": name, "url": f"http://a.example/{at}", "html": "<p>" + " ".join(words[: 5 + at] + words[:at])}
        for at, name in enumerate(IDS)
    ]


def test_pairs_name_pages_as_results_do() -> None:
    names = find_duplicates(pages(), detector="exact").pages["id"].to_pylist()
    assert len(set(names)) == len(names)
    assert any(name not in IDS for name in names)
    # The same pages under other names, in the same order: of a pair the smaller name comes first.
    other = {name: f"page {at}" for at, name in enumerate(sorted(names))}
    alone = [page | {"id": other[name]} for page, name in zip(pages(), names, strict=True)]
    pairs = list(combinations(names, 2))
    found = compute(pairs, pages())
    expected = compute([(other[a], other[b]) for a, b in pairs], alone)
    signals = found.column_names[3:]
    assert "fetched_length_distance" in signals
    assert found.select(signals).equals(expected.select(signals))
    urls = {name: page["url"] for page, name in zip(pages(), names, strict=True)}
    by_url = compute([(urls[a], urls[b]) for a, b in pairs], pages())
    assert by_url["fetched_length_distance"].equals(found["fetched_length_distance"])


def test_a_name_that_no_page_has_is_refused() -> None:
    for name in ("x#2", "x#17", "z#1"):
        with pytest.raises(InputError, match=f"no page has the id or URL '{name}'"):
            compute([("x", name)], pages())


def test_results_of_a_search_name_pages_so_too() -> None:
    same = "one two three"
    three = [{"id": "x", "text": text} for text in (same, "four five", same)]
    found = by_detector({"q": ["x", "x#1", "x#2", "x#3"]}, lambda: texts(three), parse("exact"))
    assert found.groups == {"q": {"x": "x", "x#2": "x"}}
    assert found.missing == ["x#3"]
